"""Training examples: sentence pairs with the links to learn, and the weight of each level."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

Words = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Example:
    """A sentence pair with a target for every cell.

    Attributes:
        source: Words of the source sentence.
        target: Words of the target sentence.
        targets: Probability of a link to learn in each cell, (levels, n, m).
        weights: Weight of each level in the loss, (levels,); 0 where its links are unknown.
    """

    source: Words
    target: Words
    targets: np.ndarray
    weights: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """Number of words of source and target."""
        return len(self.source), len(self.target)

    def transpose(self) -> "Example":
        """Exchange source and target."""
        return replace(self, source=self.target, target=self.source, targets=self.targets.swapaxes(1, 2))

    def select_target(self, columns: Sequence[int]) -> "Example":
        """Return the example with these target words, in this order, and their targets."""
        target = tuple(self.target[k] for k in columns)
        return replace(self, target=target, targets=self.targets[:, :, list(columns)])


def make_null_example(source: Words, target: Words, like: Example) -> Example:
    """Make a pair in which, at every level, no word corresponds to another."""
    targets = np.zeros((len(like.weights), len(source), len(target)), dtype=np.float32)
    return Example(source, target, targets, _fill_weights(like))


def make_identity_example(words: Words, like: Example) -> Example:
    """Pair a sentence with itself: each word corresponds to itself alone, at every level."""
    targets = np.repeat(np.eye(len(words), dtype=np.float32)[None], len(like.weights), axis=0)
    return Example(words, words, targets, _fill_weights(like))


def join_examples(examples: Sequence[Example], order: Sequence[int]) -> Example:
    """Join pairs into one, with their target sentences in this order.

    Words of different pairs do not correspond. A level whose links are unknown in one pair is unknown in all.
    """
    weights = np.min([example.weights for example in examples], axis=0)
    starts = np.cumsum([0, *(len(examples[k].target) for k in order)])
    source = tuple(word for example in examples for word in example.source)
    target = tuple(word for k in order for word in examples[k].target)
    targets = np.zeros((len(weights), len(source), len(target)), dtype=np.float32)
    top = 0
    for k, example in enumerate(examples):
        left = starts[list(order).index(k)]
        n, m = example.shape
        targets[:, top : top + n, left : left + m] = example.targets
        top += n
    return Example(source, target, targets, weights)


def _fill_weights(like: Example) -> np.ndarray:
    """Return the highest weight of the example's levels, for every level."""
    return np.full_like(like.weights, like.weights.max())
