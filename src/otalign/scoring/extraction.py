"""Weights → links above a threshold, and how sure the nulls are, as plain values."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from otalign.alignment import Link
from otalign.arrays import array_namespace, is_finite
from otalign.encoders.embeddings import in_numpy
from otalign.scoring.strengths import Tile
from otalign.scoring.weights import Weights

DIGITS = 4  # of weights and confidences


class Found(NamedTuple):
    """What was found in one pair."""

    links: tuple[Link, ...]
    null_confidences: tuple[tuple[float, ...], tuple[float, ...]]  # of each word, source and target

    @classmethod
    def nothing(cls, n: int, m: int) -> "Found":
        """For n and m words of which one is 0: all the others are null."""
        return cls((), ((1.0,) * n, (1.0,) * m))


class Cells(NamedTuple):
    """Those of a tile that are links, in order, where the weights are."""

    pair: Any
    source: Any
    target: Any
    weight: Any


def cells(weights: Weights, threshold: float) -> Cells:
    """Those above the threshold: of all that was worked out on a GPU, the little that must leave it."""
    strong = weights.links
    pair, i, j = array_namespace(strong).nonzero(strong > threshold)
    return Cells(pair, i, j, strong[pair, i, j])


@dataclass(frozen=True, eq=False)
class Links:
    """What was found in the pairs of a tile. It is kept as numbers, and made into values when it is asked
    for: among the values of ten thousands of pairs Python would search for garbage most of the time."""

    source: list[int]
    target: list[int]
    weight: list[float]
    ends: list[int]  # of each pair's links, after 0
    nulls: tuple[list[list[float]], list[list[float]]]
    lengths: tuple[list[int], list[int]]

    def of(self, row: int) -> Found:
        """What was found in the pair that is this row of the tile."""
        its = slice(self.ends[row], self.ends[row + 1])
        links = tuple(map(Link, self.source[its], self.target[its], self.weight[its]))
        (sources, targets), (n, m) = self.nulls, self.lengths
        return Found(links, (tuple(sources[row][: n[row]]), tuple(targets[row][: m[row]])))

    def __iter__(self) -> Iterator[Found]:
        return map(self.of, range(len(self.ends) - 1))


def links(weights: Weights, tile: Tile, threshold: float) -> Links:
    """The links above the threshold, pair by pair."""
    pair, i, j, weight = (in_numpy(part) for part in cells(weights, threshold))
    sure = [in_numpy(part) for part in (weights.source_nulls, weights.target_nulls)]
    if not all(map(is_finite, sure)):  # NaN is no link, but a word's best link is NaN if any of its is
        raise ValueError("the weights of some words are not finite; the head of the aligner is damaged")
    lengths = (in_numpy(is_word).sum(-1).tolist() for is_word in (tile.is_source, tile.is_target))
    counts = np.bincount(pair, minlength=len(sure[0]))
    return Links(
        i.tolist(),
        j.tolist(),
        _rounded(weight),
        [0, *np.cumsum(counts).tolist()],
        (_rounded(sure[0]), _rounded(sure[1])),
        (next(lengths), next(lengths)),
    )


def _rounded(shares: np.ndarray) -> list:
    return np.round(shares.astype(float), DIGITS).tolist()  # digits of float32 would come out as noise
