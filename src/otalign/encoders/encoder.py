"""What every encoder does: sentence pairs in, an embedding for each word out, whatever the length.

Inputs are sorted by length and go to the model in batches under a budget of subwords, padding included.
A subclass says how a batch becomes hidden states, and nothing else.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import numpy as np

from otalign.arrays import is_finite
from otalign.encoders.embeddings import Array, Embeddings, Sums, word_parts
from otalign.encoders.prepared import EncoderBatch, Pairing, PairPreparer, PreparedPairs
from otalign.encoders.subwords import Subworder
from otalign.encoders.windows import Input
from otalign.text.words import Sentence

Precision = Literal["float32", "bfloat16"]  # in which a model works; embeddings are float32 in either

# Subwords. On a CPU, states that fit a cache are made faster; a GPU is idle if it is given so few.
CPU_BATCH, GPU_BATCH = 1024, 32_768
Parts = tuple[np.ndarray, Array]  # words, and vectors to be added to theirs
INPUTS = ("input_ids", "attention_mask", "token_type_ids")  # the names that models have for theirs


class Encoder(ABC):
    """A pretrained model up to one of its layers, with its tokeniser. Many threads may use it at once."""

    at_once = 1  # batches that are run side by side
    size: int | None = None  # of an embedding, where the model says
    words_at_once: int | None = None  # whose embeddings have room where it runs, if that is a GPU
    padding = True  # whether inputs of different lengths may share a batch
    inputs: Sequence[str]  # names of those of `INPUTS` that the model takes

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
        return self._embed_layers(self.reader.prepare(pairs, pairing), layers)

    def embed_batches(self, prepared: PreparedPairs) -> Embeddings:
        """The embeddings of what this encoder's `reader` has made."""
        return self._embed_layers(prepared, [self.layer])[self.layer]

    @property
    def reader(self) -> PairPreparer:
        """What makes of sentences what the model reads, without the model."""
        return PairPreparer(self.subworder, self.limit, self.pad, self.batch_size, self.padding)

    def as_inputs(self, sentences: Sequence[Sentence], pairing: Pairing) -> Iterator[Input]:
        return self.reader.as_inputs(sentences, pairing)

    def _embed_layers(self, prepared: PreparedPairs, layers: Sequence[int]) -> dict[int, Embeddings]:
        sums: dict[int, Sums] = {}  # made when the first batch says of what library, type and width
        for found in self._read(prepared.batches, layers):
            for layer, (words, parts) in zip(layers, found, strict=True):
                if layer not in sums:
                    sums[layer] = Sums(prepared.words, parts)
                sums[layer].add(words, parts)
        for layer in sums:
            if not is_finite(sums[layer].vectors):
                raise ValueError(
                    f"the encoder {self.name} gives numbers that are not finite at layer {layer}; "
                    "its weights are damaged, or too large for its precision"
                )
        nothing = Sums(0, np.zeros((0, 1), dtype=np.float32))
        return {layer: Embeddings(sums.get(layer, nothing).vectors, prepared.starts) for layer in layers}

    def _read(self, these: Sequence[EncoderBatch], layers: Sequence[int]) -> Iterator[list[Parts]]:
        """Of each batch, what it adds to words at these layers, in order; `at_once` are run side by side."""

        def parts(batch: EncoderBatch) -> list[Parts]:
            found = self.hidden_layers(batch.ids, batch.mask, batch.types, layers)
            return [word_parts(states, batch.places, batch.words, batch.weights) for states in found]

        if self.at_once == 1:  # one by one: a GPU need not hold the states of all
            yield from map(parts, these)
            return
        with ThreadPoolExecutor(max(1, min(self.at_once, len(these)))) as threads:
            yield from threads.map(parts, these)
