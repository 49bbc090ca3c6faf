"""The protocol by which long work reports its progress."""

from collections.abc import Callable

Progress = Callable[[str, int, int | None], object]
"""A function that is called with a description, the amount done, and the total (None if unknown)."""


def no_progress(description: str, done: int, total: int | None) -> None:
    """Ignore the progress of long work."""
