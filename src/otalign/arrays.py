"""The library that an array is of, as the array API standard has it: one source for NumPy, torch and others.

NumPy keeps to the standard itself. Through array_api_compat it is the same, but takes a fifth of a second to
load, which is much of what a command takes for two sentences.
"""

from typing import Any

import array_api_compat
import numpy as np
from array_api_compat import device, is_numpy_array, is_torch_array

__all__ = ["array_namespace", "device", "is_numpy_array", "is_torch_array"]


def array_namespace(*arrays: Any) -> Any:
    return np if all(map(is_numpy_array, arrays)) else array_api_compat.array_namespace(*arrays)
