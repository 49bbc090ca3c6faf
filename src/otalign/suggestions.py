"""Suggestions for names that were probably misspelled."""

from collections.abc import Iterable
from difflib import get_close_matches

CUTOFF = 0.7  # similarity of two names, as difflib computes it


def find_similar(name: str, names: Iterable[str]) -> str | None:
    """Return the most similar of some names, or None if none is similar enough.

    Args:
        name: The name that was given.
        names: The names that there are.

    Example:
        >>> find_similar("mtrf", ["msr-rte", "mtref"])
        'mtref'
    """
    return next(iter(get_close_matches(name, list(names), 1, CUTOFF)), None)


def suggest(name: str, names: Iterable[str]) -> str:
    """Return the end of an error message, a question about the name that was probably meant, or nothing.

    Args:
        name: The name that was given.
        names: The names that there are.

    Example:
        >>> f"there is no corpus mtrf{suggest('mtrf', ['mtref'])}"
        'there is no corpus mtrf; did you mean mtref?'
    """
    similar = find_similar(name, names)
    return f"; did you mean {similar}?" if similar else ""
