"""Two rows of words placed so that linked words stand as near each other as order and sizes allow.

For one row, the other being fixed, this minimises the sum of the distances between each word and its partners
along the row, over all places at which the words keep their order and do not overlap: an isotonic regression,
solved exactly by pooling neighbours. Distances, not their squares, so that a few words that have moved far do
not pull the others askew: most links are upright, and those that cross stand out. The rows take turns. Room
that they leave between parts of the sentences with no link from one to the other is closed in the end.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from math import inf
from statistics import median_low
from typing import NamedTuple

UNSEEN = 1e-6  # a pixel's part that is rounding, and no room
TURNS = 6  # one more made the links of random pairs shorter by less than a pixel


class _Pool(NamedTuple):
    """Words that touch, and where their partners would have them; nulls want nothing and go along."""

    wanted: list[float]
    stay: float  # where to be if none of them has a partner
    size: int

    @property
    def shift(self) -> float:
        return median_low(self.wanted) if self.wanted else self.stay


def place_words(
    source: Sequence[float], target: Sequence[float], pairs: Iterable[tuple[int, int]], gap: float
) -> tuple[list[float], list[float]]:
    """The middles of the words of both rows, from the words' sizes; the first edge of all is at 0."""
    pairs = list(pairs)
    swapped = [(j, i) for i, j in pairs]
    first, second = _offsets(source, gap), _offsets(target, gap)
    for _ in range(TURNS if pairs else 0):
        second = _pull_towards(first, swapped, second, _offsets(target, gap))
        first = _pull_towards(second, pairs, first, _offsets(source, gap))
    for i, j in _cuts(pairs, _loose(first, source, gap), _loose(second, target, gap)):
        room = min(_room(first, source, i, gap), _room(second, target, j, gap))
        if UNSEEN < room < inf:
            first[i:] = [x - room for x in first[i:]]
            second[j:] = [x - room for x in second[j:]]
    edges = [
        x - size / 2
        for xs, sizes in ((first, source), (second, target))
        for x, size in zip(xs, sizes, strict=True)
    ]
    left = min(edges, default=0.0)
    return [x - left for x in first], [x - left for x in second]


def _offsets(sizes: Sequence[float], gap: float) -> list[float]:
    """The middles of the words when they stand as close as they may."""
    middles, edge = [], 0.0
    for size in sizes:
        middles.append(edge + size / 2)
        edge += size + gap
    return middles


def _cuts(
    pairs: Iterable[tuple[int, int]], before_source: Sequence[int], before_target: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Of these places, before source word i and target word j, those that no link leads across."""
    linked = sorted(pairs)
    lasts = [-1, *accumulate((j for _, j in linked), max)]  # of the links up to each, the last target word
    nexts = [*accumulate((j for _, j in reversed(linked)), min, initial=inf)][
        ::-1
    ]  # and the next of the rest
    for i in before_source:
        k = bisect_left(linked, (i, 0))
        yield from ((i, j) for j in before_target if lasts[k] < j <= nexts[k])


def _loose(middles: Sequence[float], sizes: Sequence[float], gap: float) -> list[int]:
    """The words that could stand nearer to the word before them, and both ends."""
    return [k for k in range(len(middles) + 1) if _room(middles, sizes, k, gap) > UNSEEN]


def _room(middles: Sequence[float], sizes: Sequence[float], k: int, gap: float) -> float:
    """How much nearer to the word before it word k could stand."""
    if not 0 < k < len(middles):
        return inf
    return middles[k] - middles[k - 1] - (sizes[k] + sizes[k - 1]) / 2 - gap


def _pull_towards(
    others: Sequence[float], pairs: Iterable[tuple[int, int]], now: Sequence[float], offsets: Sequence[float]
) -> list[float]:
    """The best places of one row's words, whose partners stand at `others`; `pairs` are (word, partner)."""
    partners: dict[int, list[float]] = {}
    for word, partner in pairs:
        partners.setdefault(word, []).append(others[partner])
    # With the closest places subtracted, words that keep apart are numbers that do not decrease.
    pools: list[_Pool] = []
    for word, offset in enumerate(offsets):
        pool = _Pool([near - offset for near in partners.get(word, [])], now[word] - offset, 1)
        while pools and pools[-1].shift >= pool.shift:
            before = pools.pop()
            pool = _Pool(before.wanted + pool.wanted, before.stay, before.size + pool.size)
        pools.append(pool)
    shifts = [pool.shift for pool in pools for _ in range(pool.size)]
    return [offset + shift for offset, shift in zip(offsets, shifts, strict=True)]
