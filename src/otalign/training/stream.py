"""The examples of an epoch in batches, prepared by worker processes.

Workers map the pairs from disk and make augmented copies, subwords, padding and targets of them. The random
numbers of an example depend on the seed, the epoch and its position in the epoch alone, so the number of
workers and of training processes does not change a result.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from math import ceil
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from otalign.alignment import LEVELS
from otalign.encoders import Pairing, PairPreparer
from otalign.processes import TaskPool, prefetch
from otalign.training.augmentation import COPIES, Augmentation, augment
from otalign.training.batches import POOL, TrainingBatch, collate, encode_pairs
from otalign.training.examples import Example
from otalign.training.reading import WHOLE, Split
from otalign.training.store import PairStore

AS_IS = -1  # in place of the number of a kind, where a pair is not edited


class Task(NamedTuple):
    """Examples that are put into batches together, so that those of similar length can share one."""

    seed: tuple[int, int]  # seed of the run, and number of the epoch
    first: int  # position of the first example in the epoch
    pairs: np.ndarray
    kinds: np.ndarray  # numbers of `COPIES`, or `AS_IS`
    size: int  # number of examples in a batch
    split: Split


@dataclass(frozen=True, eq=False)
class BatchMaker:
    """Makes batches of the pairs of a store. It needs no model."""

    store: PairStore
    reader: PairPreparer
    pairing: Pairing
    augmentation: Augmentation
    both_directions: bool

    def make_batches(self, task: Task) -> list[list[TrainingBatch]]:
        """Make the batches of a task, each in the parts that this process reads."""
        examples = [
            self.make_example(task, k, pair, kind)
            for k, (pair, kind) in enumerate(zip(task.pairs.tolist(), task.kinds.tolist(), strict=True))
        ]
        inputs = encode_pairs(
            self.reader, [(example.source, example.target) for example in examples], self.pairing
        )
        order = np.argsort([len(pair_inputs[0].ids) for pair_inputs in inputs], kind="stable")
        batches = [order[k : k + task.size] for k in range(0, len(order), task.size)]
        Random(repr((task.seed, "batches", task.first))).shuffle(batches)

        def make_batch(numbers: np.ndarray) -> TrainingBatch:
            members = [examples[k] for k in numbers]
            lengths = np.array([example.shape for example in members], dtype=np.int64)
            links = np.zeros((len(LEVELS), len(members), *lengths.max(axis=0)), dtype=np.float32)
            for b, example in enumerate(members):
                n, m = example.shape
                links[:, b, :n, :m] = example.targets
            known = np.stack([example.weights for example in members], axis=1).astype(np.float32)
            texts = [(example.source, example.target) for example in members]
            return collate(
                [inputs[k] for k in numbers], texts, links, known, task.pairs[numbers], self.reader.pad
            )

        return [[make_batch(part) for part in task.split.get_parts(batch)] for batch in batches]

    def make_example(self, task: Task, k: int, pair: int, kind: int) -> Example:
        """Make example k of a task: a pair in one direction, with the edit of its kind."""
        random = Random(repr((*task.seed, task.first + k)))
        count = len(self.store)

        def draw() -> Example:
            while True:  # most pairs have words on both sides
                other = self.store[random.randrange(count)]
                if all(other.shape):
                    return other

        example = self.store[pair]
        if self.both_directions and random.random() < 0.5:
            example = example.transpose()
        name = None if kind == AS_IS else COPIES[kind]
        return augment(example, name, random, draw, self.augmentation)


class ExampleStream:
    """Examples made of the pairs of a store: gold pairs are repeated, and augmented copies added.

    Args:
        store: The pairs; gold pairs come first.
        reader: Splits pairs into subwords for the encoder.
        pairing: Whether the encoder reads the two sentences together.
        augmentation: Shares of the augmented copies.
        both_directions: Whether each example is read target first half of the time.
        gold_share: Smallest share of gold pairs among the pairs of an epoch; they are repeated to reach it.
            It has no effect without unlabelled pairs.
        workers: Number of worker processes; with 0 a thread makes the batches.
        repeats: How often each gold pair is read, (gold pairs,); by default once.
    """

    def __init__(
        self,
        store: PairStore,
        reader: PairPreparer,
        pairing: Pairing = "joint",
        augmentation: Augmentation = Augmentation(),  # noqa: B008 (frozen)
        both_directions: bool = True,
        gold_share: float = 0.0,
        workers: int = 0,
        repeats: np.ndarray | None = None,
    ) -> None:
        self.maker = BatchMaker(store, reader, pairing, augmentation, both_directions)
        self.workers = workers
        alignable = np.flatnonzero(store.texts.lengths.min(axis=1, initial=np.iinfo(np.int64).max) > 0)
        gold, unlabelled = alignable[alignable < store.gold], alignable[alignable >= store.gold]
        if repeats is not None:
            gold = np.repeat(gold, repeats[gold])
        rounds = 1
        if len(gold) and len(unlabelled):
            rounds = max(1, ceil(gold_share / (1 - gold_share) * len(unlabelled) / len(gold)))
        self.pairs = np.concatenate([np.tile(gold, rounds), unlabelled])
        self.copies = [round(share * len(self.pairs)) for share in augmentation.copies.values()]

    def __len__(self) -> int:
        """Return the number of examples in an epoch."""
        return len(self.pairs) + sum(self.copies)

    def plan(self, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return the pairs of an epoch in random order, and the kind of edit of each."""
        pairs, kinds = [self.pairs], [np.full(len(self.pairs), AS_IS)]
        for kind, count in enumerate(self.copies):
            pairs.append(random.permutation(self.pairs)[:count])
            kinds.append(np.full(count, kind))
        order = random.permutation(len(self))
        return np.concatenate(pairs)[order], np.concatenate(kinds)[order]

    def read(
        self, size: int, seed: tuple[int, int], random: np.random.Generator, split: Split = WHOLE
    ) -> Iterator[list[TrainingBatch]]:
        """Read an epoch; see `TrainSet`."""
        pairs, kinds = self.plan(random)
        pool = POOL * size
        tasks = [
            Task(seed, k, pairs[k : k + pool], kinds[k : k + pool], size, split)
            for k in range(0, len(pairs), pool)
        ]
        for batches in self._make(tasks):
            yield from batches

    def _make(self, tasks: Sequence[Task]) -> Iterator[list[list[TrainingBatch]]]:
        if not self.workers:
            with ThreadPoolExecutor(1) as thread:
                yield from prefetch(partial(thread.submit, self.maker.make_batches), tasks, 1)
            return
        yield from self.pool.run(tasks)

    def __enter__(self) -> "ExampleStream":
        """Start the workers, which serve all epochs."""
        if self.workers:
            self.folder = TemporaryDirectory(prefix="otalign-training-")
            self.maker.store.save(Path(self.folder.name))
            maker = self.maker
            rest = (maker.reader, maker.pairing, maker.augmentation, maker.both_directions)
            self.pool = TaskPool(self.workers, _open_maker, Path(self.folder.name), *rest)
        return self

    def __exit__(self, *_: object) -> None:
        if self.workers:
            self.pool.shut_down()
            self.folder.cleanup()


def _open_maker(folder: Path, *rest: Any) -> Callable[[Task], list[list[TrainingBatch]]]:
    """Return the function that makes batches of the pairs in a folder."""
    return BatchMaker(PairStore.open(folder), *rest).make_batches
