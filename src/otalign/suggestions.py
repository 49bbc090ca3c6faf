"""Suggestions for names that were probably misspelled."""

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches
from pathlib import PurePath

CUTOFF = 0.7  # similarity of two names, as difflib computes it
MOST = 5  # names that are compared closely


def find_similar(name: str, names: Iterable[str]) -> str | None:
    """Return the most similar of some names, or None if none is similar enough.

    Names must also be similar without the dashes of an option and the suffix of a file.

    Args:
        name: The name that was given.
        names: The names that there are.

    Example:
        >>> find_similar("mtrf", ["msr-rte", "mtref"])
        'mtref'
    """
    close = get_close_matches(name, list(names), MOST, CUTOFF)
    core = _strip(name)
    return next(
        (match for match in close if SequenceMatcher(None, core, _strip(match)).ratio() >= CUTOFF), None
    )


def _strip(name: str) -> str:
    return PurePath(name).stem.lstrip("-")


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
