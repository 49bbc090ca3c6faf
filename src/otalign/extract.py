"""Weights → links above a threshold, and how sure the nulls are, as plain values."""

from typing import NamedTuple

import numpy as np

from otalign.alignment import Link
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


def links(weights: Weights, tile: Tile, threshold: float) -> list[Found]:
    """The links above the threshold, pair by pair."""
    strong, *nulls = (in_numpy(part) for part in weights)
    lengths = [in_numpy(is_word).sum(-1).tolist() for is_word in (tile.is_source, tile.is_target)]
    pair, i, j = np.nonzero(strong > threshold)
    kept = np.round(strong[pair, i, j].astype(float), DIGITS)  # digits of float32 would come out as noise
    ends = np.cumsum(np.bincount(pair, minlength=len(strong))).tolist()
    found = tuple(map(Link, i.tolist(), j.tolist(), kept.tolist()))
    sure = [np.round(side.astype(float), DIGITS).tolist() for side in nulls]
    return [
        Found(found[start:end], (tuple(sources[:n]), tuple(targets[:m])))
        for start, end, sources, targets, n, m in zip([0, *ends[:-1]], ends, *sure, *lengths, strict=True)
    ]
