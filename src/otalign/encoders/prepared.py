"""Sentence pairs as a model reads them, in arrays: all that is done before the model, maybe elsewhere.

What is prepared holds no model, so that another process can do it ahead; `otalign.encoders.prefetch` does.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal, NamedTuple, get_args

import numpy as np

from otalign.encoders.subwords import Subworder
from otalign.encoders.windows import Input, InputPiece, inputs
from otalign.text.words import Sentence

# How an encoder reads two sentences: together, the source first; each alone; or together in an order of their
# own, whichever is called the source.
Pairing = Literal["joint", "separate", "canonical"]


class EncoderBatch(NamedTuple):
    """What the model reads at once (B, L), and which of its states are part of which word's embedding."""

    ids: np.ndarray
    mask: np.ndarray  # 1 where there is a subword
    types: np.ndarray
    places: np.ndarray  # in the states, laid end to end, and for each …
    words: np.ndarray  # … the word that it is part of, counted through all sentences …
    weights: np.ndarray  # … and its share in that word's embedding


@dataclass(frozen=True, eq=False)
class PreparedPairs:
    """The words of sentence k are those from `starts[k]` to `starts[k + 1]`."""

    batches: Sequence[EncoderBatch]
    starts: np.ndarray  # (sentences + 1,)

    @property
    def words(self) -> int:
        return int(self.starts[-1])

    @classmethod
    def concatenate(cls, parts: Sequence["PreparedPairs"]) -> "PreparedPairs":
        """The sentences of all parts, one part after the other."""
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
    """Makes of sentences what one model reads."""

    subworder: Subworder
    limit: int  # subwords that the model takes at once, special ones included
    pad: int  # the id that fills a batch
    batch_size: int  # subwords of a batch, padding included
    padding: bool = True  # whether inputs of different lengths may share a batch

    def prepare(self, pairs: Sequence[tuple[Sentence, Sentence]], pairing: Pairing) -> PreparedPairs:
        """Source, target, source, target, … in batches by length."""
        if pairing not in get_args(Pairing):
            known = ", ".join(map(repr, get_args(Pairing)))
            raise ValueError(f"pairing must be one of {known}, got {pairing!r}")
        sentences = [sentence for pair in pairs for sentence in pair]
        starts = np.array([0, *accumulate(len(sentence.spans) for sentence in sentences)])
        found = batches(self.as_inputs(sentences, pairing), self.batch_size, self.padding)
        return PreparedPairs([self._batch(one, starts) for one in found], starts)

    def as_inputs(self, sentences: Sequence[Sentence], pairing: Pairing) -> Iterator[Input]:
        alone = pairing == "separate"
        together, frame = (1, self.subworder.single) if alone else (2, self.subworder.pair)
        subwords = self.subworder(sentences)
        for first in range(0, len(sentences), together):
            these = subwords[first : first + together]
            turned = pairing == "canonical" and _length(sentences[first]) < _length(sentences[first + 1])
            for one in inputs(these[::-1] if turned else these, first, frame, self.limit):
                if turned:
                    one = replace(one, pieces=tuple(_swap_side(piece, 2 * first + 1) for piece in one.pieces))
                if any(len(piece.words) for piece in one.pieces):  # an empty text may not even have a frame
                    yield one

    def _batch(self, these: Sequence[Input], starts: np.ndarray) -> EncoderBatch:
        longest = max(len(one.ids) for one in these)
        ids = np.full((len(these), longest), self.pad, dtype=np.int64)
        mask, types = np.zeros_like(ids), np.zeros_like(ids)
        for k, one in enumerate(these):
            ids[k, : len(one.ids)] = one.ids
            types[k, : len(one.ids)] = one.types
            mask[k, : len(one.ids)] = 1
        pieces = [(k * longest, piece) for k, one in enumerate(these) for piece in one.pieces]
        return EncoderBatch(
            ids,
            mask,
            types,
            np.concatenate([piece.places + before for before, piece in pieces]),
            np.concatenate([piece.words + starts[piece.sentence] for _, piece in pieces]),
            np.concatenate([piece.weights for _, piece in pieces]).astype(np.float32),
        )


def _length(sentence: Sentence) -> tuple[int, str]:
    """Orders two sentences: the longer one comes first, or of equal ones the later by its text."""
    return len(sentence.spans), sentence.text


def _swap_side(piece: InputPiece, both: int) -> InputPiece:
    """The piece as one of the other sentence, where the numbers of both add up to so much."""
    return replace(piece, sentence=both - piece.sentence)


def batches(inputs: Iterable[Input], size: int, padding: bool = True) -> Iterator[list[Input]]:
    """Inputs by length, the longest first, so many at once that padded they hold at most `size` subwords.
    Without padding, those of a batch have the same length."""
    batch: list[Input] = []
    for one in sorted(inputs, key=lambda one: len(one.ids), reverse=True):
        if batch and (
            (len(batch) + 1) * len(batch[0].ids) > size or not (padding or len(one.ids) == len(batch[0].ids))
        ):
            yield batch
            batch = []
        batch.append(one)
    if batch:
        yield batch
