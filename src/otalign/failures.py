"""Descriptions of exceptions, and exceptions of any type as values that can be sent to another process."""

import pickle
import re
import traceback
from typing import NamedTuple

ERRNO = re.compile(r"\[(?:Errno|WinError) -?\d+\] ")  # which says nothing to users
EXPECTED = (ValueError, OSError, ImportError)  # errors whose messages tell the user what to do


class CapturedError(NamedTuple):
    """An exception that was caught in another process."""

    error: Exception  # the exception, or a RuntimeError in place of one that cannot be pickled
    description: str  # type and message, on one line
    item: int | None = None  # index of the item that raised it, if known


def capture(error: BaseException, item: int | None = None) -> CapturedError:
    """Convert an exception into a value that can be pickled, with its traceback as a note.

    Args:
        error: The exception. It need not be picklable, nor an `Exception`: Rust panics are not.
        item: Index of the item that raised it, if known.

    Returns:
        The exception and its description, to be sent to another process.
    """
    description = describe(error)
    error.add_note("in another process:\n" + "".join(traceback.format_exception(error)))
    try:
        picklable = type(pickle.loads(pickle.dumps(error))) is type(error)
    except Exception:  # pickling calls methods of the exception's class
        picklable = False
    if picklable and isinstance(error, Exception):
        return CapturedError(error, description, item)
    return CapturedError(RuntimeError(description), description, item)


def explain_os_error(error: OSError) -> str:
    """Return the message of an error of the operating system in words, without its number.

    Args:
        error: The error.

    Example:
        >>> explain_os_error(FileNotFoundError(2, "No such file or directory", "links.txt"))
        'there is no file links.txt'
    """
    if error.filename is None or not error.strerror:
        return ERRNO.sub("", str(error))
    match error:
        case FileNotFoundError():
            return f"there is no file {error.filename}"
        case IsADirectoryError():
            return f"{error.filename} is a folder; give a file"
    return f"{error.filename}: {error.strerror[:1].lower()}{error.strerror[1:]}"


def describe(error: BaseException, *, brief: bool = False) -> str:
    """Describe an exception on one line.

    Args:
        error: The exception.
        brief: Whether to return only the first line of the message, without the type of an expected error.

    Returns:
        Type and message; the type alone if the message is empty or cannot be computed.
    """
    try:
        message = explain_os_error(error) if isinstance(error, OSError) else str(error)
    except Exception:
        message = ""
    lines = [" ".join(line.split()) for line in message.splitlines() if line.strip()]
    message = lines[0] if brief and lines else " ".join(lines)
    if brief and message and isinstance(error, EXPECTED):
        return message
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


class LanguageWarning(UserWarning):
    """The text seems to be in a language that the aligner does not know.

    Example:
        >>> import warnings
        >>> from otalign.languages import LanguageWarning
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", LanguageWarning)  # for this block alone
    """
