"""Weights → links above a threshold, and how sure the nulls are, as plain values."""

from typing import Any, NamedTuple

import numpy as np

from otalign.alignment import Link
from otalign.arrays import array_namespace
from otalign.encoders.embeddings import in_numpy
from otalign.strengths import Tile
from otalign.weights import Weights

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


def links(weights: Weights, tile: Tile, threshold: float) -> list[Found]:
    """The links above the threshold, pair by pair."""
    pair, i, j, weight = (in_numpy(part) for part in cells(weights, threshold))
    nulls = [in_numpy(part) for part in (weights.source_nulls, weights.target_nulls)]
    lengths = [in_numpy(is_word).sum(-1).tolist() for is_word in (tile.is_source, tile.is_target)]
    kept = np.round(weight.astype(float), DIGITS)  # digits of float32 would come out as noise
    ends = np.cumsum(np.bincount(pair, minlength=len(nulls[0]))).tolist()
    found = tuple(map(Link, i.tolist(), j.tolist(), kept.tolist()))
    sure = [np.round(side.astype(float), DIGITS).tolist() for side in nulls]
    return [
        Found(found[start:end], (tuple(sources[:n]), tuple(targets[:m])))
        for start, end, sources, targets, n, m in zip([0, *ends[:-1]], ends, *sure, *lengths, strict=True)
    ]
