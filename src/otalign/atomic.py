"""Atomic file writes: a file appears under its name once all of its bytes are on disk, or not at all."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import copyfileobj
from typing import BinaryIO

TEMPORARY = ".part-"  # prefix of a file that is being written
NAME_BYTES = 200  # bytes of the name that a temporary name includes; with prefix and suffix at most 255
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # errors without a file name
OPEN_ALREADY = (
    "/dev/stdout",
    "/dev/stderr",
    "/dev/fd/",
    "/proc/",
)  # files that a process has open


@contextmanager
def open_atomic(path: Path) -> Iterator[BinaryIO]:
    """Open a binary file for writing that replaces `path` when the block ends without an error.

    The bytes go to a temporary file in the same folder, named `.part-<name>-<random>`. An error removes it
    and leaves `path` as it was; a killed process leaves it behind. A file that is replaced keeps its
    permissions, and a symbolic link stays one: the file that it points to is replaced. Anything but a regular
    file, such as a FIFO or /dev/stdout, is written directly.

    Args:
        path: The file to create or replace.

    Yields:
        The file to write to.

    Raises:
        OSError: The file cannot be written, or not completely.
    """
    if not _is_replaceable(path):
        with _name_file_in_errors(path), path.open("wb") as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    before = target.stat() if target.exists() else None
    if before and not os.access(target, os.W_OK):  # replacing a file does not check this permission
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    # Two processes may write the same file at once: Ray repeats a task that seems lost.
    name = os.fsdecode(os.fsencode(target.name)[:NAME_BYTES])
    temporary = target.with_name(f"{TEMPORARY}{name}-{os.urandom(4).hex()}")
    try:
        with _name_file_in_errors(path, temporary), temporary.open("xb") as file:
            if before:
                _copy_permissions(before, temporary)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    if os.name == "posix":  # other systems cannot open a folder, and need not
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def write_atomic(path: Path, text: str) -> None:
    """Write a text file in UTF-8 as `open_atomic` does.

    Args:
        path: The file to create or replace.
        text: All of its content.
    """
    with open_atomic(path) as file:
        file.write(text.encode())


def copy_atomic(source: Path, target: Path) -> None:
    """Copy the content of a file as `open_atomic` writes it.

    Args:
        source: The file to copy.
        target: The file to create or replace.
    """
    with source.open("rb") as original, open_atomic(target) as file:
        copyfileobj(original, file)


def _is_replaceable(path: Path) -> bool:
    """Return whether a path names a regular file, or nothing yet."""
    if str(path).startswith(OPEN_ALREADY):
        return False  # links to files that another process may be writing
    return path.is_file() or not path.exists()


@contextmanager
def _name_file_in_errors(path: Path, temporary: Path | None = None) -> Iterator[None]:
    """Make errors name the file that was to be written, instead of a temporary one or none."""
    try:
        yield
    except OSError as error:
        if error.errno in DISK_FULL or error.filename == str(temporary):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def _copy_permissions(before: os.stat_result, temporary: Path) -> None:
    """Give a new file the owner and the mode of the file that it replaces."""
    if hasattr(os, "chown"):
        with suppress(PermissionError):  # only root may give a file to another user
            os.chown(temporary, before.st_uid, before.st_gid)
    os.chmod(temporary, stat.S_IMODE(before.st_mode))
