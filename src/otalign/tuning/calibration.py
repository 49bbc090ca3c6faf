"""A trained aligner suited to dev sets: log-odds calibrated, thresholds the best, all else as it was.

Calibration is a logistic regression on the log-odds x and asinh x of each level: a scale, a bend, for what is
told apart well at the ends and less so in between or the other way round, and a shift. It is fitted first for
the links, then, with their probabilities known, for the nulls that they leave.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from otalign.aligner import Aligner
from otalign.alignment import Gold, Level
from otalign.encoders.embeddings import in_numpy
from otalign.scoring.heads import LEVELS, LearnedTransport
from otalign.scoring.strengths import Tile
from otalign.scoring.weights import link_probabilities, null_log_odds
from otalign.settings import Learned
from otalign.tuning.sweep import DIGITS, THRESHOLDS, Curve, MarkedTile, marks

GOLD_LEVELS: tuple[Level, ...] = ("s", "s+p")  # the gold of each of the head's levels
STEPS = 50  # of Newton's method, at most; ten are enough where there is anything to find
CLOSE = 1e-7  # to the end
RANK = 1e-9  # of a matrix, below which a direction is none
UNCHANGED = np.array([1.0, 0.0, 0.0])


class Seen(NamedTuple):
    """What a head says of the pairs of a tile, and what is so."""

    places: list[int]  # in the set
    golds: list[Gold]
    tile: Tile  # without the words
    log_odds: np.ndarray  # (levels, B, N, M)

    @property
    def cells(self) -> np.ndarray:
        """Where there are words, (B, N, M)."""
        return self.tile.is_source[:, :, None] & self.tile.is_target[:, None, :]

    def links(self, level: int) -> np.ndarray:
        """Where there are links, (B, N, M)."""
        found = np.zeros(self.cells.shape, dtype=bool)
        for k, gold in enumerate(self.golds):
            for i, j in gold.pairs(GOLD_LEVELS[level]):
                found[k, i, j] = True
        return found


@dataclass(frozen=True, eq=False)
class Outlook:
    """A trained aligner over a dev set, read once: what its head says of every pair."""

    pairs: int
    levels: tuple[Level, ...]
    parts: list[Seen]

    @classmethod
    def of(cls, aligner: Aligner, golds: Sequence[Gold], level: Level | None = None) -> "Outlook":
        """At a level, or else at those at which the gold differs."""
        parts = []
        learned_head(aligner)
        for places, tile, head in aligner.tiles((gold.source, gold.target) for gold in golds):
            assert isinstance(head, LearnedTransport)
            words = Tile(None, None, in_numpy(tile.is_source), in_numpy(tile.is_target))
            here = [golds[k] for k in places]
            parts.append(Seen(places, here, words, in_numpy(head.log_odds(tile))))
        levels = GOLD_LEVELS if any(gold.possible for gold in golds) else GOLD_LEVELS[:1]
        return cls(len(golds), (level,) if level else levels, parts)

    def curves(self, head: LearnedTransport) -> dict[Level, Curve]:
        """Precision and recall at each threshold, at each level, as the head is calibrated."""
        at = np.array(THRESHOLDS)
        found: dict[Level, Curve] = {}
        for level in self.levels:
            # A pair with an empty side is all nulls whatever the threshold, and rightly so.
            rates = np.ones((2, self.pairs, len(at)))
            for one in self.parts:
                links = LEVELS[GOLD_LEVELS.index(level)]
                weights = link_probabilities(one.log_odds, one.cells, head.calibration, links)
                part = MarkedTile(one.places, one.tile, {level: marks(one.golds, level)})
                tally = part.tallies(weights, at)[level]
                rates[:, one.places] = tally.precision, tally.recall
            found[level] = Curve(at, *rates.mean(axis=1))
        return found


def learned_head(aligner: Aligner) -> LearnedTransport:
    if not isinstance(aligner.head, LearnedTransport):
        raise TypeError(f"aligner must have a learned transport, got the head {aligner.head!r}")
    return aligner.head


def suited(
    aligner: Aligner, devs: Mapping[str, Sequence[Gold]], level: Level | None = None
) -> tuple[Aligner, dict[str, dict[Level, Curve]]]:
    """The aligner calibrated on the dev sets together, with the thresholds that are best in the mean over
    them, and its curve on each of them at each of its levels, or at the one that it has learned."""
    outlooks = {name: Outlook.of(aligner, golds, level) for name, golds in devs.items()}
    head = calibrated(learned_head(aligner), [one for outlook in outlooks.values() for one in outlook.parts])
    curves = {name: outlook.curves(head) for name, outlook in outlooks.items()}
    sure, possible = (best_threshold(curves.values(), one) for one in GOLD_LEVELS)
    # Where all links are sure, so are those that are possible; and what is not learned is like what is.
    problem = Learned(sure or possible or 0.5, possible or sure or 0.5)
    settings = aligner.settings.changed(problem=problem, threshold=getattr(problem, aligner.settings.links))
    return replace(aligner, settings=settings, head=head), curves


def best_threshold(curves: Iterable[Mapping[Level, Curve]], level: Level) -> float | None:
    """The first with the highest mean F1, over the dev sets that have the level."""
    those = [of[level] for of in curves if level in of]
    if not those:
        return None
    f1 = np.mean([curve.f1 for curve in those], axis=0)
    return float(those[0].thresholds[int(np.argmax(np.round(f1, DIGITS)))])


def calibrated(head: LearnedTransport, seen: Sequence[Seen]) -> LearnedTransport:
    """The head with the calibration that suits what was seen."""
    head = replace(head, calibration=_fitted_levels(_links(seen, k) for k in range(len(LEVELS))))
    nulls = (_nulls(seen, head.calibration, k) for k in range(len(LEVELS)))
    return replace(head, null_calibration=_fitted_levels(nulls))


def _links(seen: Iterable[Seen], level: int) -> tuple[np.ndarray, np.ndarray]:
    """The log-odds of all cells, and whether each is a link."""
    found = [(one.log_odds[level][one.cells], one.links(level)[one.cells]) for one in seen]
    return tuple(map(np.concatenate, zip(*found, strict=True)))  # pyright: ignore[reportReturnType]


def _nulls(seen: Iterable[Seen], calibration: np.ndarray, level: int) -> tuple[np.ndarray, np.ndarray]:
    """The log-odds that words are null, and whether each is."""
    odds, facts = [], []
    for one in seen:
        links = link_probabilities(one.log_odds, one.cells, calibration, LEVELS[level])
        for axis in (2, 1):
            words = np.any(one.cells, axis=axis)
            odds.append(null_log_odds(links, axis)[words])
            facts.append(~np.any(one.links(level), axis=axis)[words])
    return np.concatenate(odds), np.concatenate(facts).astype(float)


def _fitted_levels(data: Iterable[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    return np.array([_fitted(*one) for one in data], dtype=np.float32).T


def _fitted(odds: np.ndarray, facts: np.ndarray) -> np.ndarray:
    """The scale, bend and shift under which the facts are most likely; without a bend where, with one, higher
    log-odds would come to be lower ones.

    Facts that are all alike, or foretold without a fault, have no such: then nothing is changed.
    """
    no, yes = odds[facts == 0], odds[facts == 1]
    if not len(no) or not len(yes) or no.max() <= yes.min() or yes.max() <= no.min():
        return UNCHANGED
    scale, bend, shift = _most_likely(np.stack([odds, np.arcsinh(odds)]), facts)
    if scale < 0 or scale + bend <= 0:
        bend, (scale, shift) = 0.0, _most_likely(odds[None], facts)
    return np.array([scale, bend, shift]) if scale >= 0 < scale + bend else UNCHANGED


def _most_likely(features: np.ndarray, facts: np.ndarray) -> np.ndarray:
    """The weights of the features (k, items), and the shift, of a logistic regression, by Newton's method."""
    middle, spread = features.mean(axis=1, dtype=float), features.std(axis=1, dtype=float)
    x = np.concatenate([(features - middle[:, None]) / spread[:, None], np.ones((1, len(facts)))])
    at = np.zeros(len(x))
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(at @ x, -60, 60)))
        # Features may be as good as one: then what moves neither of them costs nothing, and is not found.
        step = np.linalg.lstsq((x * (p * (1 - p))) @ x.T, x @ (facts - p), rcond=RANK)[0]
        while abs(step).max() > CLOSE and _unlikelihood(at + step, x, facts) > _unlikelihood(at, x, facts):
            step = step / 2  # far from the end a whole step may be too far
        if abs(step).max() <= CLOSE:
            break
        at = at + step
    weights = at[:-1] / spread
    return np.array([*weights, at[-1] - weights @ middle])


def _unlikelihood(at: np.ndarray, x: np.ndarray, facts: np.ndarray) -> float:
    return float(np.logaddexp(0, np.where(facts > 0, -at @ x, at @ x)).sum())
