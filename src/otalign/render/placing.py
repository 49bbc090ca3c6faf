"""Two rows of words placed so that linked words stand as near each other as order and sizes allow.

For one row, the other being fixed, this minimises the sum of the distances between each word and its partners
along the row, over all places at which the words keep their order and do not overlap: an isotonic regression,
solved exactly by pooling neighbours. Distances, not their squares, so that a few words that have moved far do
not pull the others askew: most links are upright, and those that cross stand out. The rows take turns.
"""

from collections.abc import Iterable, Sequence
from statistics import median_low
from typing import NamedTuple

TURNS = 6  # one more made the links of random pairs shorter by less than a pixel


class _Pool(NamedTuple):
    """Words that touch, and where their partners would have them; nulls want nothing and go along."""

    wanted: list[float]
    stay: float  # where to be if none of them has a partner
    size: int

    @property
    def shift(self) -> float:
        return median_low(self.wanted) if self.wanted else self.stay


def placed(
    source: Sequence[float], target: Sequence[float], pairs: Iterable[tuple[int, int]], gap: float
) -> tuple[list[float], list[float]]:
    """The middles of the words of both rows, from the words' sizes; the first edge of all is at 0."""
    pairs = list(pairs)
    swapped = [(j, i) for i, j in pairs]
    first, second = _offsets(source, gap), _offsets(target, gap)
    for _ in range(TURNS if pairs else 0):
        second = _drawn_to(first, swapped, second, _offsets(target, gap))
        first = _drawn_to(second, pairs, first, _offsets(source, gap))
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


def _drawn_to(
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
