"""What every encoder does: sentence pairs in, an embedding for each word out, whatever the length.

Inputs are sorted by length and go to the model in batches under a budget of subwords, padding included.
A subclass says how a batch becomes hidden states, and nothing else.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from otalign.arrays import array_namespace, device
from otalign.encoders.embeddings import Array, Embeddings, add_parts
from otalign.encoders.subwords import Subworder
from otalign.encoders.windows import Input, inputs
from otalign.words import Sentence

Pairing = Literal["joint", "separate"]

# Subwords. On a CPU, states that fit a cache are made faster; a GPU is idle if it is given so few.
CPU_BATCH, GPU_BATCH = 1024, 16_384
INPUTS = ("input_ids", "attention_mask", "token_type_ids")  # the names that models have for theirs


class Encoder(ABC):
    """A pretrained model up to one of its layers, with its tokeniser. Many threads may use it at once."""

    at_once = 1  # batches that are run side by side

    def __init__(self, name: str, layer: int, limit: int, pad: int, subworder: Subworder, batch_size: int):
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, got {batch_size}; it counts subwords")
        self.name = name
        self.layer = layer
        self.limit = limit  # subwords that the model takes at once, special ones included
        self.pad = pad  # the id that fills a batch
        self.subworder = subworder
        self.batch_size = batch_size

    @abstractmethod
    def hidden(self, ids: np.ndarray, mask: np.ndarray, types: np.ndarray) -> Array:
        """The layer's states (B, L, D) for ids, a mask that is 1 where there is a subword, types: (B, L)."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write what `load` needs to make this encoder again."""

    def files(self) -> list[Path]:
        """What it was read from; nothing where its name says enough."""
        return []

    def hidden_layers(
        self, ids: np.ndarray, mask: np.ndarray, types: np.ndarray, layers: Sequence[int]
    ) -> list[Array]:
        """The states (B, L, D) of several layers, from one run; here of the encoder's own alone."""
        for layer in layers:
            if layer != self.layer:
                raise ValueError(f"layer must be {self.layer}, the only one of {self.name}, got {layer}")
        return [self.hidden(ids, mask, types)] * len(layers)

    def embed(self, pairs: Sequence[tuple[Sentence, Sentence]], pairing: Pairing) -> Embeddings:
        """The embeddings of source, target, source, target, …"""
        return self.embed_layers(pairs, pairing, [self.layer])[self.layer]

    def embed_layers(
        self, pairs: Sequence[tuple[Sentence, Sentence]], pairing: Pairing, layers: Sequence[int]
    ) -> dict[int, Embeddings]:
        """The embeddings at each of these layers, none above the encoder's own, from one run of the model."""
        if pairing not in get_args(Pairing):
            raise ValueError(f"pairing must be 'joint' or 'separate', got {pairing!r}")
        sentences = [sentence for pair in pairs for sentence in pair]
        starts = np.array([0, *accumulate(len(sentence.spans) for sentence in sentences)])
        vectors: dict[int, Array] = {}  # made when the first batch says of what library, type and width
        for batch, found in self._read(batches(self.as_inputs(sentences, pairing), self.batch_size), layers):
            parts = _parts(batch, starts, len(batch[0].ids))
            for layer, states in zip(layers, found, strict=True):
                if layer not in vectors:
                    size = (int(starts[-1]), states.shape[-1])
                    xp, at = array_namespace(states), device(states)
                    vectors[layer] = xp.zeros(size, dtype=states.dtype, device=at)
                add_parts(vectors[layer], states, *parts)
        nothing = np.zeros((0, 1), dtype=np.float32)
        return {layer: Embeddings(vectors.get(layer, nothing), starts) for layer in layers}

    def as_inputs(self, sentences: Sequence[Sentence], pairing: Pairing) -> Iterator[Input]:
        together, frame = {"joint": (2, self.subworder.pair), "separate": (1, self.subworder.single)}[pairing]
        subwords = self.subworder(sentences)
        for first in range(0, len(sentences), together):
            for one in inputs(subwords[first : first + together], first, frame, self.limit):
                if any(len(piece.words) for piece in one.pieces):  # an empty text may not even have a frame
                    yield one

    def _read(
        self, these: Iterable[list[Input]], layers: Sequence[int]
    ) -> Iterator[tuple[list[Input], list[Array]]]:
        """Each batch with its states at these layers, in order; `at_once` of them are run side by side."""
        these = list(these)
        with ThreadPoolExecutor(max(1, min(self.at_once, len(these)))) as threads:
            found = threads.map(lambda batch: self.hidden_layers(*self._arrays(batch), layers), these)
            yield from zip(these, found, strict=True)

    def _arrays(self, batch: Sequence[Input]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """ids, mask and types (B, L)."""
        longest = max(len(one.ids) for one in batch)
        ids = np.full((len(batch), longest), self.pad, dtype=np.int64)
        mask, types = np.zeros_like(ids), np.zeros_like(ids)
        for k, one in enumerate(batch):
            ids[k, : len(one.ids)] = one.ids
            types[k, : len(one.ids)] = one.types
            mask[k, : len(one.ids)] = 1
        return ids, mask, types


def _parts(batch: Sequence[Input], starts: np.ndarray, longest: int) -> tuple[np.ndarray, ...]:
    """Which states of a batch, laid end to end, are part of which word's vector, and with what weight."""
    pieces = [(k * longest, piece) for k, one in enumerate(batch) for piece in one.pieces]
    return (
        np.concatenate([piece.places + before for before, piece in pieces]),
        np.concatenate([piece.words + starts[piece.sentence] for _, piece in pieces]),
        np.concatenate([piece.weights for _, piece in pieces]).astype(np.float32),
    )


def batches(inputs: Iterable[Input], size: int) -> Iterator[list[Input]]:
    """Inputs by length, the longest first, so many at once that padded they hold at most `size` subwords."""
    batch: list[Input] = []
    for one in sorted(inputs, key=lambda one: len(one.ids), reverse=True):
        if batch and (len(batch) + 1) * len(batch[0].ids) > size:
            yield batch
            batch = []
        batch.append(one)
    if batch:
        yield batch
