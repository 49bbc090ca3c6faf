"""Break two sentences into lines together, so that linked words stay in the same line.

`layout.js` has the same functions for pages; the tests compare them.
"""

from collections.abc import Iterable, Sequence
from itertools import product
from math import inf
from typing import NamedTuple

import numpy as np

FULL_LINE = 2.0  # an empty line costs as much as this number of links from one line to another


class LineRanges(NamedTuple):
    """The words of a line, as ranges of indices."""

    source: range
    target: range


def break_lines(
    source: Sequence[float],
    target: Sequence[float],
    pairs: Iterable[tuple[int, int]],
    gap: float,
    room: float,
) -> list[LineRanges]:
    """Break two sentences into lines.

    Each line ends where the fewest links lead from it to later lines, counted against the room that is left.

    Args:
        source: Widths of the source words.
        target: Widths of the target words.
        pairs: Linked words.
        gap: Least distance between two words.
        room: Width of a line. A word that is wider gets a line of its own.

    Returns:
        The lines in order.
    """
    linked = np.zeros((len(source), len(target)), dtype=int)
    for pair in pairs:
        linked[pair] = 1
    lines: list[LineRanges] = []
    i = j = 0
    while i < len(source) or j < len(target):
        end, other_end = _choose_ends(linked[i:, j:], source[i:], target[j:], gap, room)
        lines.append(LineRanges(range(i, i + end), range(j, j + other_end)))
        i, j = i + end, j + other_end
    return lines


def _choose_ends(
    linked: np.ndarray, source: Sequence[float], target: Sequence[float], gap: float, room: float
) -> tuple[int, int]:
    """Return how many words of each side the next line takes: of one side, at least half of what fits."""
    above, below = _find_ends(source, gap, room), _find_ends(target, gap, room)
    if above.whole and below.whole:
        return len(source), len(target)
    before = np.zeros((len(source) + 1, len(target) + 1), dtype=int)
    before[1:, 1:] = linked.cumsum(0).cumsum(1)
    best, chosen = inf, (0, 0)
    for i, j in product(above.ends, below.ends):
        if i < above.least and j < below.least:
            continue
        cut = before[i, -1] + before[-1, j] - 2 * before[i, j]
        cost = cut + FULL_LINE * (above.ends[i] + below.ends[j])
        if cost < best:
            best, chosen = cost, (i, j)
    return chosen


class _Ends(NamedTuple):
    """The possible ends of a row, last first, with the share of the row that each leaves empty.

    A sentence whose rest fits may end anywhere at no cost, but does not fill a line.
    """

    ends: dict[int, float]
    least: float  # number of words that fill half of a line
    whole: bool  # whether the rest of the sentence fits


def _find_ends(widths: Sequence[float], gap: float, room: float) -> _Ends:
    edges, edge = [0.0], 0.0
    for width in widths:
        edge += width + gap
        if edge - gap > room and len(edges) > 1:
            break
        edges.append(edge)
    last = len(edges) - 1
    if last == len(widths):
        return _Ends(dict.fromkeys(range(last, -1, -1), 0.0), inf, True)
    empty = {end: max(1 - max(edges[end] - gap, 0.0) / room, 0.0) for end in range(last, -1, -1)}
    return _Ends(empty, last // 2 + 1, False)
