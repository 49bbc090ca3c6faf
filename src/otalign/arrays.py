"""The array API standard for NumPy, torch and others, so that one source serves them all.

NumPy implements the standard itself. array_api_compat would wrap it to the same effect, but takes a fifth of
a second to load, a large part of the time of a command for two sentences.
"""

from typing import Any

import array_api_compat
import numpy as np
from array_api_compat import device, is_numpy_array, is_torch_array

__all__ = [
    "Array",
    "array_namespace",
    "device",
    "get_gpu_memory",
    "is_finite",
    "is_numpy_array",
    "is_torch_array",
    "shift_cells",
    "to_device_of",
]

Array = Any  # a NumPy array or a torch tensor


def array_namespace(*arrays: Array) -> Any:
    """Return the module whose functions apply to these arrays.

    Args:
        *arrays: Arrays of one library.

    Returns:
        `numpy`, or the namespace of array_api_compat for another library.
    """
    return np if all(map(is_numpy_array, arrays)) else array_api_compat.array_namespace(*arrays)


def to_device_of(x: np.ndarray, other: Array) -> Array:
    """Copy a NumPy array to the library and device of another array.

    Args:
        x: The array to copy.
        other: An array of the target library, on the target device.

    Returns:
        The copy. On a GPU the transfer is asynchronous.
    """
    xp, target = array_namespace(other), device(other)
    if getattr(other, "is_cuda", False):
        return xp.asarray(x).pin_memory().to(target, non_blocking=True)
    return xp.asarray(x, device=target)


def is_finite(x: Array) -> bool:
    """Return whether an array holds neither infinity nor NaN."""
    xp = array_namespace(x)
    return bool(xp.all(xp.isfinite(x)))


def shift_cells(xp: Any, A: Array, rows: int, columns: int) -> Array:
    """Shift the cells of matrices; zeros move in.

    Args:
        xp: Array library.
        A: Matrices (…, n, m).
        rows: Number of rows: k if cell (i, j) is to hold what (i−k, j) held.
        columns: Number of columns: k if cell (i, j) is to hold what (i, j−k) held.

    Returns:
        The shifted matrices.
    """
    for axis, step in ((-2, rows), (-1, columns)):
        if step:
            size = abs(step)
            zeros = xp.zeros_like(A[..., :size, :] if axis == -2 else A[..., :size])
            rest = slice(None, -size) if step > 0 else slice(size, None)
            remaining = A[..., rest, :] if axis == -2 else A[..., rest]
            A = xp.concat([zeros, remaining] if step > 0 else [remaining, zeros], axis=axis)
    return A


def get_gpu_memory(x: Array) -> int | None:
    """Return the bytes of memory of the GPU that holds an array; None if no GPU holds it."""
    if not getattr(x, "is_cuda", False):
        return None
    import torch

    return torch.cuda.get_device_properties(x.device).total_memory
