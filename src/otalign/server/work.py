"""Aligns the pairs of a batch of requests: one run of the encoder, then one of the scorer for each settings.

Embeddings of the last pairs are kept. They do not depend on the transport problem, so a user who moves a
slider waits for the transport alone.
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
from otalign.scoring.extraction import DIGITS
from otalign.server.choices import ServedChoice
from otalign.server.problems import Refused
from otalign.text.words import Pair, to_sentence

CACHED_PAIRS = 64  # whose embeddings are kept
CELLS = 64  # pairs of characters that cost about as much work as one character costs the encoder
SLOW_CELLS = 8  # the same with a small epsilon, which takes many more iterations

Text = str | tuple[str, ...]


class Ask(NamedTuple):
    """A pair to align."""

    source: Text
    target: Text
    choice: ServedChoice
    matrix: bool = False
    group: Hashable = None  # pairs of one group are centred together; None: the choice has a fixed centre

    @property
    def size(self) -> int:
        """Estimated work, in characters: the encoder's grows with the text, the solver's with the product."""
        n, m = map(_count_characters, (self.source, self.target))
        return n + m + n * m // (SLOW_CELLS if self.choice.slow else CELLS)


def _count_characters(text: Text) -> int:
    return len(text) if isinstance(text, str) else sum(map(len, text)) + len(text)


class Answer(NamedTuple):
    """The alignment of a pair."""

    alignment: Alignment
    converged: bool | None = None  # whether the transport problem converged, if there was one
    matrix: list[list[float]] | None = None  # scores (n, m), if they were asked for


class CachedPair(NamedTuple):
    """A pair with the vectors of its words, those of the source first, not centred."""

    pair: Pair
    vectors: np.ndarray  # (n + m, D)


class AlignmentWorker:
    """Aligns pairs of all clients, in one thread."""

    def __init__(self, aligner: Aligner, max_words: int):
        self.aligner, self.max_words = aligner, max_words
        self.cache: OrderedDict[tuple[Text, Text], CachedPair] = OrderedDict()

    def __call__(self, asks: Sequence[Ask]) -> list[Answer | Refused]:
        """Align pairs; a pair that is refused gets the reason."""
        pairs = [(to_sentence(ask.source), to_sentence(ask.target)) for ask in asks]
        answers: dict[int, Answer | Refused] = {}
        groups: dict[tuple[ServedChoice, Hashable], list[int]] = defaultdict(list)
        for k, (ask, pair) in enumerate(zip(asks, pairs, strict=True)):
            longest = max(len(side.spans) for side in pair)
            if longest > self.max_words:
                message = f"a sentence must have at most {self.max_words} words, got {longest}"
                answers[k] = Refused(422, message)
            else:
                groups[ask.choice, ask.group].append(k)
        cached = self._embed_pairs({asks[k][:2]: pairs[k] for places in groups.values() for k in places})
        for (choice, _), places in groups.items():
            found = self._align([cached[asks[k][:2]] for k in places], choice)
            for k, (alignment, scores, converged) in zip(places, found, strict=True):
                answers[k] = Answer(alignment, converged, _round(scores) if asks[k].matrix else None)
        return [answers[k] for k in range(len(asks))]

    def _embed_pairs(self, pairs: dict[tuple[Text, Text], Pair]) -> dict[tuple[Text, Text], CachedPair]:
        found = {key: self.cache[key] for key in pairs if key in self.cache}
        new = {key: pair for key, pair in pairs.items() if key not in found}
        if new:
            embeddings = self.aligner.encoder.embed([*new.values()], self.aligner.settings.pairing)
            vectors, starts = to_numpy(embeddings.vectors), embeddings.starts
            for k, (key, pair) in enumerate(new.items()):
                found[key] = CachedPair(pair, vectors[starts[2 * k] : starts[2 * k + 2]].copy())
        for key, one in found.items():
            self.cache[key] = one
            self.cache.move_to_end(key)
        while len(self.cache) > CACHED_PAIRS:
            self.cache.popitem(last=False)
        return found

    def _align(self, cached: Sequence[CachedPair], choice: ServedChoice) -> list[ScoredAlignment]:
        lengths = [len(side.spans) for one in cached for side in one.pair]
        starts = np.cumsum([0, *lengths])
        # The vectors of a pair without words have no dimensions, if it was embedded alone.
        vectors = [one.vectors for one in cached if len(one.vectors)] or [np.zeros((0, 1), np.float32)]
        chunk = EmbeddedPairs([one.pair for one in cached], Embeddings(np.concatenate(vectors), starts))
        chunks = choice.aligner.centre_chunks(iter([chunk]))
        return [scored for each in chunks for scored in choice.aligner.align_with_scores(each)]


def _round(scores: np.ndarray) -> list[list[float]]:
    return np.round(scores.astype(float), DIGITS).tolist()
