"""Sets of training examples, read batch by batch; the next batches are prepared while one is in use."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from otalign.processes import prefetch


class Split(NamedTuple):
    """The share of this process in each batch, and the number of parts in which it reads that share."""

    process: int = 0
    processes: int = 1
    accumulate: int = 1

    def get_parts(self, examples: np.ndarray) -> list[np.ndarray]:
        """Return the examples of each part. No part is empty."""
        mine = examples[self.process :: self.processes] if len(examples) >= self.processes else examples
        return [part for part in np.array_split(mine, self.accumulate) if len(part)]


WHOLE = Split()


class TrainSet(Protocol):
    """Examples that a model is trained on. Epochs are read inside a `with` block."""

    def __len__(self) -> int:
        """Return the number of examples in an epoch."""
        ...

    def __enter__(self) -> Any: ...

    def __exit__(self, *_: object) -> None: ...

    def read(
        self, size: int, seed: tuple[int, int], random: np.random.Generator, split: Split
    ) -> Iterator[list[Any]]:
        """Read an epoch.

        Args:
            size: Number of examples in a batch.
            seed: Seed of the run, and number of the epoch, which determine all random numbers.
            random: Random numbers of this epoch, for the order.
            split: Share of this process in each batch.

        Yields:
            The parts of a batch that this process reads.
        """
        ...


class ShuffledSet:
    """A set of numbered examples that are read in random order."""

    def shuffle(self, size: int, random: np.random.Generator) -> list[np.ndarray]:
        """Return the numbers of all examples in random batches of `size`."""
        raise NotImplementedError

    def make_batch(self, examples: np.ndarray, /) -> Any:
        """Make a batch of the examples with these numbers."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: the set holds no resources."""

    def read(
        self, size: int, seed: tuple[int, int], random: np.random.Generator, split: Split = WHOLE
    ) -> Iterator[list[Any]]:
        """Read an epoch; see `TrainSet`."""

        def make(examples: np.ndarray) -> list[Any]:
            return [self.make_batch(part) for part in split.get_parts(examples)]

        with ThreadPoolExecutor(1) as thread:
            yield from prefetch(partial(thread.submit, make), self.shuffle(size, random), 1)
