"""Costs of linking each source word with each target word, from 0 to 1.

A similarity S of all word pairs is computed first (`SIMILARITIES`). Smoothing adds the mean
similarity of the neighbouring pairs (i−1, j−1) and (i+1, j+1). Distortion multiplies S by
1 − distortion · (i/(n−1) − j/(m−1))², except where a sentence has a single word. S is scaled to [0, 1] over
each pair, and the cost is 1 − S.
"""

from collections.abc import Callable
from typing import Any

from otalign.arrays import Array, array_namespace, device, shift_cells
from otalign.scoring.batches import PairBatch
from otalign.settings import Cost

FLAT = 1e-6  # smaller relative differences within a pair are rounding errors


def compute_costs(batch: PairBatch, cost: Cost, distortion: float = 0.0, smoothing: float = 0.0) -> Array:
    """Compute the costs (B, N, M) of a batch, in float64; 1 where there is no word."""
    xp, cells = array_namespace(batch.X), batch.cells
    S = SIMILARITIES[cost](xp, batch)
    if smoothing:
        S = S + smoothing * _average_neighbours(xp, S, cells)
    if distortion:
        S = S * (1 - distortion * compute_displacement(xp, batch.is_source, batch.is_target) ** 2)
    return xp.where(cells, 1 - min_max_scale(S, cells), xp.asarray(1.0, dtype=S.dtype, device=device(S)))


def compute_cosine_similarity(xp: Any, batch: PairBatch) -> Array:
    """Compute (1 + cosine) / 2 of all word pairs, (B, N, M)."""
    return (xp.astype(_compute_cosines(xp, batch.X, batch.Y), xp.float64) + 1) / 2


def compute_euclidean_similarity(xp: Any, batch: PairBatch) -> Array:
    """Compute 1 − the Euclidean distance of all word pairs, scaled to [0, 1] over each pair, (B, N, M)."""
    # In float64 from the start: the distance of similar vectors is a small difference of large squares.
    X, Y = (xp.astype(vectors, xp.float64) for vectors in (batch.X, batch.Y))
    return min_max_scale(-_compute_euclidean_distances(xp, X, Y), batch.cells)


# A function, whose name is also in `otalign.settings.Cost`, returns similarities (B, N, M) in float64, from 0
# to 1 where there are words, since distortion multiplies them; padding may hold anything. It may make a few
# arrays (B, N, M), but none (B, N, M, D), which would not fit into memory.
SIMILARITIES: dict[Cost, Callable[[Any, PairBatch], Array]] = {
    "cosine": compute_cosine_similarity,
    "euclidean": compute_euclidean_similarity,
}


def min_max_scale(A: Array, cells: Array) -> Array:
    """Scale A (B, N, M) so that over the cells of each pair the minimum is 0 and the maximum 1.

    If the cells of a pair are equal except for rounding errors, as in a balanced plan of a single row, all
    become 1, so that rounding errors do not decide which links are kept.
    """
    xp = array_namespace(A)
    least = xp.min(xp.where(cells, A, xp.inf), axis=(-2, -1), keepdims=True)
    most = xp.max(xp.where(cells, A, -xp.inf), axis=(-2, -1), keepdims=True)
    spread = most - least
    flat = spread <= FLAT * xp.maximum(xp.abs(least), xp.abs(most))
    return xp.where(flat, xp.ones_like(A), (A - least) / xp.where(flat, xp.ones_like(spread), spread))


def compute_norms(xp: Any, X: Array) -> Array:
    """Compute the lengths of vectors (…, D), (…)."""
    return xp.sqrt(xp.vecdot(X, X))


def normalize(xp: Any, X: Array) -> Array:
    """Scale vectors to length 1; zero vectors stay zero."""
    return X / _compute_divisors(xp, X)[..., None]


def _compute_cosines(xp: Any, X: Array, Y: Array) -> Array:
    """Compute the cosines (B, N, M). Cells are divided, not vectors, which are many more numbers."""
    products = X @ xp.matrix_transpose(Y)
    return products / _compute_divisors(xp, X)[:, :, None] / _compute_divisors(xp, Y)[:, None, :]


def _compute_divisors(xp: Any, X: Array) -> Array:
    """Return the lengths of vectors, and 1 for zero vectors."""
    length = compute_norms(xp, X)
    return xp.where(length > 0, length, xp.ones_like(length))


def _compute_euclidean_distances(xp: Any, X: Array, Y: Array) -> Array:
    squares = compute_norms(xp, X)[:, :, None] ** 2 + compute_norms(xp, Y)[:, None, :] ** 2
    square = squares - 2 * (X @ xp.matrix_transpose(Y))
    return xp.sqrt(xp.where(square > 0, square, xp.zeros_like(square)))  # rounding may go below zero


def _average_neighbours(xp: Any, S: Array, cells: Array) -> Array:
    """Compute the mean of the cells (i−1, j−1) and (i+1, j+1) that exist, for each cell; 0 if none does."""
    mask = xp.astype(cells, S.dtype)
    sums = [shift_cells(xp, A, 1, 1) + shift_cells(xp, A, -1, -1) for A in (S * mask, mask)]
    return sums[0] / xp.where(sums[1] > 0, sums[1], xp.ones_like(sums[1]))


def compute_displacement(xp: Any, is_source: Array, is_target: Array) -> Array:
    """Compute i/(n−1) − j/(m−1) for all word pairs, (B, N, M); 0 where n or m is 1."""
    source, target = compute_places(xp, is_source, is_target)
    return source[:, :, None] - target[:, None, :]


def compute_places(xp: Any, is_source: Array, is_target: Array) -> tuple[Array, Array]:
    """Compute i/(n−1) of source words (B, N) and j/(m−1) of target words (B, M); 0 where n or m is 1."""
    lasts = [xp.sum(xp.astype(is_word, xp.float64), axis=-1) - 1 for is_word in (is_source, is_target)]
    several = (lasts[0] > 0) & (lasts[1] > 0)
    source, target = (
        xp.arange(is_word.shape[-1], dtype=xp.float64, device=device(is_word))[None, :]
        / xp.where(several, last, xp.full_like(last, xp.inf))[:, None]
        for is_word, last in zip((is_source, is_target), lasts, strict=True)
    )
    return source, target
