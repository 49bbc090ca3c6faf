"""One run at a time in a folder, by a lock that the system releases however the process ends."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK = ".lock"  # stays behind, empty: to remove it would let a run lock a file that another no longer sees
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)  # of a file system that has none


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder that exists.

    On NFS, Linux asks the server for it, so it holds between machines. On a file system without locks (some
    FUSE mounts, Lustre without `flock`) the run goes on without one. Windows locks a byte of the file.

    Raises:
        ValueError: Another process holds it.
    """
    with (folder / LOCK).open("ab") as file:
        try:
            _lock(file.fileno())
        except (BlockingIOError, PermissionError):
            raise ValueError(
                f"another run is writing into {folder}; wait until it has ended, or give another folder"
            ) from None
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
        yield  # closing the file releases it


if os.name == "nt":
    import msvcrt

    def _lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # pyright: ignore[reportAttributeAccessIssue]

else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
