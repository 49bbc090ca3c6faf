"""Exceptions on their way from one process to another: of any type, also those that cannot be pickled."""

import pickle
import traceback
from typing import NamedTuple

EXPECTED = (ValueError, OSError, ImportError)  # what the user can mend; their messages say how


class CapturedError(NamedTuple):
    """An exception that was caught in another process."""

    error: Exception  # the exception itself, or a RuntimeError in place of one that does not travel
    description: str  # type and message, on one line
    place: int | None = None  # index of the item that it was raised for, where that is known


def capture(error: BaseException, place: int | None = None) -> CapturedError:
    """Make an exception fit to be pickled, with its traceback as a note.

    Args:
        error: The exception, which need not be picklable, nor an `Exception`: Rust panics are not.
        place: Index of the item that it was raised for, where that is known.

    Returns:
        What to send to the other process.
    """
    description = describe(error)
    error.add_note("in another process:\n" + "".join(traceback.format_exception(error)))
    try:
        travels = type(pickle.loads(pickle.dumps(error))) is type(error)
    except Exception:  # pickling runs whatever the exception's class says
        travels = False
    if travels and isinstance(error, Exception):
        return CapturedError(error, description, place)
    return CapturedError(RuntimeError(description), description, place)


def describe(error: BaseException) -> str:
    """Return the type and the message of an exception on one line; a message that fails is left out."""
    try:
        message = " ".join(str(error).split())
    except Exception:
        message = ""
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
