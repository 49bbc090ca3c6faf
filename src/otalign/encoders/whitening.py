"""Centring: what all embeddings share says nothing of a word, and is taken away.

The mean is subtracted. With whitening the directions in which the embeddings vary most are shrunk too: each
is divided by its variance to the power of whitening / 2, so that 0 leaves them and 1 makes all variances one.

It is that of the words at hand. Of a stream it is that of the first pairs, `WORDS` words of them, which are
held until then; a few hundred pairs are less and are centred on the whole of themselves. Four times as many
changed no F1 on a dev set by 0.05.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from otalign.encoders import Embeddings

WORDS = 16_384

Kept = TypeVar("Kept")


@dataclass(frozen=True, eq=False)
class Centre:
    """The middle of embeddings, and what brings their variances closer together."""

    mean: np.ndarray  # (D,)
    stretch: np.ndarray | None = None  # (D, D), if they are whitened

    @classmethod
    def of(cls, parts: Iterable[Embeddings], whitening: float = 0.0) -> "Centre":
        """That of all their vectors."""
        total, squares, words = np.zeros(1), np.zeros(1), 0
        for embeddings in (part for part in parts if part.words):
            here = embeddings.total()
            total, words = total + here, words + embeddings.words
            if whitening:
                squares = squares + embeddings.squares(here / embeddings.words)
        if not words:
            raise ValueError("pairs must have words to take the mean of, got none")
        mean = total / words
        if not whitening:
            return cls(mean)
        return cls(mean, _stretch(squares / words - np.outer(mean, mean), words, whitening))

    def centred(self, embeddings: Embeddings, *, in_place: bool = False) -> Embeddings:
        return embeddings.moved(self.mean, self.stretch, in_place=in_place)


def _stretch(covariance: np.ndarray, words: int, whitening: float) -> np.ndarray:
    """The symmetric map (D, D) that divides each direction by its variance to the power of whitening / 2.

    Few words vary in few directions, and by chance. So the covariance counts as if D words of equal variance
    in all directions had been seen too; a single pair is hardly whitened at all.
    """
    size = len(covariance)
    typical = np.trace(covariance) / size
    if typical <= 0:  # all vectors are one
        return np.eye(size)
    least = size * typical / (words + size)  # of any direction, but for rounding
    variances, directions = np.linalg.eigh(covariance * words / (words + size) + least * np.eye(size))
    return (directions * (np.maximum(variances, least) / typical) ** (-whitening / 2)) @ directions.T


def centred(
    stream: Iterator[tuple[Kept, Embeddings]], centre: Centre | None = None, whitening: float = 0.0
) -> Iterator[tuple[Kept, Embeddings]]:
    """The same stream around a centre that was kept, or else that of its first words. It gives away its
    embeddings, which are moved where they are."""
    if centre is not None:
        for kept, embeddings in stream:
            yield kept, centre.centred(embeddings, in_place=True)
        return
    held, words = first(stream)
    if not words:  # a stream of texts without words
        yield from held
        return
    centre = Centre.of((embeddings for _, embeddings in held), whitening)
    while held:  # given away one by one: the stream may be long
        kept, embeddings = held.popleft()
        yield kept, centre.centred(embeddings, in_place=True)
    for kept, embeddings in stream:
        yield kept, centre.centred(embeddings, in_place=True)


def first(stream: Iterator[tuple[Kept, Embeddings]]) -> tuple[deque[tuple[Kept, Embeddings]], int]:
    """The beginning of a stream that its centre is taken from, and how many words it has."""
    held: deque[tuple[Kept, Embeddings]] = deque()
    words = 0
    for kept, embeddings in stream:
        held.append((kept, embeddings))
        words += embeddings.words
        if words >= WORDS:
            break
    return held, words
