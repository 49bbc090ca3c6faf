"""Convolutions over the cells of word pairs, in NumPy or torch."""

from collections.abc import Callable, Sequence
from typing import Any

from otalign.arrays import Array, device
from otalign.scoring.heads.head import multiply

BLOCK = 128  # rows and columns of a long pair that are convolved at a time


def map_blocks(xp: Any, features: Sequence[Array], layers: Callable[[Array], Array], reach: int) -> Array:
    """Apply convolutions to features of cells.

    A pair of long texts is convolved block by block: its features would fill the memory.

    Args:
        xp: Namespace of the arrays.
        features: Features (B, N, M), of which the last is the mask of the cells.
        layers: Function from (N, B, M, features) to (N, B, M, outputs).
        reach: Number of cells around a cell that its output depends on.

    Returns:
        The outputs, (outputs, B, N, M).
    """
    features = [xp.permute_dims(x, (1, 0, 2)) for x in features]  # (N, B, M) each
    rows, pairs, columns = features[0].shape
    side = BLOCK if pairs == 1 else max(rows, columns)

    def convolve_block(top: int, left: int) -> Array:
        above, before = min(top, reach), min(left, reach)  # cells beside the block that it reads
        down, across = slice(top - above, top + side + reach), slice(left - before, left + side + reach)
        block = [x[down, :, across] for x in features]
        output = layers(xp.stack([x * block[-1] for x in block], axis=-1))
        return output[above : above + side, :, before : before + side, :]

    strips = (
        xp.concat([convolve_block(i, j) for j in range(0, columns, side)], axis=2)
        for i in range(0, rows, side)
    )
    return xp.permute_dims(xp.concat(list(strips), axis=0), (3, 1, 0, 2))


def apply_layer(xp: Any, A: Array, kernel: Array, offset: Array, mask: Array) -> Array:
    """Apply a convolution and a ReLU; cells outside the mask stay 0."""
    output = convolve_3x3(xp, A, kernel) + offset
    return mask * xp.maximum(output, xp.zeros((), dtype=output.dtype, device=device(output)))


def convolve_3x3(xp: Any, A: Array, kernel: Array) -> Array:
    """Convolve A (N, B, M, C) with a kernel (9 · C, channels), with zeros beyond the edges."""
    N, B, M, C = A.shape
    row = xp.zeros((1, B, M, C), dtype=A.dtype, device=device(A))
    column = xp.zeros((N + 2, B, 1, C), dtype=A.dtype, device=device(A))
    A = xp.concat([column, xp.concat([row, A, row], axis=0), column], axis=2)
    # Three columns are concatenated, and three products of rows are summed. Concatenating all nine cells
    # would copy three times as much, which takes longer than the product.
    three = xp.concat([A[:, :, j : j + M, :] for j in range(3)], axis=-1)
    kernels = xp.reshape(kernel, (3, 3 * C, -1))
    above, at, below = (multiply(xp, three[i : i + N, ...], kernels[i, ...]) for i in range(3))
    return above + at + below
