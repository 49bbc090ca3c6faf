"""Strengths of the cells, a plan or a similarity → links above a threshold, and how sure the nulls are.

Strengths are scaled to [0, 1] over the pair, so the strongest link of a pair always stays.
"""

from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace

from otalign.alignment import Link
from otalign.cost import scaled
from otalign.encoders.embeddings import in_numpy
from otalign.strengths import Tile

Array = Any

DIGITS = 4  # of weights and confidences


class Found(NamedTuple):
    """What was found in one pair."""

    links: tuple[Link, ...]
    null_confidences: tuple[tuple[float, ...], tuple[float, ...]]  # of each word: 1 − its strongest cell

    @classmethod
    def nothing(cls, n: int, m: int) -> "Found":
        """For n and m words of which one is 0: all the others are null."""
        return cls((), ((1.0,) * n, (1.0,) * m))


def links(strengths: Array, tile: Tile, threshold: float) -> list[Found]:
    """The cells (B, N, M) above the threshold, once scaled, pair by pair."""
    weights = scaled_weights(strengths, tile)
    lengths = [in_numpy(is_word).sum(-1).tolist() for is_word in (tile.is_source, tile.is_target)]
    pair, i, j = np.nonzero(weights > threshold)
    kept = np.round(weights[pair, i, j], DIGITS)
    ends = np.cumsum(np.bincount(pair, minlength=len(weights))).tolist()
    found = tuple(map(Link, i.tolist(), j.tolist(), kept.tolist()))
    nulls = [np.round(1 - weights.max(axis), DIGITS).tolist() for axis in (2, 1)]
    return [
        Found(found[start:end], (tuple(sources[:n]), tuple(targets[:m])))
        for start, end, sources, targets, n, m in zip([0, *ends[:-1]], ends, *nulls, *lengths, strict=True)
    ]


def scaled_weights(strengths: Array, tile: Tile) -> np.ndarray:
    """The strengths (B, N, M) scaled to [0, 1] over each pair; 0 where there is no word."""
    xp = array_namespace(strengths)
    cells = tile.is_source[:, :, None] & tile.is_target[:, None, :]
    return in_numpy(xp.where(cells, scaled(strengths, cells), xp.zeros_like(strengths)))
