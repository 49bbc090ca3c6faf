"""Alignment of a batch of pairs: one run of the encoder, then one of the scorer for each choice of settings.

The embeddings of the last pairs are cached. They do not depend on the transport problem, so that a user who
moves a slider only waits for the solver.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from otalign.aligner import Aligner, ScoredAlignment
from otalign.alignment import Alignment
from otalign.encoders import Embeddings
from otalign.encoders.chunks import EmbeddedPairs
from otalign.encoders.embeddings import to_numpy
from otalign.link_arrays import DIGITS
from otalign.server.choices import ServedChoice
from otalign.server.errors import RequestError
from otalign.text.words import Pair, to_sentence

CACHED_PAIRS = 64  # pairs with cached embeddings
CELLS = 64  # pairs of characters that cost as much as the encoding of one character
SLOW_CELLS = 8  # the same for a small epsilon, which needs many more iterations

Text = str | tuple[str, ...]


class PairRequest(NamedTuple):
    """A pair to align.

    Attributes:
        source: Source, as a text or as words.
        target: Target, as a text or as words.
        choice: The settings.
        matrix: Whether the scores of all word pairs are returned.
        group: Pairs of one group are centred together; None if the choice has a fixed centre.
    """

    source: Text
    target: Text
    choice: ServedChoice
    matrix: bool = False
    group: Hashable = None

    @property
    def size(self) -> int:
        """Estimated work in characters: the encoder's grows with length, the solver's with the product."""
        n, m = map(_count_characters, (self.source, self.target))
        return n + m + n * m // (SLOW_CELLS if self.choice.slow else CELLS)


def _count_characters(text: Text) -> int:
    return len(text) if isinstance(text, str) else sum(map(len, text)) + len(text)


class Answer(NamedTuple):
    """The alignment of a pair.

    Attributes:
        alignment: The alignment.
        converged: Whether the transport problem converged, if there was one.
        matrix: Scores (n, m), if requested.
        language_warning: Warning that the aligner does not know the language of the pair, if it seems so.
    """

    alignment: Alignment
    converged: bool | None = None
    matrix: list[list[float]] | None = None
    language_warning: str | None = None


class CachedPair(NamedTuple):
    """A pair with the vectors of its words, source first, before centring."""

    pair: Pair
    vectors: np.ndarray  # (n + m, D)


class AlignmentWorker:
    """Aligns the pairs of all clients, in one thread.

    Args:
        aligner: The aligner.
        max_words: Maximum number of words of a sentence.
    """

    def __init__(self, aligner: Aligner, max_words: int) -> None:
        self.aligner, self.max_words = aligner, max_words
        self.language_check = aligner.language_check
        self.cache: OrderedDict[tuple[Text, Text], CachedPair] = OrderedDict()

    def __call__(self, requests: Sequence[PairRequest]) -> list[Answer | RequestError]:
        """Align pairs; the answer to an invalid pair is a problem."""
        pairs = [(to_sentence(request.source), to_sentence(request.target)) for request in requests]
        answers: dict[int, Answer | RequestError] = {}
        groups: dict[tuple[ServedChoice, Hashable], list[int]] = defaultdict(list)
        for k, (request, pair) in enumerate(zip(requests, pairs, strict=True)):
            longest = max(len(side.spans) for side in pair)
            if longest > self.max_words:
                message = f"a sentence must have at most {self.max_words} words, got {longest}"
                answers[k] = RequestError(422, message)
            else:
                groups[request.choice, request.group].append(k)
        cached = self._embed_pairs(
            {requests[k][:2]: pairs[k] for indices in groups.values() for k in indices}
        )
        for (choice, _), indices in groups.items():
            aligned = self._align([cached[requests[k][:2]] for k in indices], choice)
            for k, (alignment, scores, converged) in zip(indices, aligned, strict=True):
                matrix = _round(scores) if requests[k].matrix else None
                warning = self.language_check.check_pair(pairs[k])
                answers[k] = Answer(alignment, converged, matrix, warning)
        return [answers[k] for k in range(len(requests))]

    def _embed_pairs(self, pairs: dict[tuple[Text, Text], Pair]) -> dict[tuple[Text, Text], CachedPair]:
        cached = {key: self.cache[key] for key in pairs if key in self.cache}
        new = {key: pair for key, pair in pairs.items() if key not in cached}
        if new:
            embeddings = self.aligner.encoder.embed([*new.values()], self.aligner.settings.pairing)
            vectors, starts = to_numpy(embeddings.vectors), embeddings.starts
            for k, (key, pair) in enumerate(new.items()):
                cached[key] = CachedPair(pair, vectors[starts[2 * k] : starts[2 * k + 2]].copy())
        for key, entry in cached.items():
            self.cache[key] = entry
            self.cache.move_to_end(key)
        while len(self.cache) > CACHED_PAIRS:
            self.cache.popitem(last=False)
        return cached

    def _align(self, cached: Sequence[CachedPair], choice: ServedChoice) -> list[ScoredAlignment]:
        lengths = [len(side.spans) for entry in cached for side in entry.pair]
        starts = np.cumsum([0, *lengths])
        # The vectors of a pair without words have no dimensions, if it was embedded alone.
        vectors = [entry.vectors for entry in cached if len(entry.vectors)] or [np.zeros((0, 1), np.float32)]
        chunk = EmbeddedPairs([entry.pair for entry in cached], Embeddings(np.concatenate(vectors), starts))
        chunks = choice.aligner.finish_chunks(iter([chunk]))
        return [scored for centred in chunks for scored in choice.aligner.align_with_scores(centred)]


def _round(scores: np.ndarray) -> list[list[float]]:
    return np.round(scores.astype(float), DIGITS).tolist()
