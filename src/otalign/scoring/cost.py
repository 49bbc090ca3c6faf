"""Embeddings → what it costs to link each source word with each target word, from 0 to 1.

Cosine: S = (cos + 1) / 2. Euclidean: S = 1 − the distance, scaled to [0, 1]. Words whose neighbours are
alike too are made more alike, S_ij + smoothing · the mean of S_i−1,j−1 and S_i+1,j+1. Words far apart in
order are made less alike, S · (1 − distortion · (i/(n−1) − j/(m−1))²), except where a sentence is a single
word. S is scaled to [0, 1] over the pair, and C = 1 − S.

Pairs come in batches, padded: X (B, N, D) and Y (B, M, D) with the boolean masks of what is a word.
"""

from typing import Any

from otalign.arrays import array_namespace, device
from otalign.settings import Cost

FLAT = 1e-6  # differences within a pair that are less, relatively, are rounding

Array = Any


def costs(
    X: Array,
    Y: Array,
    is_source: Array,
    is_target: Array,
    cost: Cost,
    distortion: float = 0.0,
    smoothing: float = 0.0,
) -> Array:
    """C (B, N, M), in float64; 1 where there is no word."""
    xp = array_namespace(X)
    cells = is_source[:, :, None] & is_target[:, None, :]
    if cost == "cosine":
        S = (xp.astype(_cosines(xp, X, Y), xp.float64) + 1) / 2
    else:
        S = scaled(-_distances(xp, xp.astype(X, xp.float64), xp.astype(Y, xp.float64)), cells)
    if smoothing:
        S = S + smoothing * _neighbours(xp, S, cells)
    if distortion:
        S = S * (1 - distortion * displacement(xp, is_source, is_target) ** 2)
    return xp.where(cells, 1 - scaled(S, cells), xp.asarray(1.0, dtype=S.dtype, device=device(S)))


def scaled(A: Array, cells: Array) -> Array:
    """A (B, N, M) with the least of a pair's cells at 0 and the greatest at 1; all 1 if these are equal.

    Equal but for rounding, that is: a balanced plan of one row is its masses, and noise must pick no links.
    """
    xp = array_namespace(A)
    least = xp.min(xp.where(cells, A, xp.inf), axis=(-2, -1), keepdims=True)
    most = xp.max(xp.where(cells, A, -xp.inf), axis=(-2, -1), keepdims=True)
    spread = most - least
    flat = spread <= FLAT * xp.maximum(xp.abs(least), xp.abs(most))
    return xp.where(flat, xp.ones_like(A), (A - least) / xp.where(flat, xp.ones_like(spread), spread))


def norms(xp: Any, X: Array) -> Array:
    return xp.sqrt(xp.vecdot(X, X))


def directions(xp: Any, X: Array) -> Array:
    """Vectors of length 1; what has no length stays 0, like and unlike anything by half."""
    return X / _divisors(xp, X)[..., None]


def _cosines(xp: Any, X: Array, Y: Array) -> Array:
    """(B, N, M), those of the directions. Cells are divided, and not vectors, which are many more numbers."""
    products = X @ xp.matrix_transpose(Y)
    return products / _divisors(xp, X)[:, :, None] / _divisors(xp, Y)[:, None, :]


def _divisors(xp: Any, X: Array) -> Array:
    """The lengths of vectors, and 1 of what has none."""
    length = norms(xp, X)
    return xp.where(length > 0, length, xp.ones_like(length))


def _distances(xp: Any, X: Array, Y: Array) -> Array:
    squares = norms(xp, X)[:, :, None] ** 2 + norms(xp, Y)[:, None, :] ** 2
    square = squares - 2 * (X @ xp.matrix_transpose(Y))
    return xp.sqrt(xp.where(square > 0, square, xp.zeros_like(square)))  # rounding may go below zero


def _neighbours(xp: Any, S: Array, cells: Array) -> Array:
    """The mean of the cells before and after along the diagonal, of those that there are, else 0."""
    there = xp.astype(cells, S.dtype)
    sums = [_shifted(xp, A, 1) + _shifted(xp, A, -1) for A in (S * there, there)]
    return sums[0] / xp.where(sums[1] > 0, sums[1], xp.ones_like(sums[1]))


def _shifted(xp: Any, A: Array, step: int) -> Array:
    """A (B, N, M) with each cell at the place of the next (1) or the last (−1) one along the diagonal."""
    B, N, M = A.shape
    row = xp.zeros((B, 1, M), dtype=A.dtype, device=device(A))
    column = xp.zeros((B, N, 1), dtype=A.dtype, device=device(A))
    if step > 0:
        A = xp.concat([row, A[:, :-1, :]], axis=1)
        return xp.concat([column, A[:, :, :-1]], axis=2)
    A = xp.concat([A[:, 1:, :], row], axis=1)
    return xp.concat([A[:, :, 1:], column], axis=2)


def displacement(xp: Any, is_source: Array, is_target: Array) -> Array:
    """i/(n−1) − j/(m−1) (B, N, M), and 0 where n or m is 1."""
    places, several = [], []
    for is_word in (is_source, is_target):
        last = xp.sum(xp.astype(is_word, xp.float64), axis=-1) - 1  # (B,)
        steps = xp.arange(is_word.shape[-1], dtype=xp.float64, device=device(is_word))
        places.append(steps[None, :] / xp.where(last > 0, last, xp.ones_like(last))[:, None])
        several.append(last > 0)
    apart = places[0][:, :, None] - places[1][:, None, :]
    return xp.where((several[0] & several[1])[:, None, None], apart, xp.zeros_like(apart))
