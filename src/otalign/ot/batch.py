"""Validated problems of one size, and the padding of ragged ones.

A word with zero mass is absent, so a small problem is padded to a larger size with zero masses; the padded
costs do not matter. The same code serves NumPy and torch, and gradients pass through it.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from otalign.arrays import Array, array_namespace, device

# Sizes are rounded up to a multiple of this. A problem's padding depends on its own size alone, so its
# solution does not depend on its batch, and a corpus needs few batches.
SIZE_STEP = 16
# Maximum number of costs in one batch of a list: it bounds the memory of the loop.
BATCH_ENTRIES = 1 << 22


@dataclass(frozen=True, eq=False)
class ProblemBatch:
    """A batch of B problems of one size: costs C (B, n, m), masses a (B, n) and b (B, m)."""

    C: Array
    a: Array
    b: Array

    @cached_property
    def xp(self) -> Any:
        """Array library of the batch."""
        return array_namespace(self.C)

    def __len__(self) -> int:
        return self.C.shape[0]

    def detach(self) -> "ProblemBatch":
        """Return the batch without gradients, or the batch itself if it has none."""
        if not any(getattr(x, "requires_grad", False) for x in (self.C, self.a, self.b)):
            return self
        return ProblemBatch(self.C.detach(), self.a.detach(), self.b.detach())

    def take(self, index: Array) -> "ProblemBatch":
        """Return the problems at these indices."""
        return ProblemBatch(self.C[index], self.a[index], self.b[index])

    def astype(self, dtype: Any) -> "ProblemBatch":
        """Return the batch in another dtype."""
        return ProblemBatch(*(self.xp.astype(x, dtype, copy=False) for x in (self.C, self.a, self.b)))


def as_batch(C: Array, a: Array, b: Array) -> ProblemBatch:
    """Validate C (…, n, m), a (…, n), b (…, m), and flatten their leading axes.

    Raises:
        ValueError: If shapes or devices do not match, or an entry is negative or not finite.
    """
    if not all(hasattr(x, "shape") for x in (C, a, b)):
        raise ValueError(_describe_shapes(C, a, b))
    xp = array_namespace(C, a, b)
    if C.ndim < 2 or a.shape != C.shape[:-1] or b.shape != (*C.shape[:-2], C.shape[-1]):
        raise ValueError(_describe_shapes(C, a, b))
    if len({device(x) for x in (C, a, b)}) > 1:
        devices = ", ".join(str(device(x)) for x in (C, a, b))
        raise ValueError(f"C, a and b must be on one device, got {devices}; move them together")
    dtype = _working_dtype(xp, C, a, b)
    C, a, b = (xp.astype(x, dtype, copy=False) for x in (C, a, b))
    # NaN fails both comparisons, so this finds every bad entry. One check, since it synchronises a GPU.
    C_valid, a_valid, b_valid = ((x >= 0) & (x < math.inf) for x in (C, a, b))
    if not bool(xp.all(C_valid) & xp.all(a_valid) & xp.all(b_valid)):
        raise ValueError(_describe_bad_entry(xp, {"C": (C, C_valid), "a": (a, a_valid), "b": (b, b_valid)}))
    size = int(np.prod(C.shape[:-2], dtype=int))
    n, m = C.shape[-2:]
    return ProblemBatch(xp.reshape(C, (size, n, m)), xp.reshape(a, (size, n)), xp.reshape(b, (size, m)))


def pad_into_batches(
    C: Sequence[Array], a: Sequence[Array], b: Sequence[Array]
) -> Iterator[tuple[list[int], ProblemBatch]]:
    """Yield padded batches of problems of similar size, each with their indices in the list.

    Raises:
        ValueError: If the lists differ in length, or a problem is not valid.
    """
    if not len(C) == len(a) == len(b):
        raise ValueError(
            f"C, a and b must list the same problems, got {len(C)}, {len(a)} and {len(b)}; "
            "for a single problem pass arrays"
        )
    by_size = defaultdict(list)
    for k, (C_k, a_k, b_k) in enumerate(zip(C, a, b, strict=True)):
        if not _is_single_problem(C_k, a_k, b_k):
            raise ValueError(f"problem {k} of the list: {_describe_shapes(C_k, a_k, b_k)}")
        by_size[_round_up(C_k.shape[0]), _round_up(C_k.shape[1])].append(k)
    for (n, m), indices in by_size.items():
        batch_size = max(1, BATCH_ENTRIES // (n * m))
        for start in range(0, len(indices), batch_size):
            part = indices[start : start + batch_size]
            yield part, _pad_batch(part, C, a, b, (n, m))


def _is_single_problem(C: Array, a: Array, b: Array) -> bool:
    try:
        n, m = C.shape
        return a.shape == (n,) and b.shape == (m,)
    except (AttributeError, ValueError):  # not an array, or not a matrix
        return False


def _round_up(length: int) -> int:
    return max(1, -(-length // SIZE_STEP)) * SIZE_STEP


def _pad_batch(
    indices: list[int], C: Sequence[Array], a: Sequence[Array], b: Sequence[Array], size: tuple[int, int]
) -> ProblemBatch:
    n, m = size
    lengths = np.array([C[k].shape for k in indices])
    rows = np.arange(n) < lengths[:, :1]  # (B, n): True where there is a word
    columns = np.arange(m) < lengths[:, 1:]  # (B, m)
    try:
        return as_batch(
            _pad([C[k] for k in indices], rows[:, :, None] & columns[:, None, :]),
            _pad([a[k] for k in indices], rows),
            _pad([b[k] for k in indices], columns),
        )
    except ValueError:
        for k in indices:  # name the problem that is not valid
            try:
                as_batch(C[k], a[k], b[k])
            except ValueError as error:
                raise ValueError(f"problem {k} of the list: {error}") from None
        raise


def pad_matrices(matrices: Sequence[Array], size: tuple[int, int]) -> Array:
    """Pad matrices with zeros to one size, (B, n, m)."""
    lengths = np.array([matrix.shape for matrix in matrices])
    rows, columns = (np.arange(size[side]) < lengths[:, side, None] for side in (0, 1))
    return _pad(list(matrices), rows[:, :, None] & columns[:, None, :])


def _pad(arrays: list[Array], present: np.ndarray) -> Array:
    """Return the entries of the arrays, in order, where `present` is true, and zeros elsewhere."""
    xp, target_device = array_namespace(arrays[0]), device(arrays[0])
    entries = xp.concat([x.reshape(-1) for x in arrays])
    padded = xp.zeros(present.shape, dtype=entries.dtype, device=target_device)
    # A single write into a new array, which torch can differentiate.
    padded[xp.asarray(present, device=target_device)] = entries
    return padded


def _working_dtype(xp: Any, *arrays: Array) -> Any:
    """Return the wider of float32 and float64; half precision becomes float32, integers float64."""
    floating = [x.dtype for x in arrays if xp.isdtype(x.dtype, "real floating")]
    if any(dtype == xp.float64 for dtype in floating) or not floating:
        return xp.float64
    return xp.float32


def _describe_bad_entry(xp: Any, arrays: dict[str, tuple[Array, Array]]) -> str:
    name, x, valid = next((name, x, valid) for name, (x, valid) in arrays.items() if not bool(xp.all(valid)))
    index = tuple(int(axis[0]) for axis in xp.nonzero(~valid))
    remedy = "give absent words zero mass"
    if name == "C":
        remedy = "scale costs to [0, 1], and give pairs that must not be linked a large cost"
    return f"{name} must be finite and not negative, got {x[index].item()} at {list(index)}; {remedy}"


def _describe_shapes(C: Array, a: Array, b: Array) -> str:
    shapes = ", ".join(str(tuple(x.shape)) if hasattr(x, "shape") else type(x).__name__ for x in (C, a, b))
    return (
        f"C, a and b must be arrays of shapes (…, n, m), (…, n) and (…, m), got {shapes}; "
        "for problems of different sizes pass three lists of arrays"
    )
