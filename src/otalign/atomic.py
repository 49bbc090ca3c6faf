"""Atomic file writes: a file appears under its name once all of its bytes are on the disk, or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

TEMPORARY = ".part-"  # prefix of a file that is being written


@contextmanager
def open_atomic(path: Path) -> Iterator[BinaryIO]:
    """Open a binary file for writing that replaces `path` when the block ends without an error.

    The bytes go to a temporary file in the same folder, named `.part-<name>-<random>`. An error removes it
    and leaves `path` as it was; a killed process leaves it behind.

    Args:
        path: The file to create or replace.

    Yields:
        The temporary file.
    """
    # Two processes may write the same file at once: Ray repeats a task that seems lost.
    part = path.with_name(f"{TEMPORARY}{path.name}-{secrets.token_hex(4)}")
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    if os.name == "posix":  # other systems cannot open a folder, and need not
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
