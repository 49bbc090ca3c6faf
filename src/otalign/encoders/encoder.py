"""The base class of encoders: sentence pairs in, an embedding for each word out, whatever their length.

Inputs are sorted by length and go to the model in batches of a limited number of subwords, padding included.
A subclass only computes the hidden states of a batch.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Literal

import numpy as np

from otalign.arrays import is_finite, is_numpy_array
from otalign.encoders.embeddings import Array, Embeddings, Sums, WordParts
from otalign.encoders.prepared import EncoderBatch, Pairing, PairPreparer, PreparedPairs
from otalign.encoders.subwords import SubwordTokenizer
from otalign.encoders.threads import BatchThreads, wait_for
from otalign.encoders.windows import Input
from otalign.text.words import Sentence

Precision = Literal["float32", "bfloat16"]  # precision of the model; embeddings are always float32

# Subwords per batch. A CPU is faster if the states fit its cache; a GPU needs larger batches.
CPU_BATCH, GPU_BATCH = 1024, 32_768
WordVectors = tuple[np.ndarray, Array]  # words, and vectors to add to theirs
INPUTS = ("input_ids", "attention_mask", "token_type_ids")  # names of model inputs


class Encoder(ABC):
    """A pretrained model up to one of its layers, with its tokenizer. It is thread-safe.

    Attributes:
        name: Name of the model.
        layer: Layer whose states are the embeddings.
        limit: Maximum number of subwords per input, special ones included.
        pad: Id of padding.
        subword_tokenizer: Its tokenizer.
        batch_size: Subwords per batch, padding included.
        at_once: Number of batches that run in parallel.
        size: Dimension of embeddings, if the model declares it.
        words_at_once: Number of words whose embeddings fit into the memory of a GPU; None on a CPU.
        padding: Whether inputs of different lengths may share a batch.
        int8: Whether the model computes in int8.
        inputs: Those of `INPUTS` that the model takes.
    """

    at_once = 1
    int8 = False
    size: int | None = None
    words_at_once: int | None = None
    padding = True
    inputs: Sequence[str]

    def __init__(
        self,
        name: str,
        layer: int,
        limit: int,
        pad: int,
        subword_tokenizer: SubwordTokenizer,
        batch_size: int,
    ) -> None:
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, got {batch_size}; it counts subwords")
        self.name = name
        self.layer = layer
        self.limit = limit
        self.pad = pad
        self.subword_tokenizer = subword_tokenizer
        self.batch_size = batch_size

    @abstractmethod
    def compute_states(self, ids: np.ndarray, mask: np.ndarray, types: np.ndarray) -> Array:
        """Compute the states of the layer.

        Args:
            ids: Ids of subwords, (B, L).
            mask: 1 where there is a subword, (B, L).
            types: Token types, (B, L).

        Returns:
            States (B, L, D).
        """

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the files that `load` needs into a folder."""

    def list_files(self) -> list[Path]:
        """Return the files that it was read from; none if its name identifies it."""
        return []

    def compute_layers(
        self, ids: np.ndarray, mask: np.ndarray, types: np.ndarray, layers: Sequence[int]
    ) -> list[Array]:
        """Compute the states of several layers in one run. By default there is only the encoder's own layer.

        Args:
            ids: Ids of subwords, (B, L).
            mask: 1 where there is a subword, (B, L).
            types: Token types, (B, L).
            layers: The layers.

        Returns:
            States (B, L, D) of each layer.
        """
        for layer in layers:
            if layer != self.layer:
                raise ValueError(f"layer must be {self.layer}, the only one of {self.name}, got {layer}")
        return [self.compute_states(ids, mask, types)] * len(layers)

    def embed(self, pairs: Sequence[tuple[Sentence, Sentence]], pairing: Pairing) -> Embeddings:
        """Embed the words of sentence pairs.

        Args:
            pairs: Pairs of sentences.
            pairing: Whether the sentences of a pair are encoded jointly or separately.

        Returns:
            Embeddings of source, target, source, target, …
        """
        return self.embed_layers(pairs, pairing, [self.layer])[self.layer]

    def embed_layers(
        self, pairs: Sequence[tuple[Sentence, Sentence]], pairing: Pairing, layers: Sequence[int]
    ) -> dict[int, Embeddings]:
        """Embed the words of sentence pairs at several layers, in one run of the model.

        Args:
            pairs: Pairs of sentences.
            pairing: Whether the sentences of a pair are encoded jointly or separately.
            layers: The layers, none above the encoder's own.

        Returns:
            Embeddings by layer.
        """
        return PendingEmbeddings(self, self.reader.prepare(pairs, pairing), layers).collect()

    def embed_batches(self, prepared: PreparedPairs) -> Embeddings:
        """Embed pairs that were prepared by this encoder's `reader`."""
        return PendingEmbeddings(self, prepared, [self.layer]).result()

    def start(self, prepared: PreparedPairs) -> "PendingEmbeddings":
        """Start to embed pairs that were prepared by this encoder's `reader`, ahead of their use.

        If the encoder runs several batches in parallel, its threads work on these from now on.
        """
        return PendingEmbeddings(self, prepared, [self.layer], ahead=True)

    @property
    def threads(self) -> BatchThreads:
        """The `at_once` threads for all work on batches."""
        return _make_threads(self.at_once, os.getpid())  # a forked process has none of its parent's threads

    @property
    def reader(self) -> PairPreparer:
        """The part of the encoder that prepares the model's inputs, without the model."""
        return PairPreparer(
            self.subword_tokenizer, self.limit, self.pad, self.batch_size, self.padding, self.name
        )

    def as_inputs(self, sentences: Sequence[Sentence], pairing: Pairing) -> Iterator[Input]:
        """Convert sentences into inputs of the model."""
        return self.reader.as_inputs(sentences, pairing)


