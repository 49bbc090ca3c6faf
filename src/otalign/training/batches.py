"""Training pairs → what the model reads in a step: subwords, how they make words, and the links to learn."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from otalign.alignment import LEVELS
from otalign.encoders import Encoder, Pairing, PairPreparer
from otalign.encoders.windows import Input
from otalign.gold import Gold
from otalign.text.words import join_words
from otalign.training.reading import ShuffledSet

POOL = 16  # batches whose pairs are sorted by length together: enough for little padding, little for order


@dataclass(frozen=True, eq=False)
class TrainingBatch:
    """Pairs as the encoder reads them, how its states make words, and the links to learn.

    Attributes:
        ids: Subwords of the inputs, (I, L).
        mask: 1 where there is a subword, (I, L).
        types: Types of the subwords, (I, L).
        places: Places in the states of all inputs, laid end to end, (E,), …
        words: … the word that each is part of, among 2 · B · W, (E,), …
        shares: … and its share in the word's embedding, (E,).
        lengths: Words of source and target, (B, 2).
        links: Probability of a link to learn in each cell, (levels, B, N, M).
        known: How much each level of a pair counts, 0 where its links are unknown, (levels, B).
        pairs: Numbers of the pairs in their set, (B,).
    """

    ids: np.ndarray
    mask: np.ndarray
    types: np.ndarray
    places: np.ndarray
    words: np.ndarray
    shares: np.ndarray
    lengths: np.ndarray
    links: np.ndarray
    known: np.ndarray
    pairs: np.ndarray


def encode_pairs(
    reader: PairPreparer, pairs: Sequence[tuple[Sequence[str], Sequence[str]]], pairing: Pairing
) -> list[list[Input]]:
    """Split pairs into subwords: the inputs of each pair, none where it has no words."""
    sentences = [join_words(words) for pair in pairs for words in pair]
    made: list[list[Input]] = [[] for _ in pairs]
    for one in reader.as_inputs(sentences, pairing):
        first = one.pieces[0].sentence // 2
        made[first].append(one)
    return made


def collate(
    inputs: Sequence[Sequence[Input]],
    lengths: np.ndarray,
    links: np.ndarray,
    known: np.ndarray,
    pairs: np.ndarray,
    pad: int,
) -> TrainingBatch:
    """Put the inputs of pairs, with what is to be learned of them, into padded arrays."""
    flat = [(owner, one) for owner, of in enumerate(inputs) for one in of]
    sizes = np.array([len(one.ids) for _, one in flat])
    longest, width = int(sizes.max()), int(lengths.max())
    is_subword = np.arange(longest) < sizes[:, None]
    ids = np.full(is_subword.shape, pad, dtype=np.int64)
    types = np.zeros_like(ids)
    total = int(sizes.sum())
    ids[is_subword] = np.fromiter(chain.from_iterable(one.ids for _, one in flat), np.int64, total)
    types[is_subword] = np.fromiter(chain.from_iterable(one.types for _, one in flat), np.int64, total)
    pieces = [(k, owner, piece) for k, (owner, one) in enumerate(flat) for piece in one.pieces]
    counts = [len(piece.words) for _, _, piece in pieces]
    before = [k * longest for k, _, _ in pieces]
    words = [width * (2 * owner + piece.sentence % 2) for _, owner, piece in pieces]
    return TrainingBatch(
        ids,
        is_subword.astype(np.int64),
        types,
        np.concatenate([piece.places for _, _, piece in pieces]) + np.repeat(before, counts),
        np.concatenate([piece.words for _, _, piece in pieces]) + np.repeat(words, counts),
        np.concatenate([piece.weights for _, _, piece in pieces]).astype(np.float32),
        lengths,
        links,
        known,
        pairs,
    )


class PairSet(ShuffledSet):
    """Gold pairs as they are, split into subwords once: what dev sets and the peers read.

    With both directions each pair is there twice, number k + P of P being k seen from the target.
    """

    def __init__(
        self,
        golds: Sequence[Gold],
        encoder: Encoder,
        pairing: Pairing = "joint",
        both_directions: bool = False,
    ):
        self.golds = [*golds, *(gold.transpose() for gold in golds)] if both_directions else golds
        self.directions = 1 + both_directions
        self.pad = encoder.pad
        self.lengths = np.array([gold.shape for gold in self.golds], dtype=np.int64).reshape(-1, 2)
        self.inputs = encode_pairs(encoder.reader, [(g.source, g.target) for g in self.golds], pairing)
        self.sizes = np.array([len(of[0].ids) if of else 0 for of in self.inputs], dtype=np.int64)
        self.links = [
            tuple(np.array(sorted(gold.pairs(level)), dtype=np.int64).reshape(-1, 2) for level in LEVELS)
            for gold in self.golds
        ]

    def __len__(self) -> int:
        return len(self.golds) // self.directions

    def batch(self, pairs: np.ndarray) -> TrainingBatch:
        """These pairs, by their numbers."""
        lengths = self.lengths[pairs]
        links = np.zeros((len(LEVELS), len(pairs), *lengths.max(axis=0)), dtype=np.float32)
        for b, pair in enumerate(pairs):
            for level, cells in enumerate(self.links[pair]):
                links[level, b, cells[:, 0], cells[:, 1]] = 1
        known = np.ones((len(LEVELS), len(pairs)), dtype=np.float32)
        return collate([self.inputs[k] for k in pairs], lengths, links, known, pairs, self.pad)

    def shuffle(self, size: int, random: np.random.Generator) -> list[np.ndarray]:
        """The numbers of all pairs once, each in one direction, `size` at a time, at random but for this:
        pairs of like length come together."""
        order = random.permutation(len(self)) + len(self) * random.integers(self.directions, size=len(self))
        order = self._alignable(order)
        return pool_by_size(order, self.sizes[order], size, random)

    def by_length(self, subwords: int) -> Iterator[TrainingBatch]:
        """All pairs as they are, the longest first, so many at a time as have about so many subwords."""
        order = self._alignable(np.arange(len(self)))
        order = order[np.argsort(-self.sizes[order], kind="stable")]
        while len(order):
            count = max(1, subwords // int(self.sizes[order[0]]))
            yield self.batch(order[:count])
            order = order[count:]

    def _alignable(self, pairs: np.ndarray) -> np.ndarray:
        """Those with words on both sides: in the others there is nothing to learn or to find."""
        return pairs[self.lengths[pairs].min(axis=1) > 0]


def pool_by_size(
    order: np.ndarray, sizes: np.ndarray, size: int, random: np.random.Generator
) -> list[np.ndarray]:
    """What is in an order, `size` at a time: those of like sizes together, in batches that come at random."""
    batches = []
    for start in range(0, len(order), POOL * size):
        pool = slice(start, start + POOL * size)
        ranked = order[pool][np.argsort(sizes[pool], kind="stable")]
        batches += [ranked[k : k + size] for k in range(0, len(ranked), size)]
    return [batches[k] for k in random.permutation(len(batches))]
