"""The protocol by which long work reports its progress."""

from collections.abc import Callable

Progress = Callable[[str, int, int | None], object]
"""A function that is called with what is done, how much of it, and of how much (None if unknown)."""


def no_progress(what: str, done: int, of: int | None) -> None:
    """Ignore the progress of long work."""
