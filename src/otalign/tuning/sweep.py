"""Precision and recall at every threshold at once, exactly what aligning and scoring at each would give.

A link needs a weight above the threshold, so all that matters of a cell is how many of the thresholds it
is above: its rank. Links are counted by the ranks of the cells, nulls by the highest rank of each word,
and sums over ranks give the counts at every threshold in one pass, for any number of gold levels.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from otalign.alignment import Gold, Level
from otalign.encoders import Embeddings
from otalign.encoders.embeddings import in_numpy
from otalign.metrics import Tally
from otalign.metrics.counts import harmonic_mean
from otalign.ot import Problem, Solver
from otalign.scoring.strengths import Instance, Tile, instance, solution, tiles
from otalign.scoring.weights import scaled_weights
from otalign.settings import Settings

THRESHOLDS = tuple(k / 100 for k in range(101))
DIGITS = 10  # of an F1 that is compared: the rest is rounding, which varies with the order of the pairs

Index = tuple[np.ndarray, ...]  # places in an array of ranks, the pair's number first


@dataclass(frozen=True, eq=False)
class Curve:
    """The scores of a corpus at each threshold, (T,) each."""

    thresholds: np.ndarray
    precision: np.ndarray
    recall: np.ndarray

    @property
    def f1(self) -> np.ndarray:
        return harmonic_mean(self.precision, self.recall)

    @property
    def best(self) -> int:
        """The place of the first threshold with the highest F1."""
        return int(np.argmax(np.round(self.f1, DIGITS)))


@dataclass(frozen=True, eq=False)
class Marks:
    """The gold of a tile's pairs at one level: where its links and nulls are, and how many."""

    links: Index
    source_nulls: Index
    target_nulls: Index
    count: np.ndarray  # (B, 1)


@dataclass(frozen=True, eq=False)
class MarkedTile:
    """Pairs of a corpus, at their places in it, with their gold at each level."""

    places: list[int]
    tile: Tile
    marks: dict[Level, Marks]

    @cached_property
    def words(self) -> tuple[Index, Index]:
        """Where there are words, source and target."""
        return np.nonzero(in_numpy(self.tile.is_source)), np.nonzero(in_numpy(self.tile.is_target))

    def tallies(self, weights: np.ndarray, thresholds: np.ndarray) -> dict[Level, Tally]:
        """Links and nulls counted for each pair and threshold, (B, T), by the weights (B, N, M)."""
        size = len(weights), len(thresholds) + 1
        # How many thresholds are below: with thresholds of the weights' own type, as a comparison casts them.
        ranks = np.searchsorted(thresholds.astype(weights.dtype), weights, side="left")
        sides = ranks.max(axis=2), ranks.max(axis=1)

        def above(where: Index | None = None) -> np.ndarray:
            found = _histogram(ranks, where, size)
            return np.cumsum(found[:, :0:-1], axis=1)[:, ::-1]

        def null(source: Index, target: Index) -> np.ndarray:
            found = sum(_histogram(*side, size) for side in zip(sides, (source, target), strict=True))
            return np.cumsum(found, axis=1)[:, :-1]

        predicted = above() + null(*self.words)
        return {
            level: Tally(
                above(marks.links) + null(marks.source_nulls, marks.target_nulls), predicted, marks.count
            )
            for level, marks in self.marks.items()
        }


def _histogram(ranks: np.ndarray, where: Index | None, size: tuple[int, int]) -> np.ndarray:
    """How often each pair has each rank, (B, T + 1), at the places asked for, or in all cells.

    Cells without words have rank 0: as links they are above nothing, and as words none asks for them.
    """
    pairs, width = size
    if where is None:
        flat = ranks + width * np.arange(pairs)[:, None, None]
    else:
        flat = ranks[where] + width * where[0]
    return np.bincount(flat.reshape(-1), minlength=pairs * width).reshape(size)


@dataclass(frozen=True, eq=False)
class Field:
    """A corpus with its embeddings, centred if they are to be, ready to be solved under any settings."""

    pairs: int
    levels: tuple[Level, ...]
    parts: tuple[MarkedTile, ...]

    @classmethod
    def of(cls, golds: Sequence[Gold], embeddings: Embeddings, levels: Iterable[Level]) -> "Field":
        levels = tuple(levels)
        lengths = [length for gold in golds for length in gold.shape]
        if len(embeddings.starts) != len(lengths) + 1 or (np.diff(embeddings.starts) != lengths).any():
            raise ValueError(
                f"embeddings must be of the words of the {len(golds)} golds, source, target, source, …, "
                f"got {len(embeddings.starts) - 1} sentences of {embeddings.words} words"
            )
        parts = []
        for places, tile in tiles(embeddings):
            some = [golds[k] for k in places]
            parts.append(MarkedTile(places, tile, {level: marks(some, level) for level in levels}))
        return cls(len(golds), levels, tuple(parts))

    def instances(self, settings: Settings) -> list[Instance]:
        return [instance(part.tile, settings) for part in self.parts]

    def curves(
        self,
        instances: Iterable[Instance],
        problem: Problem | None,
        solver: Solver,
        thresholds: Sequence[float],
    ) -> dict[Level, Curve]:
        """The curve of each level under one problem. Solving is done once for all of them."""
        at = np.array(thresholds, dtype=float)
        # A pair with an empty side is all nulls whatever the threshold, and rightly so.
        rates = {level: np.ones((2, self.pairs, len(at))) for level in self.levels}
        for part, one in zip(self.parts, instances, strict=True):
            weights = in_numpy(scaled_weights(solution(one, problem, solver), part.tile))
            for level, tally in part.tallies(weights, at).items():
                rates[level][:, part.places] = tally.precision, tally.recall
        return {level: Curve(at, *rates[level].mean(axis=1)) for level in self.levels}


def curves(
    golds: Sequence[Gold],
    embeddings: Embeddings,
    settings: Settings,
    levels: Iterable[Level] = ("s",),
    thresholds: Sequence[float] = THRESHOLDS,
) -> dict[Level, Curve]:
    """The scores of pairs, at each level, under settings with every threshold in place of theirs."""
    field = Field.of(golds, embeddings, levels)
    return field.curves(field.instances(settings), settings.transport, settings.solver, thresholds)


def marks(golds: Sequence[Gold], level: Level) -> Marks:
    links, nulls = [], ([], [])
    for k, gold in enumerate(golds):
        pairs = gold.pairs(level)
        links += [(k, i, j) for i, j in pairs]
        for side, length in enumerate(gold.shape):
            linked = {pair[side] for pair in pairs}
            nulls[side].extend((k, word) for word in range(length) if word not in linked)
    found = _index(links, 3), _index(nulls[0], 2), _index(nulls[1], 2)
    count = sum(np.bincount(index[0], minlength=len(golds)) for index in found)
    return Marks(*found, np.reshape(count, (-1, 1)))


def _index(places: list[tuple[int, ...]], width: int) -> Index:
    return tuple(np.array(places, dtype=np.intp).reshape(-1, width).T)
