"""How the training loop reads a set: batch by batch, the next ones being made while one is in use."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np

Of = TypeVar("Of")
Made = TypeVar("Made")


class Split(NamedTuple):
    """Part of each batch that this process reads, and in how many parts where memory is short."""

    process: int = 0
    processes: int = 1
    accumulate: int = 1

    def parts(self, examples: np.ndarray) -> list[np.ndarray]:
        """The examples of each part. No part is empty."""
        mine = examples[self.process :: self.processes] if len(examples) >= self.processes else examples
        return [part for part in np.array_split(mine, self.accumulate) if len(part)]


WHOLE = Split()


class TrainSet(Protocol):
    """Examples that a model is trained on. Inside a `with` block its epochs can be read."""

    def __len__(self) -> int:
        """Examples in an epoch."""
        ...

    def __enter__(self) -> Any: ...

    def __exit__(self, *_: object) -> None: ...

    def read(
        self, size: int, seed: tuple[int, int], random: np.random.Generator, split: Split
    ) -> Iterator[list[Any]]:
        """Read an epoch.

        Args:
            size: Examples in a batch.
            seed: Of the run, and the number of the epoch: all that is drawn depends on them.
            random: Random numbers of this epoch, for the order.
            split: What of a batch this process reads.

        Yields:
            A batch in the parts that this process reads.
        """
        ...


class ShuffledSet:
    """A set whose examples are numbered, and read in batches of random numbers."""

    def shuffle(self, size: int, random: np.random.Generator) -> list[np.ndarray]:
        """The numbers of all examples once, `size` at a time."""
        raise NotImplementedError

    def batch(self, examples: np.ndarray, /) -> Any:
        """These examples, by their numbers."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is to be ended."""

    def read(
        self, size: int, seed: tuple[int, int], random: np.random.Generator, split: Split = WHOLE
    ) -> Iterator[list[Any]]:
        """Read an epoch; see `TrainSet`."""

        def make(examples: np.ndarray) -> list[Any]:
            return [self.batch(part) for part in split.parts(examples)]

        with ThreadPoolExecutor(1) as thread:
            yield from in_order(partial(thread.submit, make), self.shuffle(size, random), 1)


def in_order(submit: Callable[[Of], "Future[Made]"], tasks: Iterable[Of], ahead: int) -> Iterator[Made]:
    """The results of tasks, in order; so many more are begun before they are asked for."""
    begun: deque[Future[Made]] = deque()
    for task in tasks:
        begun.append(submit(task))
        if len(begun) > ahead:
            yield begun.popleft().result()
    while begun:
        yield begun.popleft().result()
