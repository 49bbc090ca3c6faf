"""Files that others wrote: whatever is in one, what is wrong with it is a `ValueError` of one line."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


def read_json(file: Path) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        ValueError: If the file holds anything else, or is nested too deeply to be read. The message does not
            name the file.
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
        shape: What its shape must be; a dimension of None can have any size but 0.

    Raises:
        ValueError: If the file holds anything else.
    """
    import numpy as np

    try:
        # Mapped, since a header may claim a size that no memory holds. Nothing is unpickled.
        array = np.array(np.lib.format.open_memmap(file, mode="r"))
    except Exception as error:  # a header is evaluated as Python literals, which can fail in many ways
        raise ValueError(f"{file} is not an array: {one_line(error)}") from error
    check_array(file.name, array, shape)
    return array


def check_array(name: str, array: Any, shape: tuple[int | None, ...]) -> None:
    """Check that an array of NumPy has floating-point numbers, this shape, and only finite values.

    Raises:
        ValueError: If it has not.
    """
    import numpy as np

    if array.dtype.kind != "f":
        raise ValueError(f"{name} must hold floating-point numbers, got {array.dtype}")
    fits = len(array.shape) == len(shape) and array.size > 0
    if not fits or any(size not in (None, found) for size, found in zip(shape, array.shape, strict=True)):
        wanted = " × ".join("n" if size is None else str(size) for size in shape)
        raise ValueError(f"{name} must have the shape {wanted}, got {' × '.join(map(str, array.shape))}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds numbers that are not finite; the file is damaged")


def one_line(error: BaseException) -> str:
    """Return the first line of what an error says, or its type if it says nothing."""
    lines = [line.strip() for line in str(error).splitlines()]
    said = next(filter(None, lines), "")
    if isinstance(error, ValueError | OSError | ImportError) and said:
        return said
    return f"{type(error).__name__}: {said}".removesuffix(": ")
