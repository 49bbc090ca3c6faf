"""The embeddings of the words of many sentences, in one array of NumPy or torch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from otalign.arrays import array_namespace, device, is_numpy_array, to_device_of

Array = Any

STRIP = 4096  # words moved at a time on a CPU: what is made of them takes no new memory, which costs more


@dataclass(frozen=True, eq=False)
class Embeddings:
    """One sentence after the other: those of sentence k are `vectors[starts[k] : starts[k + 1]]`."""

    vectors: Array  # (words, D)
    starts: np.ndarray  # (sentences + 1,)

    @property
    def words(self) -> int:
        return int(self.starts[-1])

    @property
    def shapes(self) -> np.ndarray:
        """The words of source and target, where the sentences are such, (pairs, 2)."""
        return np.diff(self.starts).reshape(-1, 2)

    def __getitem__(self, sentence: int) -> Array:
        """Those of one sentence, (its words, D)."""
        return self.vectors[int(self.starts[sentence]) : int(self.starts[sentence + 1]), ...]

    def total(self) -> np.ndarray:
        """Their sum (D,), in float64."""
        xp = array_namespace(self.vectors)
        return to_numpy(xp.sum(self.vectors, axis=0, dtype=xp.float64))

    def squares(self, mean: np.ndarray) -> np.ndarray:
        """The sum of their outer products with themselves (D, D), in float64, if this is their mean."""
        # The mean may be far larger than what is around it; around it, float32 is exact enough.
        xp, of = array_namespace(self.vectors), self.vectors
        origin = xp.asarray(mean, dtype=of.dtype, device=device(of))
        spread = self.words * np.outer(mean, mean)
        for strip in self._strips():
            around = strip - origin
            spread += to_numpy(xp.matrix_transpose(around) @ around)
        return spread

    def transform(
        self, origin: np.ndarray, stretch: np.ndarray | None = None, *, in_place: bool = False
    ) -> "Embeddings":
        """Return the embeddings relative to another origin, multiplied with a map (D, D).

        In place, these embeddings are changed and returned.
        """
        xp, of = array_namespace(self.vectors), self.vectors
        origin = xp.asarray(origin, dtype=of.dtype, device=device(of))
        if stretch is not None:
            stretch = xp.asarray(stretch, dtype=of.dtype, device=device(of))
        result = self if in_place else Embeddings(xp.asarray(of, copy=True), self.starts)
        for strip in result._strips():
            strip -= origin
            if stretch is not None:
                strip[...] = strip @ stretch
        return result

    def _strips(self) -> Iterator[Array]:
        """Views of some vectors at a time, or of all on a GPU."""
        size = STRIP if str(device(self.vectors)) == "cpu" else max(1, self.words)
        return (self.vectors[first : first + size, ...] for first in range(0, self.words, size))

    def pad(self, sentences: Sequence[int] | np.ndarray) -> tuple[Array, Array]:
        """Return the vectors of several sentences (B, N, D), padded, and the mask (B, N) of their words."""
        xp = array_namespace(self.vectors)
        starts, ends = self.starts[sentences], self.starts[np.add(sentences, 1)]
        steps = np.arange((ends - starts).max())
        is_word = steps < (ends - starts)[:, None]
        rows = np.where(is_word, starts[:, None] + steps, 0)
        taken = xp.take(self.vectors, to_device_of(rows.reshape(-1), self.vectors), axis=0)
        return xp.reshape(taken, (*rows.shape, -1)), to_device_of(is_word, self.vectors)


def to_numpy(x: Array) -> np.ndarray:
    return x.cpu().numpy() if hasattr(x, "cpu") else np.asarray(x)


def word_parts(
    states: Array, places: np.ndarray, words: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, Array]:
    """Words, and the sum of weight · state for each (words, D), over places in states (B, L, D) end to end.
    A word whose places are not one after the other comes more than once."""
    states = states.reshape(-1, states.shape[-1])
    starts = np.flatnonzero(np.diff(words, prepend=-1))
    if not is_numpy_array(states):
        return words[starts], _bags(states, places, starts, weights)
    lengths = np.diff(starts, append=len(words))
    sums = states[places[starts]]
    sums *= weights[starts, None]
    for k in range(1, lengths.max(initial=0)):
        longer = np.flatnonzero(lengths > k)
        at = starts[longer] + k
        sums[longer] += states[places[at]] * weights[at, None]
    return words[starts], sums


def _bags(states: Array, places: np.ndarray, starts: np.ndarray, weights: np.ndarray) -> Array:
    """The sums by torch, each in the order of its places: added as they come, they would differ by rounding
    from run to run on a GPU."""
    from torch.nn.functional import embedding_bag

    at, first, shares = (to_device_of(one, states) for one in (places, starts, weights))
    return embedding_bag(at, states, first, mode="sum", per_sample_weights=shares.to(states.dtype))


class Sums:
    """The vectors (words, D) of words, added up from parts."""

    def __init__(self, words: int, like: Array):
        xp = array_namespace(like)
        self.vectors = xp.zeros((words, like.shape[-1]), dtype=like.dtype, device=device(like))
        self.met = np.zeros(words, dtype=bool)
        self.last = np.zeros(words, dtype=np.int64)  # of each word, its last place among those given

    def add(self, words: np.ndarray, parts: Array) -> None:
        """A part (D,) to each of these words."""
        # A row that is named twice is added to once. So the first parts of all words, then the second, …
        for one in self._apart(words):
            rows = to_device_of(words[one], parts)
            if self.met[words[one]].any():
                self.vectors[rows] += parts[one]
            else:  # mostly: there are no others without windows
                self.vectors[rows] = parts[one]
            self.met[words[one]] = True

    def _apart(self, words: np.ndarray) -> Iterator[np.ndarray | slice]:
        """All places of `words`, some at a time, no word twice at a time."""
        places = np.arange(len(words))
        self.last[words] = places
        if np.array_equal(self.last[words], places):  # as it is without windows
            yield slice(None)
            return
        order = np.argsort(words, kind="stable")
        first = np.flatnonzero(np.diff(words[order], prepend=-1))
        rank = places - np.repeat(first, np.diff(first, append=len(words)))
        for k in range(rank.max(initial=-1) + 1):
            yield order[rank == k]
