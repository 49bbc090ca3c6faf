"""Batches of training pairs: subwords, how they make words, and the links to learn."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from otalign.alignment import LEVELS
from otalign.encoders import Encoder, Pairing, PairPreparer
from otalign.encoders.windows import Input
from otalign.gold import Gold
from otalign.text import spelling
from otalign.text.words import join_words
from otalign.training.reading import ShuffledSet

POOL = 16  # batches whose pairs are sorted by length together, for little padding in nearly random order


@dataclass(frozen=True, eq=False)
class TrainingBatch:
    """Subwords of pairs, how they make words, and the links to learn.

    Attributes:
        ids: Subwords of the inputs, (I, L).
        mask: 1 where there is a subword, (I, L).
        types: Types of the subwords, (I, L).
        places: Positions of subwords in the inputs, which are concatenated, (E,).
        words: Word that each of these subwords is part of, among 2 · B · W, (E,).
        shares: Share of each of these subwords in the vector of its word, (E,).
        lengths: Number of words of source and target, (B, 2).
        ngrams: Counts of the n-grams of each word, in int8, (2 · B · W, spelling.SIZE).
        links: Probability of a link to learn in each cell, in float16, (levels, B, N, M).
        known: Weight of each level of a pair, 0 where its links are unknown, (levels, B).
        pairs: Numbers of the pairs in their set, (B,).
    """

    ids: np.ndarray
    mask: np.ndarray
    types: np.ndarray
    places: np.ndarray
    words: np.ndarray
    shares: np.ndarray
    lengths: np.ndarray
    ngrams: np.ndarray
    links: np.ndarray
    known: np.ndarray
    pairs: np.ndarray


def encode_pairs(
    reader: PairPreparer, pairs: Sequence[tuple[Sequence[str], Sequence[str]]], pairing: Pairing
) -> list[list[Input]]:
    """Split pairs into subwords; a pair has one input or several, and none without words."""
    sentences = [join_words(words) for pair in pairs for words in pair]
    inputs: list[list[Input]] = [[] for _ in pairs]
    for item in reader.as_inputs(sentences, pairing):
        inputs[item.pieces[0].sentence // 2].append(item)
    return inputs


def collate(
    inputs: Sequence[Sequence[Input]],
    texts: Sequence[tuple[Sequence[str], Sequence[str]]],
    links: np.ndarray,
    known: np.ndarray,
    pairs: np.ndarray,
    pad: int,
) -> TrainingBatch:
    """Put the inputs and the targets of pairs into padded arrays."""
    lengths = np.array([(len(source), len(target)) for source, target in texts], dtype=np.int64)
    flat = [(pair, item) for pair, pair_inputs in enumerate(inputs) for item in pair_inputs]
    sizes = np.array([len(item.ids) for _, item in flat])
    longest, width = int(sizes.max()), int(lengths.max())
    is_subword = np.arange(longest) < sizes[:, None]
    ids = np.full(is_subword.shape, pad, dtype=np.int64)
    types = np.zeros_like(ids)
    total = int(sizes.sum())
    ids[is_subword] = np.fromiter(chain.from_iterable(item.ids for _, item in flat), np.int64, total)
    types[is_subword] = np.fromiter(chain.from_iterable(item.types for _, item in flat), np.int64, total)
    pieces = [(k, pair, piece) for k, (pair, item) in enumerate(flat) for piece in item.pieces]
    counts = [len(piece.words) for _, _, piece in pieces]
    before = [k * longest for k, _, _ in pieces]
    words = [width * (2 * pair + piece.sentence % 2) for _, pair, piece in pieces]
    return TrainingBatch(
        ids,
        is_subword.astype(np.int64),
        types,
        np.concatenate([piece.places for _, _, piece in pieces]) + np.repeat(before, counts),
        np.concatenate([piece.words for _, _, piece in pieces]) + np.repeat(words, counts),
        np.concatenate([piece.weights for _, _, piece in pieces]).astype(np.float32),
        lengths,
        _count_ngrams(texts, lengths, width),
        links.astype(np.float16),
        known,
        pairs,
    )


def _count_ngrams(
    texts: Sequence[tuple[Sequence[str], Sequence[str]]], lengths: np.ndarray, width: int
) -> np.ndarray:
    is_word = np.arange(width) < lengths.reshape(-1, 1)
    counts = np.zeros((*is_word.shape, spelling.SIZE), dtype=np.int8)
    counts[is_word] = spelling.count_ngrams([word for pair in texts for words in pair for word in words])
    return counts.reshape(-1, spelling.SIZE)


class PairSet(ShuffledSet):
    """Gold pairs without augmentation, split into subwords once.

    With both directions, each of the P pairs occurs twice; pair k + P is pair k with its sides exchanged.
    """

    def __init__(
        self,
        golds: Sequence[Gold],
        encoder: Encoder,
        pairing: Pairing = "joint",
        both_directions: bool = False,
    ) -> None:
        self.golds = [*golds, *(gold.transpose() for gold in golds)] if both_directions else golds
        self.directions = 1 + both_directions
        self.pad = encoder.pad
        self.lengths = np.array([gold.shape for gold in self.golds], dtype=np.int64).reshape(-1, 2)
        self.inputs = encode_pairs(encoder.reader, [(g.source, g.target) for g in self.golds], pairing)
        self.sizes = np.array(
            [len(pair_inputs[0].ids) if pair_inputs else 0 for pair_inputs in self.inputs], dtype=np.int64
        )
        self.links = [
            tuple(np.array(sorted(gold.pairs(level)), dtype=np.int64).reshape(-1, 2) for level in LEVELS)
            for gold in self.golds
        ]

    def __len__(self) -> int:
        return len(self.golds) // self.directions

    def make_batch(self, pairs: np.ndarray) -> TrainingBatch:
        """Make a batch of the pairs with these numbers."""
        lengths = self.lengths[pairs]
        links = np.zeros((len(LEVELS), len(pairs), *lengths.max(axis=0)), dtype=np.float32)
        for b, pair in enumerate(pairs):
            for level, cells in enumerate(self.links[pair]):
                links[level, b, cells[:, 0], cells[:, 1]] = 1
        known = np.ones((len(LEVELS), len(pairs)), dtype=np.float32)
        texts = [(self.golds[k].source, self.golds[k].target) for k in pairs]
        return collate([self.inputs[k] for k in pairs], texts, links, known, pairs, self.pad)

    def shuffle(self, size: int, random: np.random.Generator) -> list[np.ndarray]:
        """Return the numbers of all pairs in random batches of `size`, each pair once and in one direction.

        Pairs of similar length come together.
        """
        order = random.permutation(len(self)) + len(self) * random.integers(self.directions, size=len(self))
        order = self._select_alignable(order)
        return pool_by_size(order, self.sizes[order], size, random)

    def batch_by_length(self, subwords: int) -> Iterator[TrainingBatch]:
        """Yield all pairs, the longest first, in batches of about this many subwords."""
        order = self._select_alignable(np.arange(len(self)))
        order = order[np.argsort(-self.sizes[order], kind="stable")]
        while len(order):
            count = max(1, subwords // int(self.sizes[order[0]]))
            yield self.make_batch(order[:count])
            order = order[count:]

    def _select_alignable(self, pairs: np.ndarray) -> np.ndarray:
        """Return the pairs with words on both sides; the others have nothing to align."""
        return pairs[self.lengths[pairs].min(axis=1) > 0]


def pool_by_size(
    order: np.ndarray, sizes: np.ndarray, size: int, random: np.random.Generator
) -> list[np.ndarray]:
    """Split numbers into batches of `size`, with similar `sizes` together, and shuffle the batches."""
    batches = []
    for start in range(0, len(order), POOL * size):
        pool = slice(start, start + POOL * size)
        ranked = order[pool][np.argsort(sizes[pool], kind="stable")]
        batches += [ranked[k : k + size] for k in range(0, len(ranked), size)]
    return [batches[k] for k in random.permutation(len(batches))]
