"""Placement of two rows of words so that linked words are as close as order and sizes allow.

With one row fixed, the sum of the distances between each word of the other and its partners is minimised over
all positions that keep the order and do not overlap: an isotonic regression, solved exactly by pooling
neighbours. Distances instead of their squares keep a few words that have moved far from pulling the others
aside: most links are upright, and links that cross stand out. The rows alternate. Finally, gaps between parts
of the sentences that no link crosses are closed. `layout.js` has the same functions for pages; the tests
compare them.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from math import inf
from statistics import median_low
from typing import NamedTuple

TOLERANCE = 1e-6  # pixels; smaller gaps are rounding errors
ROUNDS = 6  # another one made the links of random pairs shorter by less than a pixel


class _Pool(NamedTuple):
    """Adjacent words with the positions of their partners; nulls have none and follow the others."""

    partners: list[float]
    default: float  # shift if none of them has a partner
    size: int

    @property
    def shift(self) -> float:
        return median_low(self.partners) if self.partners else self.default


def place_words(
    source: Sequence[float],
    target: Sequence[float],
    pairs: Iterable[tuple[int, int]],
    gap: float,
    room: float = inf,
) -> tuple[list[float], list[float]]:
    """Return the centres of the words of both rows, given their sizes; the leftmost edge is at 0.

    Both rows stay within the room, unless their words alone need more.
    """
    pairs = list(pairs)
    swapped = [(j, i) for i, j in pairs]
    first, second = _offsets(source, gap), _offsets(target, gap)
    above, below = (max(room - sum(row) - gap * (len(row) - 1), 0.0) for row in (source, target))
    for _ in range(ROUNDS if pairs else 0):
        second = _pull_towards(first, swapped, second, _offsets(target, gap), below)
        first = _pull_towards(second, pairs, first, _offsets(source, gap), above)
    for i, j in _find_cuts(pairs, _find_gaps(first, source, gap), _find_gaps(second, target, gap)):
        free = min(_compute_gap(first, source, i, gap), _compute_gap(second, target, j, gap))
        if TOLERANCE < free < inf:
            first[i:] = [x - free for x in first[i:]]
            second[j:] = [x - free for x in second[j:]]
    edges = [
        x - size / 2
        for xs, sizes in ((first, source), (second, target))
        for x, size in zip(xs, sizes, strict=True)
    ]
    left = min(edges, default=0.0)
    return [x - left for x in first], [x - left for x in second]


def _offsets(sizes: Sequence[float], gap: float) -> list[float]:
    """Return the centres of the words at minimum distance."""
    middles, edge = [], 0.0
    for size in sizes:
        middles.append(edge + size / 2)
        edge += size + gap
    return middles


def _find_cuts(
    pairs: Iterable[tuple[int, int]], before_source: Sequence[int], before_target: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Yield positions, before source word i and target word j, that no link crosses."""
    linked = sorted(pairs)
    # The largest target word of the links before each, and the smallest of the links after.
    lasts = [-1, *accumulate((j for _, j in linked), max)]
    nexts = [*accumulate((j for _, j in reversed(linked)), min, initial=inf)][::-1]
    for i in before_source:
        k = bisect_left(linked, (i, 0))
        yield from ((i, j) for j in before_target if lasts[k] < j <= nexts[k])


def _find_gaps(middles: Sequence[float], sizes: Sequence[float], gap: float) -> list[int]:
    """Return the words with a gap before them, and both ends."""
    return [k for k in range(len(middles) + 1) if _compute_gap(middles, sizes, k, gap) > TOLERANCE]


def _compute_gap(middles: Sequence[float], sizes: Sequence[float], k: int, gap: float) -> float:
    """Return how much closer word k could be to the word before it."""
    if not 0 < k < len(middles):
        return inf
    return middles[k] - middles[k - 1] - (sizes[k] + sizes[k - 1]) / 2 - gap


def _pull_towards(
    others: Sequence[float],
    pairs: Iterable[tuple[int, int]],
    now: Sequence[float],
    offsets: Sequence[float],
    slack: float = inf,
) -> list[float]:
    """Return the best positions of a row whose partners are at `others`; `pairs` are (word, partner).

    A finite slack bounds the row: no word is before its offset, or further behind it than the slack.
    """
    partners: dict[int, list[float]] = {}
    for word, partner in pairs:
        partners.setdefault(word, []).append(others[partner])
    # With the minimum offsets subtracted, words that do not overlap are numbers that do not decrease.
    pools: list[_Pool] = []
    for word, offset in enumerate(offsets):
        pool = _Pool([near - offset for near in partners.get(word, [])], now[word] - offset, 1)
        while pools and pools[-1].shift >= pool.shift:
            before = pools.pop()
            pool = _Pool(before.partners + pool.partners, before.default, before.size + pool.size)
        pools.append(pool)
    shifts = [pool.shift for pool in pools for _ in range(pool.size)]
    if slack < inf:
        shifts = [min(max(shift, 0.0), slack) for shift in shifts]  # the best within bounds, too
    return [offset + shift for offset, shift in zip(offsets, shifts, strict=True)]
