"""The word embeddings of many sentences, in one array of NumPy or torch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from otalign.arrays import Array, array_namespace, device, is_numpy_array, to_device_of

STRIP = 4096  # words to transform at a time on a CPU, so that temporary arrays stay in the cache


@dataclass(frozen=True, eq=False)
class Embeddings:
    """Word embeddings, sentence by sentence: those of sentence k are `vectors[starts[k] : starts[k + 1]]`.

    Attributes:
        vectors: Embeddings of all words, (words, D).
        starts: Index of the first word of each sentence, and the number of words, (sentences + 1,).
        further: More columns (words, C), which follow the vectors of padded sentences; None for none. They
            are separate because copies of large arrays, which do not fit into a cache, take time.
    """

    vectors: Array
    starts: np.ndarray
    further: Array | None = None

    @property
    def words(self) -> int:
        """Number of words."""
        return int(self.starts[-1])

    @property
    def shapes(self) -> np.ndarray:
        """Number of source and target words of each pair, for alternating sentences, (pairs, 2)."""
        return np.diff(self.starts).reshape(-1, 2)

    def __getitem__(self, sentence: int) -> Array:
        """Return the embeddings of one sentence, (its words, D)."""
        return self.vectors[int(self.starts[sentence]) : int(self.starts[sentence + 1]), ...]

    def append(self, columns: np.ndarray) -> "Embeddings":
        """Return the embeddings with further columns (words, C)."""
        xp, vectors = array_namespace(self.vectors), self.vectors
        further = xp.asarray(columns, dtype=vectors.dtype, device=device(vectors))
        return Embeddings(vectors, self.starts, further)

    def sum_vectors(self) -> np.ndarray:
        """Compute the sum of all embeddings (D,), in float64."""
        xp = array_namespace(self.vectors)
        return to_numpy(xp.sum(self.vectors, axis=0, dtype=xp.float64))

    def sum_squares(self, mean: np.ndarray) -> np.ndarray:
        """Compute the sum of outer products of all embeddings (D, D), in float64, given their mean."""
        # The mean may be far larger than the deviations; for these, float32 is precise enough.
        xp, vectors = array_namespace(self.vectors), self.vectors
        origin = xp.asarray(mean, dtype=vectors.dtype, device=device(vectors))
        total = self.words * np.outer(mean, mean)
        for strip in self._split_strips():
            deviations = strip - origin
            total += to_numpy(xp.matrix_transpose(deviations) @ deviations)
        return total

    def transform(
        self, origin: np.ndarray, stretch: np.ndarray | None = None, *, in_place: bool = False
    ) -> "Embeddings":
        """Subtract an origin from all embeddings and multiply them with a matrix.

        Args:
            origin: Vector (D,) to subtract.
            stretch: Matrix (D, D) to multiply with; None for none.
            in_place: Whether to change and return these embeddings.

        Returns:
            The transformed embeddings.
        """
        xp, vectors = array_namespace(self.vectors), self.vectors
        origin = xp.asarray(origin, dtype=vectors.dtype, device=device(vectors))
        if stretch is not None:
            stretch = xp.asarray(stretch, dtype=vectors.dtype, device=device(vectors))
        result = self if in_place else Embeddings(xp.asarray(vectors, copy=True), self.starts)
        for strip in result._split_strips():
            strip -= origin
            if stretch is not None:
                strip[...] = strip @ stretch
        return result

    def _split_strips(self) -> Iterator[Array]:
        """Yield views of some vectors at a time, or of all on a GPU."""
        size = STRIP if str(device(self.vectors)) == "cpu" else max(1, self.words)
        return (self.vectors[first : first + size, ...] for first in range(0, self.words, size))

    def pad(self, sentences: Sequence[int] | np.ndarray, length: int | None = None) -> tuple[Array, Array]:
        """Pad the embeddings of several sentences.

        Args:
            sentences: Indices of the sentences.
            length: Number of words to pad to; None for that of the longest sentence.

        Returns:
            Vectors (B, N, D), and the mask (B, N) of words.
        """
        return self.take(self.find_rows(sentences, length))

    def find_rows(self, sentences: Sequence[int] | np.ndarray, length: int | None = None) -> np.ndarray:
        """Return the rows of the words of several sentences, padded with -1, (B, N)."""
        starts, ends = self.starts[sentences], self.starts[np.add(sentences, 1)]
        positions = np.arange((ends - starts).max() if length is None else length)
        return np.where(positions < (ends - starts)[:, None], starts[:, None] + positions, -1)

    def take(self, rows: np.ndarray) -> tuple[Array, Array]:
        """Return the vectors (B, N, D) of rows, and the mask (B, N) of those that are not -1."""
        xp = array_namespace(self.vectors)
        indices = to_device_of(np.maximum(rows, 0).reshape(-1), self.vectors)
        vectors = xp.take(self.vectors, indices, axis=0)
        if self.further is not None:
            vectors = xp.concat([vectors, xp.take(self.further, indices, axis=0)], axis=1)
        return xp.reshape(vectors, (*rows.shape, -1)), to_device_of(rows >= 0, self.vectors)


def to_numpy(x: Array) -> np.ndarray:
    """Convert an array to NumPy."""
    return x.cpu().numpy() if hasattr(x, "cpu") else np.asarray(x)


class WordParts:
    """The subwords of the words of a batch, whose states are summed up.

    Args:
        places: Index of each subword in the flattened states (B · L, D).
        words: Word of each subword.
        weights: Weight of each subword.

    Attributes:
        words: The words. One whose subwords are not consecutive occurs more than once.
    """

    def __init__(self, places: np.ndarray, words: np.ndarray, weights: np.ndarray) -> None:
        self._places, self._weights = places, weights
        self._starts = np.flatnonzero(np.diff(words, prepend=-1))
        self.words = words[self._starts]

    @cached_property
    def ranks(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """The first subwords of words, the second ones, and so on: indices of words, places and weights."""
        lengths = np.diff(self._starts, append=len(self._places))
        longer = (np.flatnonzero(lengths > k) for k in range(lengths.max(initial=1)))
        indices = ((words, self._starts[words] + k) for k, words in enumerate(longer))
        return [(words, self._places[part], self._weights[part, None]) for words, part in indices]

    def sum(self, states: Array) -> Array:
        """Compute the weighted sums of states (B, L, D) for the words, (words, D)."""
        states = states.reshape(-1, states.shape[-1])
        if not is_numpy_array(states):
            return _sum_bags(states, self._places, self._starts, self._weights)
        (_, places, weights), *further = self.ranks
        sums = states[places]
        if len(scaled := np.flatnonzero(weights != 1)):  # words of several subwords
            sums[scaled] *= weights[scaled]
        for words, places, weights in further:
            sums[words] += states[places] * weights
        return sums


def _sum_bags(states: Array, places: np.ndarray, starts: np.ndarray, weights: np.ndarray) -> Array:
    """Compute the sums by torch, each in the order of its subwords.

    Added in any order, as other operations do on a GPU, they would differ by rounding from run to run.
    """
    from torch.nn.functional import embedding_bag

    indices, offsets, shares = (to_device_of(array, states) for array in (places, starts, weights))
    return embedding_bag(indices, states, offsets, mode="sum", per_sample_weights=shares.to(states.dtype))


class Sums:
    """The vectors (words, D) of words, accumulated from parts."""

    def __init__(self, words: int, like: Array) -> None:
        xp = array_namespace(like)
        self._vectors = xp.empty((words, like.shape[-1]), dtype=like.dtype, device=device(like))
        self.has_parts = np.zeros(words, dtype=bool)
        self.last = np.zeros(words, dtype=np.int64)  # last index of each word among those added

    def add(self, words: np.ndarray, parts: Array) -> None:
        """Add a part (D,) to each of these words."""
        # Indexed addition counts a repeated row once, so the first parts of all words are added first, …
        for indices in self._split_duplicates(words):
            has_parts, numbers = self.has_parts[words[indices]], np.arange(len(words))[indices]
            if has_parts.any():
                further = numbers[has_parts]
                self._vectors[to_device_of(words[further], parts)] += parts[further]
                indices = numbers[~has_parts]
            self._vectors[to_device_of(words[indices], parts)] = parts[indices]  # the usual case is all
            self.has_parts[words[indices]] = True

    @property
    def vectors(self) -> Array:
        """The vectors; 0 for words without parts."""
        missing = np.flatnonzero(~self.has_parts)
        if len(missing):
            self._vectors[to_device_of(missing, self._vectors)] = 0.0
        return self._vectors

    def _split_duplicates(self, words: np.ndarray) -> Iterator[np.ndarray | slice]:
        """Yield all indices into `words`, some at a time, such that no word is repeated."""
        indices = np.arange(len(words))
        self.last[words] = indices
        if np.array_equal(self.last[words], indices):  # the usual case, without windows
            yield slice(None)
            return
        order = np.argsort(words, kind="stable")
        first = np.flatnonzero(np.diff(words[order], prepend=-1))
        rank = indices - np.repeat(first, np.diff(first, append=len(words)))
        for k in range(rank.max(initial=-1) + 1):
            yield order[rank == k]
