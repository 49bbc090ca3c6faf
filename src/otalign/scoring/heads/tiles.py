"""Tiles of a long pair: the cells of two texts where links may be.

In texts of thousands of words, links are in few places. A first pass over all cells, strip by strip, finds
for each tile of them how much its words attend to each other, by similarity alone. Only the best tiles of
each row and each column of tiles are scored, and words compete with those in their tiles only, as in a short
pair: with thousands of competitors, most links would be lost.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from otalign.arrays import Array, array_namespace, device, to_device_of
from otalign.encoders.embeddings import to_numpy
from otalign.scoring.heads.cells import SOURCE, TARGET, Layers
from otalign.scoring.heads.convolution import map_blocks

SIDE = 32  # words of a tile on each side
# Number of tiles kept in each row and column (benchmarks/long_texts.py --kept). More tiles contain more of
# the links that scoring all cells finds, but give words more competitors: of 2, 3, 4 and 6, on dev sets
# without sentence ends, 3 is the smallest number with 99% of these links.
KEPT = 3
HALO = 3  # cells around a tile that its logits depend on: 2 for one convolution, 1 for the other
INNER = slice(HALO, HALO + SIDE)
STRIP = 8 * SIDE  # source words whose cells the first pass computes at a time
AT_ONCE = 11  # tiles that are convolved at a time: about as many cells as a batch has
LEAST = 1e-30  # smallest divisor


class TileCells:
    """The cells of some tiles of one pair, each with its halo, as if they were a batch of pairs.

    The cells of other tiles do not exist, even where a halo overlaps them.

    Args:
        shape: Number of source and target words.
        places: Rows and columns of tiles that the tiles are in, (2, tiles); each has at least one.
        like: An array of the library and device of the pair.
    """

    def __init__(self, shape: tuple[int, int], places: np.ndarray, like: Array) -> None:
        words = places[:, :, None] * SIDE + np.arange(-HALO, SIDE + HALO)  # (2, tiles, words)
        sizes = np.array(shape)[:, None, None]
        inside = (words >= 0) & (words < sizes)
        self._words = np.clip(words, 0, sizes - 1)
        kept = np.zeros(places.max(axis=1) + 1, dtype=bool)
        kept[tuple(places)] = True
        i, j = self._words // SIDE
        mask = kept[i[:, :, None], j[:, None, :]] & inside[SOURCE, :, :, None] & inside[TARGET, :, None, :]
        self.mask = to_device_of(mask, like)
        self.shape, self.places = shape, places
        self._xp, self._like = array_namespace(like), like
        self._indices = to_device_of(self._words, like)
        self._members = [to_device_of(_list_members(rows), like) for rows in places]

    def compute_displacement(self) -> Array:
        """Compute i/(n−1) − j/(m−1) for all cells, (tiles, N, M)."""
        last = np.maximum(np.array(self.shape) - 1, 1)[:, None, None]
        i, j = to_device_of(self._words / last, self._like)
        return i[:, :, None] - j[:, None, :]

    def multiply(self, X: Array, Y: Array) -> Array:
        """Compute the products (tiles, N, M) of the vectors (1, words, D) of source and target words."""
        rows, columns = self._indices
        transpose = self._xp.matrix_transpose
        return self._xp.concat(
            [X[0, rows[part], :] @ transpose(Y[0, columns[part], :]) for part in self._split()]
        )

    def expand(self, values: Array, side: int) -> Array:
        """Expand values (…, 1, words) of the words of a side to broadcast with cells."""
        values = values[..., 0, :][..., self._indices[side]]
        return values[..., None] if side == SOURCE else values[..., None, :]

    def sum(self, x: Array, side: int) -> Array:
        """Sum up the cells of each word of a side, over all of its tiles."""
        return self.expand(self.sum_words(self.crop(x), side), side)

    def max(self, x: Array, side: int) -> Array:
        """Compute the maximum of the cells of each word of a side, over all of its tiles."""
        return self.expand(self._reduce(self._xp.max, self.crop(x), side, -np.inf), side)

    def convolve(self, features: Sequence[Array], layers: Layers, reach: int) -> Array:
        """Apply convolutions to features (tiles, N, M). The outermost cells of the halo become invalid."""
        return self._xp.concat(
            [map_blocks(self._xp, [x[part] for x in features], layers, reach) for part in self._split()],
            axis=1,
        )

    def crop(self, x: Array) -> Array:
        """Return cells (…, N, M) without the halo."""
        return x[..., INNER, INNER]

    def sum_words(self, x: Array, side: int) -> Array:
        """Sum up cropped cells (…, tiles, N, M) for each word of a side, (…, 1, words)."""
        return self._reduce(self._xp.sum, x, side, 0.0)

    def find_cells(self, chosen: Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Find chosen cells, given a mask of cropped cells.

        Returns:
            Indices of source words and of target words, in order, and indices into the cells that are chosen.
        """
        tiles, rows, columns = (to_numpy(x) for x in self._xp.nonzero(chosen))
        i, j = self.places[0][tiles] * SIDE + rows, self.places[1][tiles] * SIDE + columns
        order = np.lexsort((j, i))
        return i[order], j[order], order

    def scatter(self, x: Array) -> Array:
        """Return cropped cells (tiles, N, M) as a matrix (1, n, m), which is 0 elsewhere."""
        inside = self.crop(self.mask)
        i, j, order = (to_device_of(indices, x) for indices in self.find_cells(inside))
        matrix = self._xp.zeros((1, *self.shape), dtype=x.dtype, device=device(x))
        matrix[0, i, j] = x[inside][order]
        return matrix

    def _split(self) -> list[slice]:
        return [slice(k, k + AT_ONCE) for k in range(0, self.places.shape[1], AT_ONCE)]

    def _reduce(self, operation: Any, x: Array, side: int, neutral: float) -> Array:
        """Reduce cropped cells (…, tiles, N, M) by `xp.sum` or `xp.max` for each word of a side."""
        xp = self._xp
        by_tile = operation(x, axis=-1 - side)  # (…, tiles, words of a tile)
        padding = xp.full_like(by_tile[..., :1, :], neutral)
        by_row = xp.concat([by_tile, padding], axis=-2)[..., self._members[side], :]
        values = operation(by_row, axis=-2)  # (…, rows of tiles, words of a tile)
        return xp.reshape(values, (*values.shape[:-2], 1, -1))[..., : self.shape[side]]


