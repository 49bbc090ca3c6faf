"""Preparation of sentence pairs for an encoder in worker processes, ahead of the model.

A GPU that aligns tens of thousands of pairs a second is faster than one process can tokenize them. Workers
get texts and an encoder's `PairPreparer`, but no model.
"""

import pickle
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from otalign.collector import pause_collection
from otalign.encoders import Pairing, PairPreparer, PreparedPairs
from otalign.failures import EXPECTED, CapturedError, capture
from otalign.processes import TaskPool
from otalign.text.words import Pair, Text, to_pair

TASK_PAIRS = 4096  # enough to find inputs of similar length for a batch

PICKLED_PAIRS = 256  # few enough that collecting garbage among their values takes little time

TaskResult = tuple[list[bytes], list[np.ndarray]]  # the pickled sentences, and what was prepared from them


@dataclass(frozen=True)
class Pickled:
    """Pairs of sentences that are unpickled when they are iterated over, a part at a time.

    With millions of objects in memory, Python's garbage collection would take longer than unpickling.
    """

    parts: tuple[bytes, ...]

    def __iter__(self) -> Iterator[Pair]:
        for part in self.parts:
            with pause_collection():
                pairs = pickle.loads(part)
            yield from pairs


def prepare_ahead(
    pairs: Iterable[tuple[Text, Text]], reader: PairPreparer, pairing: Pairing, workers: int, words: int
) -> Iterator[tuple["Pickled", PreparedPairs]]:
    """Prepare pairs in worker processes.

    Args:
        pairs: Pairs of texts.
        reader: The encoder's preparer.
        pairing: Whether the sentences of a pair are encoded jointly or separately.
        workers: Number of processes.
        words: Minimum number of words in a chunk, except for the last.

    Yields:
        Chunks in order, each the pairs as sentences and the prepared inputs.

    Raises:
        ChildProcessError: If a worker dies or fails.
    """
    chunk: list[TaskResult] = []
    for result in _run_tasks(pairs, reader, pairing, workers):
        chunk.append(result)
        if sum(int(starts[-1]) for _, (starts, *_) in chunk) >= words:
            yield _join_results(chunk)
            chunk = []
    if chunk:
        yield _join_results(chunk)


def _run_tasks(
    pairs: Iterable[tuple[Text, Text]], reader: PairPreparer, pairing: Pairing, workers: int
) -> Iterator[TaskResult]:
    stream, first = iter(pairs), 0
    tasks = iter(lambda: tuple(islice(stream, TASK_PAIRS)), ())
    try:
        with TaskPool(workers, _PrepareTask, reader, pairing) as pool:
            for result in pool.run(tasks):
                yield _unwrap(result, first)
                first += TASK_PAIRS
    except BrokenExecutor:
        raise ChildProcessError(
            f"a worker process died while it prepared pairs, after pair {first:,}; if memory "
            "ran out, use fewer workers or none"
        ) from None


def _unwrap(result: TaskResult | CapturedError, first: int) -> TaskResult:
    """Return the result of a task that begins with pair `first`, or raise its error."""
    if not isinstance(result, CapturedError):
        return result
    if isinstance(result.error, EXPECTED):
        raise result.error
    last = first + (TASK_PAIRS if result.item is None else result.item + 1)
    where = f"pairs {first + 1:,}–{last:,}" if result.item is None else f"pair {last:,}"
    raise ChildProcessError(
        f"a worker process failed at {where}: {result.description}; correct or remove the pair at fault"
    ) from result.error


def _join_results(tasks: list[TaskResult]) -> tuple[Pickled, PreparedPairs]:
    pickled, prepared = zip(*tasks, strict=True)
    parts = [PreparedPairs.from_arrays(arrays) for arrays in prepared]
    return Pickled(tuple(chain.from_iterable(pickled))), PreparedPairs.concatenate(parts)


@dataclass(frozen=True)
class _PrepareTask:
    """The function that workers run."""

    reader: PairPreparer
    pairing: Pairing

    def __call__(self, pairs: Sequence[tuple[Text, Text]]) -> TaskResult | CapturedError:
        try:
            return self.prepare(pairs)
        except BaseException as error:  # an error that cannot be pickled would break the pool
            for index, pair in enumerate(pairs):
                try:
                    self.prepare([pair])
                except BaseException:
                    return capture(error, index)
            return capture(error)

    def prepare(self, pairs: Sequence[tuple[Text, Text]]) -> TaskResult:
        sentences = [to_pair(pair) for pair in pairs]
        prepared = self.reader.prepare(sentences, self.pairing)
        for sentence in chain.from_iterable(sentences):
            _ = sentence.words  # kept in the sentence, so that the process with the model need not cut them
        parts = (sentences[k : k + PICKLED_PAIRS] for k in range(0, len(sentences), PICKLED_PAIRS))
        return [pickle.dumps(part, pickle.HIGHEST_PROTOCOL) for part in parts], prepared.to_arrays()
