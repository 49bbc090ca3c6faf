"""Centring: the mean embedding, which all words share and none means, is taken away.

It is that of the words at hand. Of a stream it is that of the first pairs, `WORDS` words of them, which are
held until then; a corpus of a thousand pairs or so is less and is centred on the whole of itself.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import TypeVar

import numpy as np

from otalign.encoders import Embeddings

WORDS = 65_536

Kept = TypeVar("Kept")


def mean(parts: Iterable[Embeddings]) -> np.ndarray:
    """The mean of all their vectors (D,), in float64."""
    total, words = np.zeros(1), 0
    for embeddings in parts:
        total, words = total + embeddings.total(), words + embeddings.words
    if not words:
        raise ValueError("pairs must have words to take the mean of, got none")
    return total / words


def centred(stream: Iterator[tuple[Kept, Embeddings]]) -> Iterator[tuple[Kept, Embeddings]]:
    """The same stream around the mean of its first words."""
    first: deque[tuple[Kept, Embeddings]] = deque()
    words = 0
    for kept, embeddings in stream:
        first.append((kept, embeddings))
        words += embeddings.words
        if words >= WORDS:
            break
    centre = mean(embeddings for _, embeddings in first) if words else np.zeros(1)
    while first:  # given away one by one: the stream may be long
        kept, embeddings = first.popleft()
        yield kept, embeddings.minus(centre)
    for kept, embeddings in stream:
        yield kept, embeddings.minus(centre)
