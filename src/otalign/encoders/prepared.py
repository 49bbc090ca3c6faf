"""Sentence pairs as arrays for a model: everything that is computed before the model runs.

Preparation does not need the model, so that another process can do it ahead (`otalign.encoders.prefetch`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, cycle
from typing import Literal, NamedTuple, get_args

import numpy as np

from otalign.encoders.embeddings import WordParts
from otalign.encoders.subwords import SubwordTokenizer
from otalign.encoders.windows import Input, make_inputs
from otalign.text.words import Sentence
from otalign.validation import check_choice

# How an encoder reads two sentences: together, the source first; each by itself; or together, in an order
# that does not depend on which one is the source.
Pairing = Literal["joint", "separate", "canonical"]


class EncoderBatch(NamedTuple):
    """A batch of inputs, and how word embeddings are composed of the model's states.

    Attributes:
        ids: Ids of subwords, (B, L).
        mask: 1 where there is a subword, (B, L).
        types: Token types, (B, L).
        places: Indices into the flattened states (B · L, D).
        words: Word that each of these states belongs to, numbered through all sentences.
        weights: Weight of each of these states in the word's embedding.
    """

    ids: np.ndarray
    mask: np.ndarray
    types: np.ndarray
    places: np.ndarray
    words: np.ndarray
    weights: np.ndarray

    @property
    def word_parts(self) -> WordParts:
        """The subwords of the words, whose states are summed up."""
        return WordParts(self.places, self.words, self.weights)


BATCH_TYPES = (
    np.int32,
    np.bool_,
    np.uint8,
    np.int32,
    np.int32,
    np.float32,
)  # of the fields, between processes


@dataclass(frozen=True, eq=False)
class PreparedPairs:
    """Sentence pairs as batches of inputs.

    Attributes:
        batches: The batches.
        starts: Number of the first word of each sentence, and the number of words, (sentences + 1,).
    """

    batches: Sequence[EncoderBatch]
    starts: np.ndarray

    @property
    def words(self) -> int:
        """Number of words."""
        return int(self.starts[-1])

    def to_arrays(self) -> list[np.ndarray]:
        """Return the pairs as arrays of small types, for another process."""
        columns = (array for batch in self.batches for array in batch)
        kinds = zip(columns, cycle(BATCH_TYPES), strict=False)
        return [self.starts, *(array.astype(kind) for array, kind in kinds)]

    @classmethod
    def from_arrays(cls, arrays: Sequence[np.ndarray]) -> "PreparedPairs":
        """Return the pairs that `to_arrays` returned as arrays."""
        starts, *columns = arrays
        wide = [array if array.dtype == np.float32 else array.astype(np.int64) for array in columns]
        width = len(BATCH_TYPES)
        return cls([EncoderBatch(*wide[k : k + width]) for k in range(0, len(wide), width)], starts)

    @classmethod
    def concatenate(cls, parts: Sequence["PreparedPairs"]) -> "PreparedPairs":
        """Concatenate the sentences of several parts."""
        before = [0, *accumulate(part.words for part in parts)]
        return cls(
            [
                batch._replace(words=batch.words + first)
                for part, first in zip(parts, before, strict=False)
                for batch in part.batches
            ],
            np.concatenate([[0], *(part.starts[1:] + k for part, k in zip(parts, before, strict=False))]),
        )


@dataclass(frozen=True)
class PairPreparer:
    """Converts sentences into the inputs of a model.

    Attributes:
        subword_tokenizer: The model's tokenizer.
        limit: Maximum number of subwords per input, special ones included.
        pad: Id of padding.
        batch_size: Subwords per batch, padding included.
        padding: Whether inputs of different lengths may share a batch.
        name: Name of the model.
    """

    subword_tokenizer: SubwordTokenizer
    limit: int
    pad: int
    batch_size: int
    padding: bool = True
    name: str = ""

    def prepare(self, pairs: Sequence[tuple[Sentence, Sentence]], pairing: Pairing) -> PreparedPairs:
        """Prepare sentence pairs.

        Args:
            pairs: Pairs of sentences.
            pairing: Whether the sentences of a pair are encoded jointly or separately.

        Returns:
            Source, target, source, target, … in batches by length.
        """
        check_choice("pairing", pairing, get_args(Pairing))
        sentences = [sentence for pair in pairs for sentence in pair]
        starts = np.array([0, *accumulate(len(sentence.spans) for sentence in sentences)])
        batches = split_into_batches(self.as_inputs(sentences, pairing), self.batch_size, self.padding)
        return PreparedPairs([self._make_batch(batch, starts) for batch in batches], starts)

    def as_inputs(self, sentences: Sequence[Sentence], pairing: Pairing) -> Iterator[Input]:
        """Convert sentences into inputs; those without words are left out.

        Args:
            sentences: Source, target, source, target, …
            pairing: Whether the sentences of a pair are encoded jointly or separately.

        Yields:
            One input for a sentence or pair; several if it is too long for the model.
        """
        separate = pairing == "separate"
        step, frame = (1, self.subword_tokenizer.single) if separate else (2, self.subword_tokenizer.pair)
        subwords = self.subword_tokenizer(sentences)
        for first in range(0, len(sentences), step):
            group = subwords[first : first + step]
            swap = pairing == "canonical" and _order_key(sentences[first]) < _order_key(sentences[first + 1])
            numbers, order = range(first, first + step), -1 if swap else 1
            for item in make_inputs(group[::order], numbers[::order], frame, self.limit):
                if any(len(piece.words) for piece in item.pieces):  # an empty text may not even have a frame
                    yield item

    def _make_batch(self, inputs: Sequence[Input], starts: np.ndarray) -> EncoderBatch:
        longest = max(len(item.ids) for item in inputs)
        ids = np.full((len(inputs), longest), self.pad, dtype=np.int64)
        mask, types = np.zeros_like(ids), np.zeros_like(ids)
        for k, item in enumerate(inputs):
            ids[k, : len(item.ids)] = item.ids
            types[k, : len(item.ids)] = item.types
            mask[k, : len(item.ids)] = 1
        pieces = [(k * longest, piece) for k, item in enumerate(inputs) for piece in item.pieces]
        return EncoderBatch(
            ids,
            mask,
            types,
            np.concatenate([piece.places + before for before, piece in pieces]),
            np.concatenate([piece.words + starts[piece.sentence] for _, piece in pieces]),
            np.concatenate([piece.weights for _, piece in pieces]).astype(np.float32),
        )


def _order_key(sentence: Sentence) -> tuple[int, str]:
    """Return a key that orders two sentences by length, and by text if these are equal."""
    return len(sentence.spans), sentence.text


def split_into_batches(inputs: Iterable[Input], size: int, padding: bool = True) -> Iterator[list[Input]]:
    """Split inputs into batches by length, the longest first.

    Args:
        inputs: The inputs.
        size: Maximum number of subwords per batch, padding included.
        padding: Whether inputs of different lengths may share a batch.

    Yields:
        Batches; an input longer than `size` has its own.
    """
    batch: list[Input] = []
    for item in sorted(inputs, key=lambda item: len(item.ids), reverse=True):
        longest = len(batch[0].ids) if batch else 0
        if batch and ((len(batch) + 1) * longest > size or not (padding or len(item.ids) == longest)):
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch
