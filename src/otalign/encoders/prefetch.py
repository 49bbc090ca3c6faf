"""Sentence pairs prepared for an encoder ahead of it, in processes of their own.

Where a GPU aligns tens of thousands of pairs a second, one process can no longer find their words and
subwords fast enough. Workers get texts and an encoder's `Reader`, and no model. Nor do they get the script
that asks for them, so it may do without a guard, and load what it likes.
"""

import gc
import os
import pickle
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context

from otalign.encoders import Pairing, PairPreparer, PreparedPairs
from otalign.failures import EXPECTED, CapturedError, capture
from otalign.text.words import Pair, Text, to_sentence

TASK_PAIRS = 4096  # enough to find some of like length
AHEAD = 2  # tasks for each worker that are begun before they are asked for

Done = tuple[bytes, PreparedPairs]  # the sentences pickled


@dataclass(frozen=True)
class Pickled:
    """Pairs that are made when they come to be asked for, a task at a time: among millions of objects that
    are kept, Python would search for garbage for longer than it takes to make them."""

    tasks: tuple[bytes, ...]

    def __iter__(self) -> Iterator[Pair]:
        for task in self.tasks:
            yield from pickle.loads(task)


def prepare_ahead(
    pairs: Iterable[tuple[Text, Text]], reader: PairPreparer, pairing: Pairing, workers: int, words: int
) -> Iterator[tuple["Pickled", PreparedPairs]]:
    """The pairs as sentences, with what the model reads of them, in order, some `words` words at a time."""
    held: list[Done] = []
    for done in _tasks(pairs, reader, pairing, workers):
        held.append(done)
        if sum(part.words for _, part in held) >= words:
            yield _join_tasks(held)
            held = []
    if held:
        yield _join_tasks(held)


def _tasks(
    pairs: Iterable[tuple[Text, Text]], reader: PairPreparer, pairing: Pairing, workers: int
) -> Iterator[Done]:
    # Spawned, not forked: a process that uses a GPU or threads must not be copied.
    with ProcessPoolExecutor(
        workers, get_context("spawn"), initializer=_begin, initargs=(reader, pairing)
    ) as pool:
        begun: deque[Future[Done | CapturedError]] = deque()
        stream, first = iter(pairs), 0
        try:
            while some := tuple(islice(stream, TASK_PAIRS)):
                with _without_main():  # a task may start a worker
                    begun.append(pool.submit(_run_task, some))
                if len(begun) > AHEAD * workers:
                    yield _unwrap(begun.popleft().result(), first)
                    first += TASK_PAIRS
            while begun:
                yield _unwrap(begun.popleft().result(), first)
                first += TASK_PAIRS
        except BrokenExecutor:
            raise ChildProcessError(
                f"a worker process died while it prepared pairs, after pair {first:,}; with too little "
                "memory, give fewer workers or none"
            ) from None


def _unwrap(result: Done | CapturedError, first: int) -> Done:
    """Return the result of a task that begins with pair `first`, or raise its error."""
    if not isinstance(result, CapturedError):
        return result
    if isinstance(result.error, EXPECTED):
        raise result.error
    last = first + (TASK_PAIRS if result.place is None else result.place + 1)
    where = f"pairs {first + 1:,}–{last:,}" if result.place is None else f"pair {last:,}"
    raise ChildProcessError(
        f"a worker process failed at {where}: {result.description}; correct or remove what it failed at"
    ) from result.error


@contextmanager
def _without_main() -> Iterator[None]:
    """A process that is spawned now does not run the main script once more to know what is in it."""
    main = sys.modules["__main__"]
    kept = {name: vars(main).pop(name) for name in ("__spec__", "__file__") if name in vars(main)}
    main.__spec__ = None
    try:
        yield
    finally:
        vars(main).update(kept)


def _join_tasks(tasks: list[Done]) -> tuple[Pickled, PreparedPairs]:
    pickled, parts = zip(*tasks, strict=True)
    return Pickled(pickled), PreparedPairs.concatenate(parts)


_of_this_worker: list[tuple[PairPreparer, Pairing]] = []


def _begin(reader: PairPreparer, pairing: Pairing) -> None:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # the workers are what runs side by side
    gc.disable()  # nothing that is made here refers to itself
    _of_this_worker.append((reader, pairing))


def _run_task(pairs: Sequence[tuple[Text, Text]]) -> Done | CapturedError:
    try:
        return _prepare(pairs)
    except BaseException as error:  # of any type: one that cannot be pickled would break the pool
        for place, pair in enumerate(pairs):
            try:
                _prepare([pair])
            except BaseException:
                return capture(error, place)
        return capture(error)


def _prepare(pairs: Sequence[tuple[Text, Text]]) -> Done:
    ((reader, pairing),) = _of_this_worker
    sentences = [(to_sentence(source), to_sentence(target)) for source, target in pairs]
    return pickle.dumps(sentences, pickle.HIGHEST_PROTOCOL), reader.prepare(sentences, pairing)