def select_tiles(X: Array, Y: Array, sharpness: Array) -> TileCells:
    """Select the tiles of a pair in which links may be.

    The score of a tile is the sum, over its cells, of the product of two probabilities: that the source word
    attends to the target word, and that the target word attends to the source word.

    Args:
        X: Source vectors of length 1, (1, n, D).
        Y: Target vectors of length 1, (1, m, D).
        sharpness: Factor of cosines, of which attention is the softmax.
    """
    xp = array_namespace(X)
    x, y = X[0, ...] * sharpness, xp.matrix_transpose(Y[0, ...])
    n, m = X.shape[1], Y.shape[1]
    strips, total = [], 0.0
    for start in range(0, n, STRIP):
        likely = xp.exp(x[start : start + STRIP, :] @ y - sharpness)
        total = total + xp.sum(likely, axis=0)
        share = xp.clip(xp.sum(likely, axis=1, keepdims=True), LEAST, None)
        strips.append(_sum_tiles(xp, likely * likely / share))
    mutual = xp.concat(strips) / xp.clip(total, LEAST, None)
    scores = to_numpy(_sum_tiles(xp, xp.matrix_transpose(mutual))).T
    places = np.stack(np.nonzero(_select_best(scores, KEPT)))
    return TileCells((n, m), places, X)


def _sum_tiles(xp: Any, x: Array) -> Array:
    """Sum up rows (n, m) tile by tile."""
    missing = -len(x) % SIDE
    if missing:
        x = xp.concat([x, xp.zeros((missing, x.shape[1]), dtype=x.dtype, device=device(x))])
    return xp.sum(xp.reshape(x, (-1, SIDE, x.shape[1])), axis=1)


def _select_best(scores: np.ndarray, count: int) -> np.ndarray:
    """Return the mask of the best entries of each row and of each column; of equal ones the first."""
    mask = np.zeros(scores.shape, dtype=bool)
    for axis in (0, 1):
        order = np.argsort(-scores, axis=axis, kind="stable")
        best = np.take(order, range(min(count, scores.shape[axis])), axis=axis)
        np.put_along_axis(mask, best, True, axis=axis)
    return mask


def _list_members(rows: np.ndarray) -> np.ndarray:
    """List the tiles of each row of tiles, (rows, tiles of a row), padded with the number of tiles."""
    order = np.argsort(rows, kind="stable")
    counts = np.bincount(rows)
    members = np.full((len(counts), counts.max()), len(rows))
    members[np.arange(counts.max()) < counts[:, None]] = order
    return members
