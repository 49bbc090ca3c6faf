"""Which words meet in which pairs: a parallel corpus as one flat array of integers.

Every cell (source word, target word) of every pair holds the number of its *meeting*: the two word types,
counted once for the whole corpus. A table over meetings is then a flat array, reading it is one `take` and
adding to it one `add.at`; and since a meeting is the same seen from either side, both directions share it.

Pairs are kept by shape, so that whatever depends on positions only is made once for each shape. A cell takes
four bytes and a meeting eight; all else here is made in pieces of bounded size.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np

Words = Sequence[str]
SentencePair = tuple[Words, Words]

BLOCK = 1 << 17  # cells that are computed with at once: small enough to stay in the cache
PIECE = 1 << 22  # cells whose meetings are sorted at once


class Block(NamedTuple):
    """k pairs of one shape: their places in the corpus, their words, and the meetings of their cells."""

    places: np.ndarray  # (k,)
    source: np.ndarray  # (k, n)
    target: np.ndarray  # (k, m)
    meetings: np.ndarray  # (k, n, m)

    def transpose(self) -> "Block":
        return Block(self.places, self.target, self.source, self.meetings.swapaxes(1, 2))


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Word types by number, in the order of their first use."""

    numbers: dict[str, int]

    @classmethod
    def of(cls, sentences: Sequence[Words]) -> "Vocabulary":
        return cls({word: k for k, word in enumerate(dict.fromkeys(w for words in sentences for w in words))})

    def __len__(self) -> int:
        return len(self.numbers)

    def encode(self, words: Words) -> list[int]:
        """The number of each word; of an unknown one, one beyond the last."""
        unknown = len(self.numbers)
        return [self.numbers.get(word, unknown) for word in words]


@dataclass(frozen=True, eq=False)
class Meetings:
    """The pairs of word types that occur together, sorted; a meeting's number is its place here."""

    keys: np.ndarray  # source type · stride + target type, increasing
    stride: int

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def sources(self) -> np.ndarray:
        return (self.keys // self.stride).astype(np.int32)

    @property
    def targets(self) -> np.ndarray:
        return (self.keys % self.stride).astype(np.int32)

    def lookup(self, keys: np.ndarray) -> np.ndarray:
        """The number of each key; of one that was never met, one beyond the last."""
        distinct, places = np.unique(keys, return_inverse=True)  # sorted, they are found much faster
        numbers = np.searchsorted(self.keys, distinct)
        known = numbers < len(self.keys)
        known[known] = self.keys[numbers[known]] == distinct[known]
        return np.where(known, numbers, len(self.keys)).astype(np.int32)[places]


@dataclass(frozen=True, eq=False)
class CooccurrenceGrid:
    """Sentence pairs laid out by shape. Pairs with an empty side have no cells and are left out."""

    size: int  # pairs, with those left out
    buckets: tuple[
        tuple[np.ndarray, np.ndarray, np.ndarray], ...
    ]  # places (k,), source (k, n), target (k, m)

    @classmethod
    def of(cls, pairs: Sequence[SentencePair], source: Vocabulary, target: Vocabulary) -> "CooccurrenceGrid":
        shapes = [(len(s), len(t)) for s, t in pairs]
        order = sorted((k for k, shape in enumerate(shapes) if all(shape)), key=shapes.__getitem__)
        buckets = []
        for (n, m), group in groupby(order, key=shapes.__getitem__):
            same = list(group)
            k = max(1, BLOCK // (n * m))
            for part in (same[at : at + k] for at in range(0, len(same), k)):
                sides = (
                    np.array([vocabulary.encode(pairs[place][side]) for place in part], np.int32)
                    for side, vocabulary in enumerate((source, target))
                )
                buckets.append((np.array(part), *sides))
        return cls(len(pairs), tuple(buckets))

    def shapes(self) -> list[tuple[int, int, int]]:
        """(pairs, source words, target words) of each bucket."""
        return [(len(places), s.shape[1], t.shape[1]) for places, s, t in self.buckets]

    def keys(self, stride: int) -> Iterator[np.ndarray]:
        """The keys of all cells in order, a piece of several buckets at a time."""
        piece, held = [], 0
        for _, s, t in self.buckets:
            keys = s[:, :, None].astype(np.int64) * stride + t[:, None, :]
            if piece and held + keys.size > PIECE:
                yield np.concatenate(piece)
                piece, held = [], 0
            piece.append(keys.ravel())
            held += keys.size
        if piece:
            yield np.concatenate(piece)

    def blocks(self, cells: np.ndarray) -> Iterator[Block]:
        """The buckets with the meetings of their cells, which `cells` holds in order."""
        at = 0
        for places, s, t in self.buckets:
            shape = (*s.shape, t.shape[1])
            end = at + shape[0] * shape[1] * shape[2]
            yield Block(places, s, t, cells[at:end].reshape(shape))
            at = end


def meetings_of(grid: CooccurrenceGrid, stride: int) -> tuple[Meetings, np.ndarray]:
    """All meetings of a corpus, and the meeting of each of its cells, in order."""
    # Each piece is sorted alone; then the pieces' few distinct keys, sorted already, find their places.
    found, local = [], []
    for keys in grid.keys(stride):
        distinct, places = np.unique(keys, return_inverse=True)
        found.append(distinct)
        local.append(places.astype(np.int32))
    meetings = Meetings(_distinct(found), stride)
    cells = np.empty(sum(map(len, local)), np.int32)
    at = 0
    for distinct, places in zip(found, local, strict=True):
        numbers = np.searchsorted(meetings.keys, distinct).astype(np.int32)
        np.take(numbers, places, out=cells[at : at + len(places)])
        at += len(places)
    return meetings, cells


def _distinct(arrays: list[np.ndarray]) -> np.ndarray:
    """All values once, increasing."""
    # np.unique would hash them, which takes fifty times as long as sorting keys that come in sorted runs.
    values = np.concatenate([np.empty(0, np.int64), *arrays])
    values.sort()
    return values[np.diff(values, prepend=-1) > 0]
