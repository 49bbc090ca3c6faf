"""The cells of word pairs that a head scores: all of a batch, or some tiles of a long pair.

A head compares a word with its competitors, along a row or column, and a cell with the cells around it. This
module implements that for arrays (…, B, N, M) of cells, so that the head's formulas are written once.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from otalign.arrays import Array, array_namespace
from otalign.scoring.batches import PairBatch
from otalign.scoring.cost import compute_displacement
from otalign.scoring.heads.convolution import map_blocks

Layers = Callable[[Array], Array]  # from (N, B, M, features) to (N, B, M, outputs)
SOURCE, TARGET = 0, 1  # sides of a pair


class Cells(Protocol):
    """Cells of word pairs, as arrays (…, B, N, M)."""

    @property
    def mask(self) -> Array:
        """Mask of the cells that are pairs of words, (B, N, M)."""
        ...

    def compute_displacement(self) -> Array:
        """Compute i/(n−1) − j/(m−1) for all cells, (B, N, M)."""
        ...

    def multiply(self, X: Array, Y: Array) -> Array:
        """Compute the products (B, N, M) of the vectors of source and target words."""
        ...

    def expand(self, values: Array, side: int) -> Array:
        """Expand values (…, B, words) of the words of a side to broadcast with cells."""
        ...

    def sum(self, x: Array, side: int) -> Array:
        """Sum up the cells of each word of a side; cells outside the mask must be 0. The sums broadcast."""
        ...

    def max(self, x: Array, side: int) -> Array:
        """Compute the maximum of the cells of each word of a side. The maxima broadcast."""
        ...

    def convolve(self, features: Sequence[Array], layers: Layers, reach: int) -> Array:
        """Apply convolutions to features (B, N, M), of which the last is the mask, as `map_blocks` does."""
        ...


class AllCells:
    """All cells of a batch."""

    def __init__(self, batch: PairBatch) -> None:
        self.mask = batch.cells
        self._batch, self._xp = batch, array_namespace(batch.X)

    def compute_displacement(self) -> Array:
        """Compute i/(n−1) − j/(m−1) for all cells, (B, N, M)."""
        return compute_displacement(self._xp, self._batch.is_source, self._batch.is_target)

    def multiply(self, X: Array, Y: Array) -> Array:
        """Compute the products (B, N, M) of the vectors of source and target words."""
        return X @ self._xp.matrix_transpose(Y)

    def expand(self, values: Array, side: int) -> Array:
        """Expand values (…, B, words) of the words of a side to broadcast with cells."""
        return values[..., None] if side == SOURCE else values[..., None, :]

    def sum(self, x: Array, side: int) -> Array:
        """Sum up the cells of each word of a side."""
        return self._xp.sum(x, axis=-1 - side, keepdims=True)

    def max(self, x: Array, side: int) -> Array:
        """Compute the maximum of the cells of each word of a side."""
        return self._xp.max(x, axis=-1 - side, keepdims=True)

    def convolve(self, features: Sequence[Array], layers: Layers, reach: int) -> Array:
        """Apply convolutions to features (B, N, M), of which the last is the mask."""
        return map_blocks(self._xp, features, layers, reach)


def compute_log_sum_exp(xp: Any, cells: Cells, x: Array, side: int) -> Array:
    """Compute the logarithm of the sum of the exponentials of the cells of each word of a side."""
    top = cells.max(x, side)
    return top + xp.log(cells.sum(xp.exp(x - top), side))


def compute_softmax(xp: Any, cells: Cells, x: Array, side: int) -> Array:
    """Compute the softmax over the cells of each word of a side."""
    raised = xp.exp(x - cells.max(x, side))
    return raised / cells.sum(raised, side)
