"""Readers of files from untrusted sources: any defect of a file is a `ValueError` of one line."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from otalign.failures import describe

if TYPE_CHECKING:
    import numpy as np


def read_json(file: Path) -> dict[str, Any]:
    """Read a JSON object.

    Args:
        file: The file.

    Returns:
        The object.

    Raises:
        ValueError: If the file holds anything else, or is nested too deeply. The message does not name the
            file.
    """
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(data, dict):
        raise ValueError(f"it must hold a JSON object, got {type(data).__name__}")
    return data


def read_array(file: Path, shape: tuple[int | None, ...]) -> "np.ndarray":
    """Read an array of finite floating-point numbers from a `.npy` file.

    Args:
        file: The file.
        shape: The shape that the array must have; None accepts any size but 0.

    Returns:
        The array.

    Raises:
        ValueError: If the file holds anything else.
    """
    import numpy as np

    try:
        # Mapped, since a header may claim more than fits into memory. Nothing is unpickled.
        array = np.array(np.lib.format.open_memmap(file, mode="r"))
    except Exception as error:  # a header is evaluated as Python literals, which can fail in many ways
        raise ValueError(f"{file} is not an array: {describe(error, brief=True)}") from error
    check_array(file.name, array, shape)
    return array


def check_array(name: str, array: Any, shape: tuple[int | None, ...]) -> None:
    """Check that a NumPy array has a floating-point type, the given shape, and only finite values.

    Args:
        name: Name of the array, for the message.
        array: The array.
        shape: The shape that it must have; None accepts any size but 0.

    Raises:
        ValueError: If it does not.
    """
    import numpy as np

    if array.dtype.kind != "f":
        raise ValueError(f"{name} must hold floating-point numbers, got {array.dtype}")
    fits = len(array.shape) == len(shape) and array.size > 0
    if not fits or any(size not in (None, actual) for size, actual in zip(shape, array.shape, strict=True)):
        expected = " × ".join("n" if size is None else str(size) for size in shape)
        raise ValueError(f"{name} must have the shape {expected}, got {' × '.join(map(str, array.shape))}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds numbers that are not finite; the file is damaged")
