"""Checked problems of one size, and how ragged ones are brought to one size.

A word with zero mass is absent, so a small problem fits into a larger one by padding its masses
with zeros; what the padded costs hold does not matter. The same lines serve NumPy and torch, and
gradients pass through them.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from otalign.arrays import array_namespace, device

Array = Any  # a NumPy array or a torch tensor

# Sizes are rounded up to this, by each problem's own size alone: so a problem is padded alike
# whatever stands beside it, and a corpus falls into few batches.
SIZE_STEP = 16
# The most cost entries in one batch of a list: it bounds the memory that the loop takes for itself.
BATCH_ENTRIES = 1 << 22


@dataclass(frozen=True, eq=False)
class ProblemBatch:
    """B problems of one size: costs C (B, n, m), masses a (B, n) and b (B, m)."""

    C: Array
    a: Array
    b: Array

    @cached_property
    def xp(self) -> Any:
        return array_namespace(self.C)

    def __len__(self) -> int:
        return self.C.shape[0]

    def detach(self) -> "ProblemBatch":
        """The same numbers without their gradients; itself where it has none."""
        if not any(getattr(x, "requires_grad", False) for x in (self.C, self.a, self.b)):
            return self
        return ProblemBatch(self.C.detach(), self.a.detach(), self.b.detach())

    def take(self, index: Array) -> "ProblemBatch":
        return ProblemBatch(self.C[index], self.a[index], self.b[index])

    def astype(self, dtype: Any) -> "ProblemBatch":
        return ProblemBatch(*(self.xp.astype(x, dtype, copy=False) for x in (self.C, self.a, self.b)))


def as_batch(C: Array, a: Array, b: Array) -> ProblemBatch:
    """The problems of C (…, n, m), a (…, n), b (…, m), checked, the leading axes made one."""
    if not all(hasattr(x, "shape") for x in (C, a, b)):
        raise ValueError(_shapes(C, a, b))
    xp = array_namespace(C, a, b)
    if C.ndim < 2 or a.shape != C.shape[:-1] or b.shape != (*C.shape[:-2], C.shape[-1]):
        raise ValueError(_shapes(C, a, b))
    if len({device(x) for x in (C, a, b)}) > 1:
        places = ", ".join(str(device(x)) for x in (C, a, b))
        raise ValueError(f"C, a and b must be on one device, got {places}; move them together")
    dtype = _working_dtype(xp, C, a, b)
    C, a, b = (xp.astype(x, dtype, copy=False) for x in (C, a, b))
    # NaN fails both comparisons, so this finds all that can be wrong. Asked once: a GPU stops for it.
    C_fine, a_fine, b_fine = ((x >= 0) & (x < math.inf) for x in (C, a, b))
    if not bool(xp.all(C_fine) & xp.all(a_fine) & xp.all(b_fine)):
        raise ValueError(_first_bad_entry(xp, {"C": (C, C_fine), "a": (a, a_fine), "b": (b, b_fine)}))
    size = int(np.prod(C.shape[:-2], dtype=int))
    n, m = C.shape[-2:]
    return ProblemBatch(xp.reshape(C, (size, n, m)), xp.reshape(a, (size, n)), xp.reshape(b, (size, m)))


def buckets(
    C: Sequence[Array], a: Sequence[Array], b: Sequence[Array]
) -> Iterator[tuple[list[int], ProblemBatch]]:
    """Batches of problems of about one size, padded, each with the problems' places in the list."""
    if not len(C) == len(a) == len(b):
        raise ValueError(
            f"C, a and b must list the same problems, got {len(C)}, {len(a)} and {len(b)}; "
            "for a single problem pass arrays"
        )
    by_size = defaultdict(list)
    for k, (C_k, a_k, b_k) in enumerate(zip(C, a, b, strict=True)):
        if not _is_one_problem(C_k, a_k, b_k):
            raise ValueError(f"problem {k} of the list: {_shapes(C_k, a_k, b_k)}")
        by_size[_round_up(C_k.shape[0]), _round_up(C_k.shape[1])].append(k)
    for (n, m), places in by_size.items():
        most = max(1, BATCH_ENTRIES // (n * m))
        for start in range(0, len(places), most):
            part = places[start : start + most]
            yield part, _padded_batch(part, C, a, b, (n, m))


def _is_one_problem(C, a, b) -> bool:
    try:
        n, m = C.shape
        return a.shape == (n,) and b.shape == (m,)
    except (AttributeError, ValueError):  # not an array, or not a matrix
        return False


def _round_up(length: int) -> int:
    return max(1, -(-length // SIZE_STEP)) * SIZE_STEP


def _padded_batch(places: list[int], C, a, b, size: tuple[int, int]) -> ProblemBatch:
    n, m = size
    lengths = np.array([C[k].shape for k in places])
    rows = np.arange(n) < lengths[:, :1]  # (B, n): where a word is
    columns = np.arange(m) < lengths[:, 1:]  # (B, m)
    try:
        return as_batch(
            _pad([C[k] for k in places], rows[:, :, None] & columns[:, None, :]),
            _pad([a[k] for k in places], rows),
            _pad([b[k] for k in places], columns),
        )
    except ValueError:
        for k in places:  # say which of the list it was
            try:
                as_batch(C[k], a[k], b[k])
            except ValueError as error:
                raise ValueError(f"problem {k} of the list: {error}") from None
        raise


def _pad(arrays: list[Array], present: np.ndarray) -> Array:
    """The arrays' entries, in order, where `present` is true, and zeros elsewhere."""
    xp, like = array_namespace(arrays[0]), arrays[0]
    entries = xp.concat([x.reshape(-1) for x in arrays])
    padded = xp.zeros(present.shape, dtype=entries.dtype, device=device(like))
    # One write for all of them, into an array nobody else has seen: torch differentiates it.
    padded[xp.asarray(present, device=device(like))] = entries
    return padded


def _working_dtype(xp, *arrays: Array) -> Any:
    """float32 or float64: the widest given; half precision is worked in float32, integers in float64."""
    floating = [x.dtype for x in arrays if xp.isdtype(x.dtype, "real floating")]
    if any(dtype == xp.float64 for dtype in floating) or not floating:
        return xp.float64
    return xp.float32


def _first_bad_entry(xp, arrays: dict[str, tuple[Array, Array]]) -> str:
    name, x, fine = next((name, x, fine) for name, (x, fine) in arrays.items() if not bool(xp.all(fine)))
    where = tuple(int(axis[0]) for axis in xp.nonzero(~fine))
    remedy = "give absent words zero mass"
    if name == "C":
        remedy = "scale costs to [0, 1], and give pairs that must not be linked a large cost"
    return f"{name} must be finite and not negative, got {x[where].item()} at {list(where)}; {remedy}"


def _shapes(C, a, b) -> str:
    found = ", ".join(str(tuple(x.shape)) if hasattr(x, "shape") else type(x).__name__ for x in (C, a, b))
    return (
        f"C, a and b must be arrays of shapes (…, n, m), (…, n) and (…, m), got {found}; "
        "for problems of different sizes pass three lists of arrays"
    )
