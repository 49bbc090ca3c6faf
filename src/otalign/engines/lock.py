"""A lock that admits one run at a time to a folder; the system releases it however the process ends."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK = ".lock"  # never removed: another run could still hold the lock of a removed file
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)  # errors of file systems without locks


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder.

    On NFS, Linux requests it from the server, so that it works between machines. On a file system without
    locks (some FUSE mounts, Lustre without `flock`) the run continues without one. Windows locks a byte.

    Args:
        folder: A folder that exists.

    Raises:
        ValueError: If another process holds it.
    """
    with (folder / LOCK).open("ab") as file:
        try:
            _lock(file.fileno())
        except (BlockingIOError, PermissionError):
            raise ValueError(
                f"another run is writing into {folder}; wait until it has ended, or choose another folder"
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
