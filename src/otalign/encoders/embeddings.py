"""The embeddings of the words of many sentences, in one array of NumPy or torch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from otalign.arrays import array_namespace, beside, device, is_numpy_array

Array = Any


@dataclass(frozen=True, eq=False)
class Embeddings:
    """One sentence after the other: those of sentence k are `vectors[starts[k] : starts[k + 1]]`."""

    vectors: Array  # (words, D)
    starts: np.ndarray  # (sentences + 1,)

    @property
    def words(self) -> int:
        return int(self.starts[-1])

    def __getitem__(self, sentence: int) -> Array:
        """Those of one sentence, (its words, D)."""
        return self.vectors[int(self.starts[sentence]) : int(self.starts[sentence + 1]), ...]

    def total(self) -> np.ndarray:
        """Their sum (D,), in float64."""
        xp = array_namespace(self.vectors)
        return in_numpy(xp.sum(self.vectors, axis=0, dtype=xp.float64))

    def squares(self) -> np.ndarray:
        """The sum of their outer products with themselves (D, D), in float64."""
        xp = array_namespace(self.vectors)
        if not self.words:
            return np.zeros((1, 1))
        # Around their own mean, which may be far larger than what is around it, float32 is exact enough.
        mean = self.total() / self.words
        around = self.moved(mean).vectors
        spread = in_numpy(xp.matrix_transpose(around) @ around).astype(np.float64)
        return spread + self.words * np.outer(mean, mean)

    def moved(self, origin: np.ndarray, stretch: np.ndarray | None = None) -> "Embeddings":
        """The same around another origin, and stretched there by a map (D, D)."""
        xp, of = array_namespace(self.vectors), self.vectors
        moved = of - xp.asarray(origin, dtype=of.dtype, device=device(of))
        if stretch is not None:
            moved = moved @ xp.asarray(stretch, dtype=of.dtype, device=device(of))
        return Embeddings(moved, self.starts)

    def padded(self, sentences: Sequence[int]) -> tuple[Array, Array]:
        """Those of several sentences (B, N, D), and the mask (B, N) of what is a word."""
        xp = array_namespace(self.vectors)
        starts, ends = self.starts[sentences], self.starts[np.add(sentences, 1)]
        steps = np.arange((ends - starts).max())
        is_word = steps < (ends - starts)[:, None]
        rows = np.where(is_word, starts[:, None] + steps, 0)
        taken = xp.take(self.vectors, beside(rows.reshape(-1), self.vectors), axis=0)
        return xp.reshape(taken, (*rows.shape, -1)), beside(is_word, self.vectors)


def in_numpy(x: Array) -> np.ndarray:
    return x.cpu().numpy() if hasattr(x, "cpu") else np.asarray(x)


def add_parts(vectors: Array, states: Array, places: np.ndarray, words: np.ndarray, weights: np.ndarray):
    """Add weight · state to the vectors (words, D) of words, for places in states (B, L, D) end to end."""
    xp = array_namespace(states)
    states = xp.reshape(states, (-1, states.shape[-1]))
    if is_numpy_array(states):
        # NumPy adds once to a row that is named twice. So the first parts of all words, then the second, …
        for one in _apart(words):
            vectors[words[one]] += states[places[one]] * weights[one, None]
    else:
        places, words, weights = (beside(x, states) for x in (places, words, weights))
        vectors.index_add_(0, words, states[places] * xp.astype(weights, states.dtype)[:, None])


def _apart(words: np.ndarray) -> Iterator[np.ndarray]:
    """All places of `words`, some at a time, no word twice at a time."""
    order = np.argsort(words, kind="stable")
    first = np.flatnonzero(np.diff(words[order], prepend=-1))
    rank = np.arange(len(words)) - np.repeat(first, np.diff(first, append=len(words)))
    for k in range(rank.max(initial=-1) + 1):
        yield order[rank == k]
