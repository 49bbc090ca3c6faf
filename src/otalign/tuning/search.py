"""The search for the settings with the best F1 on a dev set.

First, each choice of layer and pairing, each cost, fertility and distortion is tried with a few parameters of
the problem (tau or fraction), evenly from the first to the last. Then, where that was best, all
parameters. Thresholds are all tried every time, since they cost one pass (`sweep`). Of equals the earlier
wins, in the order of choices, costs, fertilities, distortions, parameters, thresholds.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import get_args

from otalign.alignment import Gold, Level
from otalign.encoders import Embeddings
from otalign.encoders.whitening import Centre
from otalign.progress import Progress, no_progress
from otalign.settings import Settings
from otalign.tuning.grid import SearchGrid
from otalign.tuning.journal import Journal, Scores, ThresholdScore
from otalign.tuning.store import EncoderChoice
from otalign.tuning.sweep import DIGITS, Curve, DevCorpus

GRID = SearchGrid()


@dataclass(frozen=True)
class TrialResult:
    """Settings, their threshold the best for them, and what they reach on the dev set."""

    settings: Settings
    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, settings: Settings, score: ThresholdScore) -> "TrialResult":
        return cls(settings.replace(threshold=score.threshold), score.precision, score.recall, score.f1)


@dataclass(frozen=True)
class TuningResult:
    """The best settings at a level of the gold, and all that were tried, in order."""

    level: Level
    best: TrialResult
    rows: tuple[TrialResult, ...]

    @property
    def settings(self) -> Settings:
        return self.best.settings

    @property
    def f1(self) -> float:
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
    """The best settings at each level, from the same plans for all of them.

    `embeddings`, by layer and pairing, are of the words of the golds, source, target, source, …, not
    centred: that is done here, on all of them, unless `base` says otherwise. `base` also says the kind of
    problem, the solver, and what the grid leaves open.
    """
    levels = tuple(levels)
    _check(golds, embeddings, levels)
    search = _Search(golds, embeddings, grid, levels, journal or Journal())
    bases = [base.replace(layer=choice.layer, pairing=choice.pairing) for choice in embeddings]
    coarse = [settings for one in bases for settings in grid.coarse(one)]
    found = dict(search.score(coarse, "coarse search", progress))
    wanted = {level: list(grid.fine(_best(found, coarse, level))) for level in levels}
    fine = list(dict.fromkeys(settings for level in levels for settings in wanted[level]))
    found |= search.score([settings for settings in fine if settings not in found], "fine search", progress)
    return {
        level: TuningResult(
            level,
            TrialResult.of(best := _best(found, wanted[level], level), found[best][level]),
            tuple(TrialResult.of(settings, scores[level]) for settings, scores in found.items()),
        )
        for level in levels
    }


@dataclass(frozen=True)
class _Search:
    golds: Sequence[Gold]
    embeddings: Mapping[EncoderChoice, Embeddings]
    grid: SearchGrid
    levels: tuple[Level, ...]
    journal: Journal

    def score(
        self, wanted: Sequence[Settings], what: str, progress: Progress
    ) -> Iterator[tuple[Settings, Scores]]:
        """The scores of settings, those of one choice and of one cost matrix together, as they come."""
        work = self.journal.work(self.golds, self.grid.thresholds)
        known = {settings: self.journal.get(work, settings, self.levels) for settings in wanted}
        done = 0
        progress(what, done, len(wanted))
        for choice, alike in groupby(
            wanted, lambda settings: EncoderChoice(settings.layer, settings.pairing)
        ):
            corpus = None
            for _, same in groupby(alike, lambda one: (one.cost, one.fertility, one.distortion)):
                inputs = None
                for settings in same:
                    scores = known[settings]
                    if scores is None:
                        corpus = corpus or self._build_corpus(choice, settings)
                        inputs = inputs or corpus.compute_inputs(settings)
                        curves = corpus.compute_curves(
                            inputs, settings.problem, settings.solver, self.grid.thresholds
                        )
                        scores = _scores(curves)
                        self.journal.record(work, settings, scores)
                    done += 1
                    progress(what, done, len(wanted))
                    yield settings, scores

    def _build_corpus(self, choice: EncoderChoice, base: Settings) -> DevCorpus:
        embeddings = self.embeddings[choice]
        if base.centring:
            embeddings = Centre.fit([embeddings], base.whitening).apply(embeddings)
        return DevCorpus.build(self.golds, embeddings, self.levels)


def _scores(curves: Mapping[Level, Curve]) -> Scores:
    found: Scores = {}
    for level, curve in curves.items():
        best = (curve.thresholds, curve.precision, curve.recall)
        found[level] = ThresholdScore(*(float(values[curve.best]) for values in best))
    return found


def _best(found: Mapping[Settings, Scores], among: Sequence[Settings], level: Level) -> Settings:
    """The first of those with the highest F1."""
    return max(among, key=lambda settings: round(found[settings][level].f1, DIGITS))


def _check(
    golds: Sequence[Gold], embeddings: Mapping[EncoderChoice, Embeddings], levels: tuple[Level, ...]
) -> None:
    if not golds:
        raise ValueError("golds must hold at least one pair to tune on, got none")
    if not embeddings:
        raise ValueError("embeddings must hold at least one choice of layer and pairing, got none")
    if not levels:
        raise ValueError(f"levels must be of {', '.join(get_args(Level))}, got none")
    for level in levels:
        if not any(gold.pairs(level) for gold in golds):
            raise ValueError(
                f"golds must have links to tune on, got {len(golds)} pairs without any at level {level}"
            )
