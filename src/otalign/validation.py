"""Checks of the values of alignments and settings."""

from collections.abc import Callable, Collection, Iterable, Sequence
from operator import index
from typing import Any, SupportsFloat

from otalign.text.words import Span, check_unicode


def check_words(name: str, words: Sequence[str]) -> tuple[str, ...]:
    """Return words as a tuple.

    Raises:
        TypeError: If they are not a sequence of str.
        ValueError: If a word is not Unicode text.
    """
    if isinstance(words, str) or not all(isinstance(word, str) for word in words):
        raise TypeError(f"{name} must be words, a sequence of str, got {words!r}; split a sentence at spaces")
    if not "".join(words).isascii():  # one check for all, since corpora have millions of words
        for word in words:
            check_unicode(word)
    return tuple(words)


def check_per_word(name: str, values: Iterable, check: Callable[[Any], Any], count: int) -> tuple:
    """Check each value, and that there is one for each word; return them as a tuple."""
    values = tuple(check(value) for value in values)
    if len(values) != count:
        raise ValueError(f"{name} must have one entry for each of the {count} words, got {len(values)}")
    return values


def check_span(span: Sequence[int]) -> Span:
    """Return a span (start, end) as plain integers, if it is one."""
    try:
        start, end = map(index, span)
    except (TypeError, ValueError):
        raise TypeError(f"a span must be two integers, its start and end, got {span!r}") from None
    if not 0 <= start <= end:
        raise ValueError(f"a span must be (start, end) with 0 ≤ start ≤ end, got {(start, end)}")
    return start, end


def check_confidence(value: float) -> float:
    """Return a confidence as a float, if it is between 0 and 1."""
    if not isinstance(value, SupportsFloat) or not 0 <= float(value) <= 1:
        raise ValueError(f"the confidence of a null must be a number from 0 to 1, got {value!r}")
    return float(value)


def check_list(name: str, value: Any) -> Sequence[Any]:
    """Return a value that was read as a list, if it is one."""
    if isinstance(value, list | tuple):
        return value
    raise TypeError(f"{name} must be a list, got {value!r}")


def check_index_pair(pair: Iterable[Any]) -> tuple[int, int]:
    """Return a pair of word indices as plain integers, if it is one."""
    try:
        source, target = map(index, pair)
    except (TypeError, ValueError):
        raise TypeError(f"a link must be two integers, source and target word, got {pair!r}") from None
    return source, target


def check_range(pairs: Iterable[tuple[int, int]], shape: tuple[int, int]) -> None:
    """Raise ValueError if a pair of word indices is out of range."""
    n, m = shape
    for i, j in pairs:
        if not (0 <= i < n and 0 <= j < m):
            raise ValueError(f"link {i}-{j} (from 0) is out of range for {n} source and {m} target words")


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Raise ValueError if a value is not one of the choices."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}")


def check_share(name: str, value: object) -> None:
    """Raise an error if a value is not a number from 0 to 1."""
    if not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must be from 0 to 1, got {value}")
