"""The links of many pairs as arrays, which are fast to create, send and write.

With Python objects for tens of thousands of pairs, garbage collection would take most of the time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np

from otalign.alignment import Alignment, Link
from otalign.collector import pause_collection
from otalign.text.words import Pair

DIGITS = 4  # digits of scores and confidences
UNITS = 10**DIGITS
SHARES = (np.arange(UNITS + 1) / UNITS).tolist()  # the same floats as the decimals that are written
MAKE_LINK = partial(tuple.__new__, Link)  # from a tuple, twice as fast as `Link` itself
NONE = np.zeros(0, np.int32)  # no word indices
BLOCK = 256  # pairs whose values are created together


class PairLinks(NamedTuple):
    """Links of one pair, and the null confidence of each word."""

    links: tuple[Link, ...]
    null_confidences: tuple[tuple[float, ...], tuple[float, ...]]  # source and target words

    @classmethod
    def empty(cls, n: int, m: int) -> "PairLinks":
        """Return the links of a pair with an empty side: all words of the other side are null."""
        return cls((), ((1.0,) * n, (1.0,) * m))


@dataclass(frozen=True, eq=False)
class LinkArrays:
    """Links of consecutive pairs as arrays.

    Attributes:
        starts: Index of the first link of each pair, and the number of links, (pairs + 1,).
        source: Source word of each link, from 0 in its pair.
        target: Target word of each link.
        weights: Weight of each link, in units of 1 / `UNITS`.
        word_starts: Number of the first word of each sentence, and the number of words, (2 · pairs + 1,).
        nulls: Confidence of each word that it has no link, in the same units, (words,).
    """

    starts: np.ndarray
    source: np.ndarray
    target: np.ndarray
    weights: np.ndarray
    word_starts: np.ndarray
    nulls: np.ndarray

    def __iter__(self) -> Iterator[PairLinks]:
        for first in range(0, len(self.starts) - 1, BLOCK):
            with pause_collection():
                block = [*self._make_links(first, first + BLOCK)]
            yield from block

    def _make_links(self, first: int, end: int) -> Iterator[PairLinks]:
        """Yield the links of some pairs."""
        starts, words = self.starts[first : end + 1], self.word_starts[2 * first : 2 * end + 1]
        link_slice, word_slice = slice(starts[0], starts[-1]), slice(words[0], words[-1])
        weights, nulls = _to_shares(self.weights[link_slice]), _to_shares(self.nulls[word_slice])
        cells = zip(self.source[link_slice].tolist(), self.target[link_slice].tolist(), weights, strict=True)
        links = list(map(MAKE_LINK, cells))
        places, sides = (starts - starts[0]).tolist(), (words - words[0]).tolist()
        for k, (start, stop) in enumerate(pairwise(places)):
            a, b, c = sides[2 * k : 2 * k + 3]
            yield PairLinks(tuple(links[start:stop]), (tuple(nulls[a:b]), tuple(nulls[b:c])))

    def __getitem__(self, pair: int) -> PairLinks:
        """Return the links of one pair."""
        link_slice = slice(*self.starts[pair : pair + 2])
        a, b, c = self.word_starts[2 * pair : 2 * pair + 3]
        weights, source, target = (
            _to_shares(units) for units in (self.weights[link_slice], self.nulls[a:b], self.nulls[b:c])
        )
        links = map(Link, self.source[link_slice].tolist(), self.target[link_slice].tolist(), weights)
        return PairLinks(tuple(links), (tuple(source), tuple(target)))

    def find_nulls(self) -> Iterator[list[int]]:
        """Yield the words of each sentence that have no link."""
        starts, counts = self.word_starts, np.diff(self.starts)
        linked = np.zeros(len(self.nulls), bool)
        linked[np.repeat(starts[:-1:2], counts) + self.source] = True
        linked[np.repeat(starts[1::2], counts) + self.target] = True
        unlinked = np.flatnonzero(~linked)
        ends = np.searchsorted(unlinked, starts)
        unlinked -= np.repeat(starts[:-1], np.diff(ends))
        words = unlinked.tolist()
        return (words[first:end] for first, end in pairwise(ends.tolist()))

    def replace(self, changes: Mapping[int, PairLinks]) -> "LinkArrays":
        """Return a copy in which some pairs, given by index, have other links."""
        pairs = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        unchanged = ~np.isin(pairs, list(changes))
        parts = [(list(range(len(self.starts) - 1)), self._select(unchanged, pairs))]
        parts += [([k], LinkArrays.from_pair(links)) for k, links in changes.items()]
        return LinkArrays.join(parts, self.word_starts)

    @classmethod
    def from_pair(cls, pair_links: PairLinks) -> "LinkArrays":
        """Return the links of one pair as arrays."""
        links, nulls = pair_links
        source, target = (np.array([link[side] for link in links], NONE.dtype) for side in (0, 1))
        weights = to_units(np.array([link.weight for link in links], float))
        words = add_up(np.array([len(side) for side in nulls]))
        confidences = to_units(np.array([*nulls[0], *nulls[1]], float))
        return cls(np.array([0, len(links)]), source, target, weights, words, confidences)

    def _select(self, mask: np.ndarray, pairs: np.ndarray) -> "LinkArrays":
        """Return a copy with some of the links, given the pair of each link."""
        counts = np.bincount(pairs[mask], minlength=len(self.starts) - 1)
        source, target, weights = self.source[mask], self.target[mask], self.weights[mask]
        return LinkArrays(add_up(counts), source, target, weights, self.word_starts, self.nulls)

    @classmethod
    def join(
        cls, parts: Iterable[tuple[Sequence[int], "LinkArrays"]], word_starts: np.ndarray
    ) -> "LinkArrays":
        """Join the links of batches.

        Args:
            parts: Numbers of the pairs of each batch, and their links. A pair in none has no links.
            word_starts: Number of the first word of each sentence of all pairs, and the number of words.
        """
        parts = list(parts)
        counts = np.zeros(len(word_starts) // 2, np.int64)
        nulls = np.full(int(word_starts[-1]), UNITS, np.uint16)
        for members, part in parts:
            numbers = np.asarray(members, np.int64)
            counts[numbers] = np.diff(part.starts)
            sentences = (2 * numbers[:, None] + (0, 1)).reshape(-1)
            shifts = word_starts[sentences] - part.word_starts[:-1]
            nulls[np.repeat(shifts, np.diff(part.word_starts)) + np.arange(len(part.nulls))] = part.nulls
        pairs = [np.repeat(members, np.diff(part.starts)) for members, part in parts]
        order = np.argsort(np.concatenate([np.zeros(0, np.int64), *pairs]), kind="stable")
        source, target = (
            np.concatenate([NONE, *(getattr(part, name) for _, part in parts)], dtype=NONE.dtype)[order]
            for name in ("source", "target")
        )
        weights = np.concatenate([nulls[:0], *(part.weights for _, part in parts)])[order]
        return cls(add_up(counts), source, target, weights, word_starts, nulls)


class LinkedPairs(NamedTuple):
    """Consecutive pairs, and their links.

    Attributes:
        pairs: Source and target of each pair.
        links: Their links.
    """

    pairs: Iterable[Pair]
    links: LinkArrays

    def make_alignments(self) -> Iterator[Alignment]:
        """Yield the alignments of the pairs."""
        alignments = map(make_alignment, self.pairs, self.links)
        while True:
            with pause_collection():
                block = list(islice(alignments, BLOCK))
            if not block:
                return
            yield from block


def make_alignment(pair: Pair, pair_links: PairLinks) -> Alignment:
    """Make the alignment of a pair from its links."""
    source, target = pair
    links, nulls = pair_links
    return Alignment.from_valid(source.words, target.words, links, source.spans, target.spans, *nulls)


def add_up(counts: np.ndarray) -> np.ndarray:
    """Return where each of several parts begins, given their sizes, followed by the sum of the sizes."""
    return np.concatenate([[0], np.cumsum(counts)])


def to_units(shares: np.ndarray) -> np.ndarray:
    """Return shares from 0 to 1 in units of 1 / `UNITS`, rounded."""
    return np.rint(shares.astype(float) * UNITS).astype(np.uint16)


def _to_shares(units: np.ndarray) -> list[float]:
    return list(map(SHARES.__getitem__, units.tolist()))
