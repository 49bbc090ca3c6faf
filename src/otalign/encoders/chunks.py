"""Streams of sentence pairs, embedded chunk by chunk."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from otalign.encoders import Embeddings, Encoder, Pairing
from otalign.encoders.encoder import PendingEmbeddings
from otalign.encoders.prefetch import prepare_ahead
from otalign.processes import prefetch
from otalign.text.spelling import WordFeatures
from otalign.text.words import Pair, Text, to_pair

CHUNK_PAIRS, CHUNK_WORDS = 1024, 16_384  # embedded at a time on a CPU: enough to find pairs of similar length


class EmbeddedPairs(NamedTuple):
    """A chunk of sentence pairs with the embeddings of source, target, source, target, and so on."""

    pairs: Iterable[Pair]
    embeddings: Embeddings

    def append_features(self, features: WordFeatures | None) -> "EmbeddedPairs":
        """Return the chunk with features of each word, if any, after its embedding."""
        if features is None:
            return self
        words = [word for pair in self.pairs for sentence in pair for word in sentence.words]
        return self._replace(embeddings=self.embeddings.append(features.embed(words)))


def split_into_chunks(
    pairs: Iterable[tuple[Text, Text]], max_words: int | None = None
) -> Iterator[list[Pair]]:
    """Split pairs into chunks that are embedded together.

    Args:
        pairs: Source and target of each pair.
        max_words: Words of a chunk at most; None for as many pairs as suit a CPU.
    """
    max_pairs = CHUNK_PAIRS if max_words is None else max_words
    max_words = CHUNK_WORDS if max_words is None else max_words
    chunk, words = [], 0
    for pair in map(to_pair, pairs):
        chunk.append(pair)
        words += len(pair[0].spans) + len(pair[1].spans)
        if len(chunk) >= max_pairs or words >= max_words:
            yield chunk
            chunk, words = [], 0
    if chunk:
        yield chunk


class _PendingPairs(NamedTuple):
    """A chunk of pairs that is being embedded."""

    pairs: Sequence[Pair]
    embeddings: PendingEmbeddings

    def result(self) -> EmbeddedPairs:
        """Wait for the embeddings."""
        return EmbeddedPairs(self.pairs, self.embeddings.result())

    def cancel(self) -> None:
        """Drop the batches that have not been started."""
        self.embeddings.cancel()


def embed_pairs(
    pairs: Iterable[tuple[Text, Text]],
    encoder: Encoder,
    pairing: Pairing,
    workers: int = 0,
    *,
    ahead: bool = False,
) -> Iterator[EmbeddedPairs]:
    """Embed pairs chunk by chunk, without centring.

    Args:
        pairs: Source and target of each pair.
        encoder: The encoder.
        pairing: Whether the sentences of a pair are encoded jointly or separately.
        workers: Processes that tokenize ahead of a GPU.
        ahead: Whether to read another chunk, and start to embed it, before one is yielded, if the encoder
            runs several batches in parallel.
    """
    if workers:
        max_words = encoder.words_at_once or CHUNK_WORDS
        for chunk, prepared in prepare_ahead(pairs, encoder.reader, pairing, workers, max_words):
            yield EmbeddedPairs(chunk, encoder.embed_batches(prepared))
        return

    def start(chunk: Sequence[Pair]) -> _PendingPairs:
        return _PendingPairs(chunk, encoder.start(encoder.reader.prepare(chunk, pairing)))

    chunks = split_into_chunks(pairs, encoder.words_at_once)
    if ahead and encoder.at_once > 1:
        yield from prefetch(start, chunks, 1)
        return
    for chunk in chunks:
        yield EmbeddedPairs(chunk, encoder.embed(chunk, pairing))
