"""The library that an array is of, as the array API standard has it: one source for NumPy, torch and others.

NumPy keeps to the standard itself. Through array_api_compat it is the same, but takes a fifth of a second to
load, which is much of what a command takes for two sentences.
"""

from typing import Any

import array_api_compat
import numpy as np
from array_api_compat import device, is_numpy_array, is_torch_array

__all__ = [
    "array_namespace",
    "device",
    "get_gpu_memory",
    "is_finite",
    "is_numpy_array",
    "is_torch_array",
    "to_device_of",
]


def array_namespace(*arrays: Any) -> Any:
    return np if all(map(is_numpy_array, arrays)) else array_api_compat.array_namespace(*arrays)


def to_device_of(x: np.ndarray, other: Any) -> Any:
    """A NumPy array in the library and at the place of another. A GPU gets it without being waited for."""
    xp, at = array_namespace(other), device(other)
    if getattr(other, "is_cuda", False):
        return xp.asarray(x).pin_memory().to(at, non_blocking=True)
    return xp.asarray(x, device=at)


def is_finite(x: Any) -> bool:
    """Return whether an array holds neither infinity nor NaN."""
    xp = array_namespace(x)
    return bool(xp.all(xp.isfinite(x)))


def get_gpu_memory(x: Any) -> int | None:
    """Return the bytes of memory of the GPU that holds an array; None if no GPU holds it."""
    if not getattr(x, "is_cuda", False):
        return None
    import torch

    return torch.cuda.get_device_properties(x.device).total_memory
