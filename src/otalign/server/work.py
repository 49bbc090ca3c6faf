"""Pairs → answers, those of one batch together: one run of the encoder, then one of the transport for each
of the settings that are asked for.

The embeddings of the last pairs are kept: they do not depend on the transport, so that who moves a slider
waits for the transport alone.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from otalign.aligner import Aligner, Pair, sentence, weighed
from otalign.alignment import Alignment
from otalign.encoders import Embeddings
from otalign.encoders.embeddings import in_numpy
from otalign.ot import Entropic
from otalign.scoring.extraction import DIGITS
from otalign.server.choices import Choices
from otalign.server.problems import Refused
from otalign.settings import Settings

KEPT = 64  # pairs whose embeddings are
CELLS = 64  # products of characters that are about as much work as one character is for the encoder
SMALL_EPSILON = 0.02

Text = str | tuple[str, ...]


class Ask(NamedTuple):
    """A pair to be aligned."""

    source: Text
    target: Text
    settings: Settings
    matrix: bool = False

    @property
    def size(self) -> int:
        """About how much work it is, in characters: the encoder's grows with the text, that on its word pairs
        with the product of both sides, and takes many more iterations where epsilon is small."""
        n, m = map(_size, (self.source, self.target))
        solver = self.settings.solver
        slow = isinstance(solver, Entropic) and solver.eps < SMALL_EPSILON
        return n + m + n * m // (CELLS // 8 if slow else CELLS)


def _size(text: Text) -> int:
    return len(text) if isinstance(text, str) else sum(map(len, text)) + len(text)


class Answer(NamedTuple):
    alignment: Alignment
    converged: bool | None = None  # of its transport problem, if it had one
    matrix: list[list[float]] | None = None  # (n, m), if it was asked for


class _Embedded(NamedTuple):
    """A pair and the vectors of its words, the source's and then the target's."""

    pair: Pair
    vectors: np.ndarray  # (n + m, D)


class Work:
    """What one thread does for all clients."""

    def __init__(self, aligner: Aligner, choices: Choices, words: int):
        self.aligner, self.choices, self.words = aligner, choices, words
        self.kept: OrderedDict[tuple[Text, Text], _Embedded] = OrderedDict()

    def __call__(self, asks: Sequence[Ask]) -> list[Answer | Refused]:
        """An answer to each, or why there is none."""
        pairs = [(sentence(ask.source), sentence(ask.target)) for ask in asks]
        answers: dict[int, Answer | Refused] = {}
        together: dict[Settings, list[int]] = defaultdict(list)
        for k, (ask, pair) in enumerate(zip(asks, pairs, strict=True)):
            long = max(len(side.spans) for side in pair)
            if long > self.words:
                answers[k] = Refused(422, f"a sentence must have at most {self.words} words, got {long}")
            else:
                together[ask.settings].append(k)
        embedded = self._embedded({asks[k][:2]: pairs[k] for places in together.values() for k in places})
        for settings, places in together.items():
            found = self._aligned([embedded[asks[k][:2]] for k in places], settings)
            for k, (alignment, weights, converged) in zip(places, found, strict=True):
                answers[k] = Answer(alignment, converged, _rounded(weights) if asks[k].matrix else None)
        return [answers[k] for k in range(len(asks))]

    def _embedded(self, pairs: dict[tuple[Text, Text], Pair]) -> dict[tuple[Text, Text], _Embedded]:
        found = {key: self.kept[key] for key in pairs if key in self.kept}
        new = {key: pair for key, pair in pairs.items() if key not in found}
        if new:
            embeddings = self.aligner.encoder.embed([*new.values()], self.aligner.settings.pairing)
            vectors, starts = in_numpy(embeddings.vectors), embeddings.starts
            for k, (key, pair) in enumerate(new.items()):
                found[key] = _Embedded(pair, vectors[starts[2 * k] : starts[2 * k + 2]].copy())
        for key, one in found.items():
            self.kept[key] = one
            self.kept.move_to_end(key)
        while len(self.kept) > KEPT:
            self.kept.popitem(last=False)
        return found

    def _aligned(
        self, embedded: Sequence[_Embedded], settings: Settings
    ) -> Iterator[tuple[Alignment, np.ndarray, bool | None]]:
        lengths = [len(side.spans) for one in embedded for side in one.pair]
        starts = np.cumsum([0, *lengths])
        # What has no words has no dimensions either, if it was embedded alone.
        vectors = [one.vectors for one in embedded if len(one.vectors)] or [np.zeros((0, 1), np.float32)]
        embeddings = Embeddings(np.concatenate(vectors), starts)
        if settings.centring and self.aligner.centre is not None:
            embeddings = self.aligner.centre.centred(embeddings)
        head = self.choices.head_for(settings)
        return weighed([one.pair for one in embedded], embeddings, settings, head)


def _rounded(weights: np.ndarray) -> list[list[float]]:
    return np.round(weights.astype(float), DIGITS).tolist()
