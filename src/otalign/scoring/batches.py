"""Pairs of sentences of similar length, padded and scored together."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from otalign.arrays import Array, get_gpu_memory
from otalign.encoders import Embeddings

GPU_SHARE = 1 / 32  # share of a GPU's memory for one batch
LONG = 1 << 16  # cells above which a pair is long, and in a batch alone, whatever the device


class BatchBudget(NamedTuple):
    """Size of a batch. Padding costs time, and so does the overhead of operations on few pairs."""

    cells: int  # maximum on a CPU
    cell_bytes: int  # memory of a GPU that a cell takes
    step: int  # largest difference of lengths, in words
    fill_step: bool = False  # whether to pad to multiples of it, so that padding depends on the pair alone


class PairBatch(NamedTuple):
    """Word vectors X (B, N, D) and Y (B, M, D) of pairs, padded, with the masks of their words."""

    X: Array
    Y: Array
    is_source: Array  # (B, N)
    is_target: Array  # (B, M)

    @property
    def cells(self) -> Array:
        """Mask of the cells that are pairs of words, (B, N, M)."""
        return self.is_source[:, :, None] & self.is_target[:, None, :]


class PairRows(NamedTuple):
    """The pairs of a batch as rows of embeddings, padded with -1."""

    embeddings: Embeddings
    source: np.ndarray  # (B, N)
    target: np.ndarray  # (B, M)

    @classmethod
    def from_batch(cls, batch: PairBatch, size: int) -> "PairRows":
        """Return the rows of a batch in NumPy, given the size of its embeddings without further features."""
        words = np.concatenate([np.reshape(x, (-1, x.shape[-1])) for x in (batch.X, batch.Y)])
        numbers = np.arange(len(words))
        source, target = np.split(numbers, [batch.is_source.size])
        return cls(
            Embeddings(words[:, :size], numbers, words[:, size:] if words.shape[1] > size else None),
            np.where(batch.is_source, source.reshape(batch.is_source.shape), -1),
            np.where(batch.is_target, target.reshape(batch.is_target.shape), -1),
        )

    @property
    def is_source(self) -> np.ndarray:
        """Mask of source words, (B, N)."""
        return self.source >= 0

    @property
    def is_target(self) -> np.ndarray:
        """Mask of target words, (B, M)."""
        return self.target >= 0

    @property
    def is_long(self) -> bool:
        """True for a single long pair."""
        return len(self.source) == 1 and is_long(int(self.is_source.sum()), int(self.is_target.sum()))

    def pad(self) -> PairBatch:
        """Return the batch with the vectors of these rows."""
        (X, is_source), (Y, is_target) = map(self.embeddings.take, (self.source, self.target))
        return PairBatch(X, Y, is_source, is_target)


def is_long(n: int, m: int) -> bool:
    """Return whether a pair with these numbers of source and target words is long."""
    return n * m > LONG


def split_into_batches(embeddings: Embeddings, budget: BatchBudget) -> Iterator[tuple[list[int], PairBatch]]:
    """Split pairs into batches of similar lengths.

    Args:
        embeddings: Embeddings of source, target, source, target, ….
        budget: Size of a batch.

    Yields:
        The indices of the pairs of a batch, and the batch. Pairs without words on one side are left out.
    """
    for indices in group_pairs(embeddings, budget):
        yield indices.tolist(), find_rows(embeddings, indices, budget).pad()


def group_pairs(embeddings: Embeddings, budget: BatchBudget) -> Iterator[np.ndarray]:
    """Yield the indices of the pairs of each batch that `split_into_batches` yields."""
    memory = get_gpu_memory(embeddings.vectors)
    cells = budget.cells if memory is None else int(GPU_SHARE * memory) // budget.cell_bytes
    shapes = embeddings.shapes
    steps = -(-shapes // budget.step)
    order = np.lexsort(steps.T)  # pairs of similar shape are neighbours
    order = order[shapes[order].all(axis=1)]
    ends = np.flatnonzero(np.diff(steps[order], axis=0).any(axis=1)) + 1
    for members in np.split(order, ends):
        n, m = map(int, shapes[members].max(axis=0, initial=1))
        size = 1 if is_long(n, m) else max(1, cells // (n * m))
        yield from (members[start : start + size] for start in range(0, len(members), size))


def find_rows(embeddings: Embeddings, indices: np.ndarray, budget: BatchBudget) -> PairRows:
    """Return the padded rows of the pairs with these indices."""
    n, m = map(int, embeddings.shapes[indices].max(axis=0))
    if budget.fill_step and not is_long(n, m):
        n, m = (-(-length // budget.step) * budget.step for length in (n, m))
    source, target = embeddings.find_rows(2 * indices, n), embeddings.find_rows(2 * indices + 1, m)
    return PairRows(embeddings, source, target)
