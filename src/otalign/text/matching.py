"""Matching of identical sentences of two texts, in the same order, as in a diff, or in any order."""

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Sequence

from otalign.text.sentences import Document


def match_identical(old: Document, new: Document, key: Callable[[str], str] = str) -> dict[int, int]:
    """Match identical sentences, as many as possible in the same order.

    Args:
        old: The old text.
        new: The new text.
        key: Function whose value is the same for sentences that count as identical.

    Returns:
        The index of a new sentence by the index of the old one.
    """
    first, second = ([key(normalize_spaces(text)) for text in side.sentences] for side in (old, new))
    start = _count_common_prefix(first, second)
    end = _count_common_prefix(first[start:][::-1], second[start:][::-1])
    same = {k: k for k in range(start)}
    same |= {len(first) - k: len(second) - k for k in range(1, end + 1)}
    return same | {
        start + i: start + j
        for i, j in _longest_common_subsequence(
            first[start : len(first) - end], second[start : len(second) - end]
        )
    }


def match_anywhere(old: Document, new: Document, key: Callable[[str], str] = str) -> dict[int, int]:
    """Match identical sentences: as many as possible in the same order, then the others wherever they are.

    Args:
        old: The old text.
        new: The new text.
        key: Function whose value is the same for sentences that count as identical.

    Returns:
        The index of a new sentence by the index of the old one.
    """
    same = match_identical(old, new, key)
    taken = set(same.values())
    moved: dict[str, deque[int]] = {}
    for j, text in enumerate(new.sentences):
        if j not in taken:
            moved.setdefault(key(normalize_spaces(text)), deque()).append(j)
    for i, text in enumerate(old.sentences):
        if i not in same and (places := moved.get(key(normalize_spaces(text)))):
            same[i] = places.popleft()
    return same


def _count_common_prefix(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the common prefix."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((k for k, (a, b) in pairs if a != b), min(len(first), len(second)))


def _longest_common_subsequence(first: Sequence[str], second: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the longest common subsequence from its end, by the algorithm of Hunt and Szymanski."""
    positions: dict[str, list[int]] = {}
    for j in reversed(range(len(second))):
        positions.setdefault(second[j], []).append(j)
    ends: list[int] = []  # smallest end of a subsequence of length 1, 2, …
    chains: list[tuple] = []  # those subsequences, as linked lists
    for i, text in enumerate(first):
        for j in positions.get(text, ()):
            k = bisect_left(ends, j)
            ends[k : k + 1] = [j]
            chains[k : k + 1] = [(i, j, chains[k - 1] if k else None)]
    chain = chains[-1] if chains else None
    while chain:
        i, j, chain = chain
        yield i, j


def normalize_spaces(text: str) -> str:
    """Return the text with each run of white space replaced by a space."""
    return " ".join(text.split())
