"""Gold → what a step of training reads, split into subwords once and then only put together.

All inputs of a set lie in a few padded arrays, so that a batch is a handful of array operations however many
pairs it has, and a GPU does not wait for it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from otalign.alignment import Gold, Level
from otalign.encoders import Encoder, Pairing
from otalign.encoders.windows import Piece
from otalign.words import joined

LEVELS: tuple[Level, ...] = ("s", "s+p")
POOL = 16  # batches whose pairs are sorted by length together: enough for little padding, little for order


@dataclass(frozen=True, eq=False)
class Batch:
    """Pairs as the encoder reads them, how its states make words, and the links to learn."""

    ids: np.ndarray  # (I, L), and
    mask: np.ndarray  # 1 where there is a subword, and
    types: np.ndarray
    places: np.ndarray  # (E,): in the states of all inputs, end to end, …
    words: np.ndarray  # (E,): … a part of which word of all, 2 · B · W of them, …
    shares: np.ndarray  # (E,): … and how much of it
    lengths: np.ndarray  # (B, 2), in words
    links: np.ndarray  # (levels, B, N, M), 1 where there is one; with a teacher, how likely it is
    known: np.ndarray  # (levels, B), 1 where the links of that level are known; else what they count
    pairs: np.ndarray  # (B,), their numbers in the set


class PairSet:
    """Pairs with their links at each level, ready for an encoder.

    `known` says of each pair whether its links are known at each level, (pairs, levels); all are if it is
    not given. With both directions each pair is there twice, number k + P of P being k seen from the target.

    `taught` is what a teacher says of the links of each pair, (levels, n, m). It is mixed with the gold
    and has the share `teaching` of what is learned; where links are not known it stands alone, and counts
    that much.
    """

    def __init__(
        self,
        golds: Sequence[Gold],
        encoder: Encoder,
        pairing: Pairing = "joint",
        known: np.ndarray | None = None,
        both_directions: bool = False,
        taught: Sequence[np.ndarray] | None = None,
        teaching: float = 0.0,
    ):
        known = np.ones((len(golds), len(LEVELS)), dtype=bool) if known is None else known
        if both_directions:
            golds, known = [*golds, *(gold.transposed() for gold in golds)], np.concatenate([known, known])
            taught = taught and [*taught, *(one.swapaxes(1, 2) for one in taught)]
        self.golds, self.known = golds, known
        self.taught, self.teaching = taught, teaching
        self.directions = 1 + both_directions
        self.lengths = np.array([gold.shape for gold in golds], dtype=np.int64).reshape(-1, 2)
        sentences = [joined(words) for gold in golds for words in (gold.source, gold.target)]
        inputs = list(encoder.as_inputs(sentences, pairing))
        owners = [one.pieces[0].sentence // 2 for one in inputs]  # inputs come in the order of the pairs
        self.first = np.searchsorted(owners, np.arange(len(golds) + 1))  # input of each pair
        self.sizes = np.array([len(one.ids) for one in inputs], dtype=np.int64)
        self.ids = _padded([one.ids for one in inputs], np.int64, encoder.pad)
        self.types = _padded([one.types for one in inputs], np.int64)
        parts = [np.concatenate([_parts(piece) for piece in one.pieces], axis=1) for one in inputs]
        self.parts = np.array([part.shape[1] for part in parts], dtype=np.int64)
        self.places, self.sides, self.words = (
            _padded([part[k] for part in parts], np.int64) for k in range(3)
        )
        self.shares = _padded([part[3] for part in parts], np.float32)
        self.links = [
            tuple(np.array(sorted(gold.pairs(level)), dtype=np.int64).reshape(-1, 2) for level in LEVELS)
            for gold in golds
        ]

    def __len__(self) -> int:
        return len(self.golds) // self.directions

    def batch(self, pairs: np.ndarray) -> Batch:
        """These pairs, by their numbers."""
        counts = self.first[pairs + 1] - self.first[pairs]
        owner = np.repeat(np.arange(len(pairs)), counts)
        inputs = np.concatenate([np.arange(*self.first[k : k + 2].tolist()) for k in pairs])
        sizes, lengths = self.sizes[inputs], self.lengths[pairs]
        longest, width = int(sizes.max()), int(lengths.max())
        there = np.arange(self.places.shape[1]) < self.parts[inputs, None]
        places = self.places[inputs] + longest * np.arange(len(inputs))[:, None]
        words = self.words[inputs] + width * (2 * owner[:, None] + self.sides[inputs])
        links = np.zeros((len(LEVELS), len(pairs), *lengths.max(axis=0)), dtype=np.float32)
        for b, pair in enumerate(pairs):
            for level, cells in enumerate(self.links[pair]):
                links[level, b, cells[:, 0], cells[:, 1]] = 1
        known = self.known[pairs].T  # (levels, B)
        if self.taught is not None:
            share = np.where(known, self.teaching, 1).astype(np.float32)
            links += share[:, :, None, None] * (_together(self.taught, pairs, links.shape) - links)
            known = np.where(known, 1, self.teaching)
        return Batch(
            self.ids[inputs, :longest],
            (np.arange(longest) < sizes[:, None]).astype(np.int64),
            self.types[inputs, :longest],
            places[there],
            words[there],
            self.shares[inputs][there],
            lengths,
            links,
            known.astype(np.float32),
            pairs,
        )

    def shuffled(self, size: int, random: np.random.Generator) -> list[np.ndarray]:
        """The numbers of all pairs once, each in one direction, `size` at a time, at random but for this:
        pairs of like length come together."""
        order = random.permutation(len(self)) + len(self) * random.integers(self.directions, size=len(self))
        order = self._alignable(order)
        return pooled(order, self._size(order), size, random)

    def by_length(self, subwords: int) -> Iterator[Batch]:
        """All pairs as they are, the longest first, so many at a time as have about so many subwords."""
        order = self._alignable(np.arange(len(self)))
        order = order[np.argsort(-self._size(order), kind="stable")]
        while len(order):
            count = max(1, subwords // int(self._size(order[:1])[0]))
            yield self.batch(order[:count])
            order = order[count:]

    def _alignable(self, pairs: np.ndarray) -> np.ndarray:
        """Those with words on both sides: in the others there is nothing to learn or to find."""
        return pairs[self.lengths[pairs].min(axis=1) > 0]

    def _size(self, pairs: np.ndarray) -> np.ndarray:
        return self.sizes[self.first[pairs]]


def pooled(order: np.ndarray, sizes: np.ndarray, size: int, random: np.random.Generator) -> list[np.ndarray]:
    """What is in an order, `size` at a time: those of like sizes together, in batches that come at random."""
    batches = []
    for start in range(0, len(order), POOL * size):
        pool = slice(start, start + POOL * size)
        ranked = order[pool][np.argsort(sizes[pool], kind="stable")]
        batches += [ranked[k : k + size] for k in range(0, len(ranked), size)]
    return [batches[k] for k in random.permutation(len(batches))]


def _together(taught: Sequence[np.ndarray], pairs: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """What is taught of these pairs, (levels, B, N, M); 0 where there is no word."""
    made = np.zeros(shape, dtype=np.float32)
    for b, pair in enumerate(pairs):
        _, n, m = taught[pair].shape
        made[:, b, :n, :m] = taught[pair]
    return made


def _parts(piece: Piece) -> np.ndarray:
    """Places in the input, the side and the word that each is part of, and how much of it, (4, parts)."""
    side = np.full(len(piece.words), piece.sentence % 2)
    return np.stack([piece.places, side, piece.words, piece.weights])


def _padded(rows: Sequence[Sequence], dtype: type, fill: int = 0) -> np.ndarray:
    width = max(map(len, rows), default=0)
    made = np.full((len(rows), width), fill, dtype=dtype)
    for k, row in enumerate(rows):
        made[k, : len(row)] = row
    return made
