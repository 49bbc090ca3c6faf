"""The search for the settings with the best F1 on a dev set.

A coarse search tries each layer and pairing, cost, fertility and distortion with a few parameters of the
problem (tau or fraction), evenly from the first to the last. A fine search tries all parameters with the best
of these. All thresholds are tried every time, since one pass is enough for them (`sweep`). If several reach
the same F1, the first wins, in the order of choices, costs, fertilities, distortions, parameters, thresholds.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import get_args

from otalign.alignment import Level
from otalign.encoders import Embeddings
from otalign.encoders.whitening import Centre
from otalign.gold import Gold
from otalign.progress import Progress, no_progress
from otalign.settings import Settings
from otalign.tuning.grid import SearchGrid
from otalign.tuning.journal import Journal, Scores, ThresholdScore
from otalign.tuning.store import EncoderChoice
from otalign.tuning.sweep import DIGITS, Curve, DevCorpus

GRID = SearchGrid()


@dataclass(frozen=True)
class TrialResult:
    """Settings with their best threshold, and their scores on the dev set.

    Attributes:
        settings: The settings.
        precision: Precision at their threshold.
        recall: Recall at their threshold.
        f1: F1 at their threshold.

    Example:
        >>> from otalign import Settings
        >>> from otalign.tuning import TrialResult
        >>> settings = Settings(encoder="bert-base-uncased", layer=8)
        >>> trial = TrialResult(settings, precision=0.8, recall=0.8, f1=0.8)
        >>> trial.settings.threshold, trial.f1
        (0.34, 0.8)
    """

    settings: Settings
    precision: float
    recall: float
    f1: float

    @classmethod
    def from_score(cls, settings: Settings, score: ThresholdScore) -> "TrialResult":
        """Return the result of settings, given their best threshold.

        Args:
            settings: The settings, with any threshold.
            score: Their best threshold, with its scores.
        """
        return cls(settings.replace(threshold=score.threshold), score.precision, score.recall, score.f1)


@dataclass(frozen=True)
class TuningResult:
    """The best settings at a level of the gold.

    Attributes:
        level: Level of the gold.
        best: The best settings, with their scores.
        rows: All settings that were tried, in order.

    Example:
        >>> from otalign import Settings
        >>> from otalign.tuning import TrialResult, TuningResult
        >>> settings = Settings(encoder="bert-base-uncased", layer=8)
        >>> trial = TrialResult(settings, precision=0.8, recall=0.8, f1=0.8)
        >>> TuningResult("sure", best=trial, rows=(trial,)).f1
        0.8
    """

    level: Level
    best: TrialResult
    rows: tuple[TrialResult, ...]

    @property
    def settings(self) -> Settings:
        """The best settings."""
        return self.best.settings

    @property
    def f1(self) -> float:
        """F1 of the best settings."""
        return self.best.f1


def tune(
    golds: Sequence[Gold],
    embeddings: Mapping[EncoderChoice, Embeddings],
    base: Settings,
    grid: SearchGrid = GRID,
    levels: Iterable[Level] = ("sure",),
    *,
    journal: Journal | None = None,
    progress: Progress = no_progress,
) -> dict[Level, TuningResult]:
    """Find the settings with the highest F1 at each level, from the same plans for all levels.

    Args:
        golds: Pairs with their gold links.
        embeddings: Embeddings of the words of source, target, source, … by layer and pairing, not centred;
            an `EmbeddingStore`, or a dictionary.
        base: Settings for the problem, the solver, centring, and everything else that the grid leaves open.
        grid: Values to try.
        levels: Levels of the gold.
        journal: Journal from which an interrupted search continues.
        progress: Function that is called with a description, the amount done, and the total.

    Returns:
        The result of each level.

    Raises:
        ValueError: If there is nothing to tune on.

    Example:
        >>> import numpy as np
        >>> from otalign import Gold, Settings, Unbalanced
        >>> from otalign.encoders import Embeddings
        >>> from otalign.tuning import EncoderChoice, SearchGrid, tune
        >>> golds = [Gold(("a", "used", "car"), ("a", "car"), frozenset({(0, 0), (2, 1)}))]
        >>> vectors = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0, 1]], dtype=np.float32)
        >>> embeddings = {EncoderChoice(8): Embeddings(vectors, np.array([0, 3, 5]))}
        >>> base = Settings(encoder="bert-base-uncased", layer=8, problem=Unbalanced(0.4))
        >>> results = tune(golds, embeddings, base, SearchGrid(parameters=(0.2, 0.4), distortions=(0.0,)))
        >>> results["sure"].f1, results["sure"].settings.problem
        (1.0, Unbalanced(tau=0.2))
    """
    levels = tuple(levels)
    _check_inputs(golds, embeddings, levels)
    search = _Search(golds, embeddings, grid, levels, journal or Journal())
    bases = [base.replace(layer=choice.layer, pairing=choice.pairing) for choice in embeddings]
    coarse = [settings for choice_base in bases for settings in grid.list_coarse(choice_base)]
    scores = dict(search.score_settings(coarse, "coarse search", progress))
    fine = {level: list(grid.list_fine(_find_best(scores, coarse, level))) for level in levels}
    new = dict.fromkeys(settings for level in levels for settings in fine[level] if settings not in scores)
    scores |= search.score_settings(list(new), "fine search", progress)
    return {level: _make_result(level, scores, _find_best(scores, fine[level], level)) for level in levels}


def _make_result(level: Level, scores: Mapping[Settings, Scores], best: Settings) -> TuningResult:
    rows = {
        settings: TrialResult.from_score(settings, by_level[level]) for settings, by_level in scores.items()
    }
    return TuningResult(level, rows[best], tuple(rows.values()))


@dataclass(frozen=True)
class _Search:
    """A dev set on which settings are scored."""

    golds: Sequence[Gold]
    embeddings: Mapping[EncoderChoice, Embeddings]
    grid: SearchGrid
    levels: tuple[Level, ...]
    journal: Journal

    def score_settings(
        self, candidates: Sequence[Settings], description: str, progress: Progress
    ) -> Iterator[tuple[Settings, Scores]]:
        """Score settings one by one; those that share embeddings and costs must be adjacent."""
        key = self.journal.compute_key(self.golds, self.grid.thresholds)
        known = {settings: self.journal.get(key, settings, self.levels) for settings in candidates}
        done = 0
        progress(description, done, len(candidates))
        for choice, members in groupby(
            candidates, lambda settings: EncoderChoice(settings.layer, settings.pairing)
        ):
            corpus = None
            for _, same in groupby(
                members, lambda settings: (settings.cost, settings.fertility, settings.distortion)
            ):
                inputs = None
                for settings in same:
                    scores = known[settings]
                    if scores is None:
                        corpus = corpus or self._build_corpus(choice, settings)
                        inputs = inputs or corpus.compute_inputs(settings)
                        curves = corpus.compute_curves(inputs, settings, self.grid.thresholds)
                        scores = _find_best_scores(curves)
                        self.journal.record(key, settings, scores)
                    done += 1
                    progress(description, done, len(candidates))
                    yield settings, scores

    def _build_corpus(self, choice: EncoderChoice, base: Settings) -> DevCorpus:
        embeddings = self.embeddings[choice]
        if base.centring:
            embeddings = Centre.fit([embeddings], base.whitening).apply(embeddings)
        return DevCorpus.build(self.golds, embeddings, self.levels)


def _find_best_scores(curves: Mapping[Level, Curve]) -> Scores:
    scores: Scores = {}
    for level, curve in curves.items():
        best = (curve.thresholds, curve.precision, curve.recall)
        scores[level] = ThresholdScore(*(float(values[curve.best]) for values in best))
    return scores


def _find_best(scores: Mapping[Settings, Scores], among: Sequence[Settings], level: Level) -> Settings:
    """Return the first settings with the highest F1."""
    return max(among, key=lambda settings: round(scores[settings][level].f1, DIGITS))


def _check_inputs(
    golds: Sequence[Gold], embeddings: Mapping[EncoderChoice, Embeddings], levels: tuple[Level, ...]
) -> None:
    if not golds:
        raise ValueError("golds must hold at least one pair to tune on, got none")
    if not embeddings:
        raise ValueError("embeddings must hold at least one choice of layer and pairing, got none")
    if not levels:
        raise ValueError(f"levels must be among {', '.join(get_args(Level))}, got none")
    for level in levels:
        if not any(gold.pairs(level) for gold in golds):
            raise ValueError(
                f"golds must have links to tune on, got {len(golds)} pairs without any at level {level}"
            )
