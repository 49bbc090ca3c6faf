"""Co-occurrences of words in sentence pairs: a parallel corpus as one flat array of integers.

Every cell (source word, target word) of every pair holds the number of a *co-occurrence*: its two word types,
numbered once for the whole corpus. A table over co-occurrences is then a flat array, which is read by one
`take` and added to by one `add.at`. Both directions share it.

Pairs are grouped by shape, so that anything that depends only on positions is computed once for each shape. A
cell takes four bytes and a co-occurrence eight; everything else is computed in pieces of bounded size.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np

Words = Sequence[str]
SentencePair = tuple[Words, Words]

BLOCK = 1 << 17  # cells to compute with at once: few enough to stay in the cache
PIECE = 1 << 22  # cells to sort at once


class Block(NamedTuple):
    """k pairs of one shape: their indices in the corpus, their words, and their co-occurrences."""

    indices: np.ndarray  # (k,)
    source: np.ndarray  # (k, n)
    target: np.ndarray  # (k, m)
    cooccurrences: np.ndarray  # (k, n, m)

    def transpose(self) -> "Block":
        """Swap source and target."""
        return Block(self.indices, self.target, self.source, self.cooccurrences.swapaxes(1, 2))


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Word types by number, in the order of their first occurrence."""

    numbers: dict[str, int]

    @classmethod
    def from_sentences(cls, sentences: Sequence[Words]) -> "Vocabulary":
        """Number the words of sentences."""
        return cls({word: k for k, word in enumerate(dict.fromkeys(w for words in sentences for w in words))})

    def __len__(self) -> int:
        return len(self.numbers)

    def encode(self, words: Words) -> list[int]:
        """Return the number of each word; an unknown word has the number after the last."""
        unknown = len(self.numbers)
        return [self.numbers.get(word, unknown) for word in words]


@dataclass(frozen=True, eq=False)
class Cooccurrences:
    """Pairs of word types that occur together, sorted; the number of one is its index here."""

    keys: np.ndarray  # source type · stride + target type, increasing
    stride: int

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def sources(self) -> np.ndarray:
        """Source type of each."""
        return (self.keys // self.stride).astype(np.int32)

    @property
    def targets(self) -> np.ndarray:
        """Target type of each."""
        return (self.keys % self.stride).astype(np.int32)

    def lookup(self, keys: np.ndarray) -> np.ndarray:
        """Return the number of each key; an unknown key has the number after the last."""
        distinct, inverse = np.unique(keys, return_inverse=True)  # a search for sorted keys is much faster
        numbers = np.searchsorted(self.keys, distinct)
        known = numbers < len(self.keys)
        known[known] = self.keys[numbers[known]] == distinct[known]
        return np.where(known, numbers, len(self.keys)).astype(np.int32)[inverse]


@dataclass(frozen=True, eq=False)
class CooccurrenceGrid:
    """Sentence pairs grouped by shape, without pairs that have an empty side."""

    size: int  # number of pairs, including those without a cell
    buckets: tuple[
        tuple[np.ndarray, np.ndarray, np.ndarray], ...
    ]  # indices (k,), source (k, n), target (k, m)

    @classmethod
    def from_pairs(
        cls, pairs: Sequence[SentencePair], source: Vocabulary, target: Vocabulary
    ) -> "CooccurrenceGrid":
        """Encode pairs and group them by shape."""
        shapes = [(len(s), len(t)) for s, t in pairs]
        order = sorted((k for k, shape in enumerate(shapes) if all(shape)), key=shapes.__getitem__)
        buckets = []
        for (n, m), group in groupby(order, key=shapes.__getitem__):
            same = list(group)
            k = max(1, BLOCK // (n * m))
            for part in (same[start : start + k] for start in range(0, len(same), k)):
                sides = (
                    np.array([vocabulary.encode(pairs[index][side]) for index in part], np.int32)
                    for side, vocabulary in enumerate((source, target))
                )
                buckets.append((np.array(part), *sides))
        return cls(len(pairs), tuple(buckets))

    def shapes(self) -> list[tuple[int, int, int]]:
        """Return (pairs, source words, target words) of each bucket."""
        return [(len(indices), s.shape[1], t.shape[1]) for indices, s, t in self.buckets]

    def keys(self, stride: int) -> Iterator[np.ndarray]:
        """Yield the keys of all cells in order, several buckets at a time."""
        piece, size = [], 0
        for _, s, t in self.buckets:
            keys = s[:, :, None].astype(np.int64) * stride + t[:, None, :]
            if piece and size + keys.size > PIECE:
                yield np.concatenate(piece)
                piece, size = [], 0
            piece.append(keys.ravel())
            size += keys.size
        if piece:
            yield np.concatenate(piece)

    def blocks(self, cells: np.ndarray) -> Iterator[Block]:
        """Yield the buckets with the co-occurrences of their cells, which `cells` holds in order."""
        start = 0
        for indices, s, t in self.buckets:
            shape = (*s.shape, t.shape[1])
            end = start + shape[0] * shape[1] * shape[2]
            yield Block(indices, s, t, cells[start:end].reshape(shape))
            start = end


def find_cooccurrences(grid: CooccurrenceGrid, stride: int) -> tuple[Cooccurrences, np.ndarray]:
    """Find all co-occurrences of a corpus, and that of each of its cells, in order."""
    # Each piece is sorted by itself; then the few distinct keys of the pieces are merged.
    distinct_keys, inverses = [], []
    for keys in grid.keys(stride):
        distinct, inverse = np.unique(keys, return_inverse=True)
        distinct_keys.append(distinct)
        inverses.append(inverse.astype(np.int32))
    cooccurrences = Cooccurrences(_merge_distinct(distinct_keys), stride)
    cells = np.empty(sum(map(len, inverses)), np.int32)
    start = 0
    for distinct, inverse in zip(distinct_keys, inverses, strict=True):
        numbers = np.searchsorted(cooccurrences.keys, distinct).astype(np.int32)
        np.take(numbers, inverse, out=cells[start : start + len(inverse)])
        start += len(inverse)
    return cooccurrences, cells


def _merge_distinct(arrays: list[np.ndarray]) -> np.ndarray:
    """Return all values once, in increasing order."""
    # np.unique would hash them, fifty times as slow as sorting keys that are sorted piece by piece.
    values = np.concatenate([np.empty(0, np.int64), *arrays])
    values.sort()
    return values[np.diff(values, prepend=-1) > 0]