@cache
def _make_threads(count: int, process: int) -> BatchThreads:
    """Return the threads of a process."""
    return BatchThreads(count)


class PendingEmbeddings:
    """Embeddings that are being computed.

    Args:
        encoder: The encoder.
        prepared: Pairs as its reader prepares them.
        layers: Layers of the embeddings.
        ahead: Whether nobody waits for them yet.
    """

    def __init__(
        self, encoder: Encoder, prepared: PreparedPairs, layers: Sequence[int], *, ahead: bool = False
    ) -> None:
        self._encoder, self._prepared, self._layers = encoder, prepared, layers
        self._sums: dict[int, Sums] = {}  # created from the first batch: it shows library, type and width
        self._lock = Lock()
        self._futures: list[Future[list[WordVectors]]] = []
        if encoder.at_once == 1:
            return
        parts = [batch.word_parts for batch in prepared.batches]
        # Vectors are added as they come, except those of windows: of more than two, the order matters.
        whole = sum(len(part.words) for part in parts) == prepared.words
        compute = self._add_batch if whole else self._sum_parts
        for batch, part in zip(prepared.batches, parts, strict=True):
            _ = part.ranks  # now: with the states, little else is left in the caches of a processor
            self._futures.append(encoder.threads.submit(compute, batch, part, ahead=ahead))

    def result(self) -> Embeddings:
        """Wait for the embeddings of the encoder's own layer."""
        return self.collect()[self._encoder.layer]

    def cancel(self) -> None:
        """Drop the batches that have not been started."""
        for future in self._futures:
            future.cancel()

    def collect(self) -> dict[int, Embeddings]:
        """Wait for the embeddings, by layer."""
        try:
            if self._encoder.at_once == 1:  # lazily, so that a GPU holds the states of one batch
                for batch in self._prepared.batches:
                    self._add_batch(batch, batch.word_parts)
            wait_for(self._futures)
            for future in self._futures:
                self._add(future.result())
        finally:
            self.cancel()
        for layer, sums in self._sums.items():
            if not is_numpy_array(sums.vectors):
                self._check_finite(sums.vectors, layer)
        empty = Sums(0, np.zeros((0, 1), dtype=np.float32))
        starts = self._prepared.starts
        return {layer: Embeddings(self._sums.get(layer, empty).vectors, starts) for layer in self._layers}

    def _add_batch(self, batch: EncoderBatch, parts: WordParts) -> list[WordVectors]:
        """Add the vectors of the words of a batch, and return none that are left to add."""
        self._add(self._sum_parts(batch, parts))
        return []

    def _add(self, by_layer: list[WordVectors]) -> None:
        with self._lock:
            for layer, (words, vectors) in zip(self._layers, by_layer, strict=False):
                if layer not in self._sums:
                    self._sums[layer] = Sums(self._prepared.words, vectors)
                self._sums[layer].add(words, vectors)

    def _sum_parts(self, batch: EncoderBatch, parts: WordParts) -> list[WordVectors]:
        """Compute parts of the vectors of words, for each layer."""
        hidden = self._encoder.compute_layers(batch.ids, batch.mask, batch.types, self._layers)
        sums = list(map(parts.sum, hidden))
        for layer, vectors in zip(self._layers, sums, strict=True):
            if is_numpy_array(vectors):  # now, while they are in the cache; a GPU would have to be waited for
                self._check_finite(vectors, layer)
        return [(parts.words, vectors) for vectors in sums]

    def _check_finite(self, vectors: Array, layer: int) -> None:
        if not is_finite(vectors):
            raise ValueError(
                f"the encoder {self._encoder.name} returns numbers that are not finite at layer {layer}; "
                "its weights are damaged, or too large for its precision"
            )
