"""Arrays in shared memory: another process of this program reads them, given their handle.

The blocks of a process that is killed are freed when the program ends, by the resource tracker of
`multiprocessing`, which all processes that it spawns share.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.shared_memory import SharedMemory
from typing import NamedTuple

import numpy as np

ALIGNED = 64  # the offset of an array is a multiple of this number of bytes


class ArraysHandle(NamedTuple):
    """A name for arrays in shared memory, with which another process reads them.

    Attributes:
        name: Name of the block of memory.
        places: Data type, shape and offset of each array.
    """

    name: str
    places: tuple[tuple[str, tuple[int, ...], int], ...]


class SharedArrays:
    """Arrays that were copied into a block of shared memory. The block lives until it is freed.

    Args:
        arrays: The arrays.

    Attributes:
        handle: What another process needs to read them.

    Raises:
        OSError: If there is too little shared memory.
    """

    def __init__(self, arrays: Sequence[np.ndarray]) -> None:
        places, offset = [], 0
        for array in arrays:
            places.append((array.dtype.str, array.shape, offset))
            offset += -(-array.nbytes // ALIGNED) * ALIGNED
        self.block = SharedMemory(create=True, size=max(1, offset))
        _reserve(self.block)
        for array, place in zip(arrays, places, strict=True):
            _view(self.block, place)[...] = array
        self.handle = ArraysHandle(self.block.name, tuple(places))

    def close(self) -> None:
        """Close the block; it stays until it is freed."""
        self.block.close()

    def free(self) -> None:
        """Close and free the block, unless it was freed before."""
        self.block.close()
        free_arrays(self.handle)


def read_arrays(handle: ArraysHandle) -> list[np.ndarray]:
    """Return copies of shared arrays.

    Args:
        handle: Their handle.

    Raises:
        FileNotFoundError: If they were freed.
    """
    block = SharedMemory(handle.name)
    try:
        return [_view(block, place).copy() for place in handle.places]
    finally:
        block.close()


def free_arrays(handle: ArraysHandle) -> None:
    """Free the block of shared arrays, unless it was freed before.

    Args:
        handle: Their handle.
    """
    with suppress(FileNotFoundError):
        block = SharedMemory(handle.name)
        block.close()
        block.unlink()


def _reserve(block: SharedMemory) -> None:
    """Reserve the memory of a block: without it, the first byte that is written would kill the process."""
    descriptor = getattr(block, "_fd", -1)
    if descriptor < 0 or not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(descriptor, 0, block.size)
    except OSError as error:
        block.close()
        block.unlink()
        raise OSError(
            error.errno,
            f"{block.size:,} bytes of shared memory cannot be allocated ({error.strerror}); "
            "enlarge /dev/shm, or use fewer --workers or a smaller --shard-size",
        ) from None


def _view(block: SharedMemory, place: tuple[str, tuple[int, ...], int]) -> np.ndarray:
    kind, shape, offset = place
    return np.ndarray(shape, kind, block.buf, offset)
