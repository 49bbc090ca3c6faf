"""A pool of processes that align shards: with an aligner each, or beside one process that has it.

If a process dies or fails, another one takes over its shard, until three attempts at the shard have failed.
"""

import warnings
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from multiprocessing.connection import wait
from typing import Any, Self

from otalign.engines.faults import ends_the_run, explain_load_failure, explain_shard
from otalign.engines.folder import CENTRE
from otalign.engines.records import FileRecord
from otalign.engines.remote import LinkRequest
from otalign.engines.work import (
    CentreSample,
    MethodInfo,
    Shard,
    ShardWork,
    read_sample,
    split_into_shards,
)
from otalign.engines.worker import LinkFinder, Worker
from otalign.failures import EXPECTED, CapturedError
from otalign.io.items import Item
from otalign.languages import LanguageWarning
from otalign.processes import count_processors


class WorkerPool:
    """The processes of one run, which end with it.

    Args:
        work: The aligner and the output folder.
        processes: Number of processes with an aligner.
        helpers: Number of processes that write shards beside one with an aligner, which then only finds
            links; 0 for none, None for as many as this machine has processors for, if the model is on a GPU.

    Attributes:
        method: Properties of the aligner that the processes have loaded.

    Raises:
        ValueError: If the options for processes do not fit together.
    """

    def __init__(self, work: ShardWork, processes: int, helpers: int | None = 0) -> None:
        if processes < 1:
            raise ValueError(f"processes must be at least 1, got {processes}")
        if helpers and processes > 1:
            raise ValueError(f"--workers share one model; remove --processes, or --workers, got {processes}")
        self.work = work
        self.helpers = helpers
        self.retries: list[Shard] = []
        self.failures: Counter[int] = Counter()  # by number of the shard
        self.workers: list[Worker] = []  # those that write shards
        self.waiting: list[Worker] = []  # helpers that start while the aligner is loaded
        self.finder: LinkFinder | None = None  # finds links for them, if there are helpers
        try:
            self.workers += [Worker(work) for _ in range(processes)]
            self.waiting += [Worker(work, helps=True) for _ in range(helpers or 0)]
            self.method, *_ = [self._wait_until_ready(worker) for worker in self.workers]
            if helpers and self.method.text_stage is None:
                raise ValueError("--workers applies only to --method ot; remove it or choose ot")
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in [*self.workers, *self.waiting]:
            worker.stop()
        if self.finder:
            self.finder.stop()

    def write_centre(self, items: Iterable[Item]) -> Iterable[Item]:
        """Have a worker compute the centre of the corpus, and record its file."""
        sample, items = read_sample(iter(items))
        worker = self.workers[0]
        worker.submit(sample)
        while isinstance(result := worker.receive(), CapturedError):
            self._fail(worker, result)
            worker.submit(sample)
        if result is not None:  # without words there is no centre
            self.work.folder.record(CENTRE, result)
        worker.task = None
        return items

    def write_shards(self, items: Iterable[Item], size: int, finished: Container[str]) -> Iterator[int]:
        """Align and write all shards that are not finished.

        A shard is read when a process is free, so that only the shards that are being aligned are in memory.

        Args:
            items: The corpus. An error in reading it is raised once the shards before it are written.
            size: Pairs per shard.
            finished: Names of the files that need not be written.

        Yields:
            Numbers of pairs that were aligned; a negative number takes back those of a failed attempt.
        """
        errors: list[Exception] = []
        skipped: list[int] = []  # numbers of pairs of finished shards
        missing = self._find_missing_shards(split_into_shards(items, size), finished, skipped)
        readable = _stop_at_error(missing, errors)
        self._start_helpers()
        while busy := self._assign(readable):
            if skipped:
                yield sum(skipped)
                skipped.clear()
            for connection in wait([*busy, *([self.finder.worker.connection] if self.finder else [])]):
                if connection in busy:
                    yield from self._handle_message(busy[connection])
                else:
                    self._pass_answer()
        yield sum(skipped)
        if errors:
            raise errors[0]

    def _handle_message(self, worker: Worker) -> Iterator[int]:
        """Handle a message of a worker that has a shard; yield numbers of pairs that were aligned."""
        shard = worker.task
        assert isinstance(shard, Shard)
        match worker.receive():
            case CapturedError() as failure:
                yield -worker.reported
                self._fail(worker, failure)
                self.retries.append(shard)
            case FileRecord() as record:
                self.work.folder.record(self.work.folder.part(shard.number).name, record)
                worker.task = None
            case LanguageWarning() as warning:
                warnings.warn(warning, stacklevel=1)
            case LinkRequest() as request:
                assert self.finder
                self.finder.ask(worker, request)
            case pairs:
                worker.reported += pairs
                yield pairs

    def _start_helpers(self) -> None:
        """Start the helpers, if any, that write the shards; the worker finds links for them."""
        if self.helpers is None and self.method.on_gpu and len(self.workers) == 1:
            self.waiting += [Worker(self.work, helps=True) for _ in range(count_helpers())]
        if self.waiting:
            self.finder, self.workers, self.waiting = LinkFinder(self.workers[0]), self.waiting, []
            for worker in self.workers:
                worker.use_text_stage(self.method.text_stage)
            for worker in self.workers:
                self._wait_until_ready(worker)

    def _pass_answer(self) -> None:
        """Pass an answer to its helper; replace the process that finds links if it has died."""
        assert self.finder
        if (failure := self.finder.pass_answer()) is None:
            return
        if (helper := self.finder.suspect) and helper.task:
            self._count_failure(helper.task, failure)
        self._restart_finder(self.finder)

    def _restart_finder(self, finder: LinkFinder) -> None:
        finder.worker.restart()
        self._wait_until_ready(finder.worker)
        finder.resume()

    def _find_missing_shards(
        self, shards: Iterable[Shard], finished: Container[str], skipped: list[int]
    ) -> Iterator[Shard]:
        """Yield the shards that are not written yet, and add the numbers of pairs of the others to a list."""
        for shard in shards:
            if self.work.folder.part(shard.number).name in finished:
                skipped.append(len(shard.items))
            else:
                yield shard

    def _assign(self, shards: Iterator[Shard]) -> dict[Any, Worker]:
        """Give each idle worker a shard; return the busy workers by connection."""
        for worker in self.workers:
            if worker.task is None and (shard := self.retries.pop() if self.retries else next(shards, None)):
                worker.submit(shard)
        return {worker.connection: worker for worker in self.workers if worker.task is not None}

    def _fail(self, worker: Worker, failure: CapturedError) -> None:
        """Count a failure, and replace the worker unless the run is to end."""
        task = worker.task
        assert task is not None
        self._count_failure(task, failure)
        if self.finder:
            self.finder.forget(worker)
            if self.finder.failed:
                self._restart_finder(self.finder)
        worker.restart()
        self._wait_until_ready(worker)

    def _count_failure(self, task: Shard | CentreSample, failure: CapturedError) -> None:
        number = task.number if isinstance(task, Shard) else -1
        self.failures[number] += 1
        if ends_the_run(failure, self.failures[number]):
            raise explain_shard(failure, self.failures[number], task, self.work)

    def _wait_until_ready(self, worker: Worker) -> MethodInfo:
        """Wait until a worker has loaded the aligner. It is replaced if that fails, up to three times."""
        failures = 0
        while isinstance(result := worker.receive(), CapturedError):
            failures += 1
            if ends_the_run(result, failures):
                raise explain_load_failure(result, failures)
            worker.restart()
        return result


def count_helpers() -> int:
    """Return the number of helpers beside one process with the model: one for each other processor."""
    return max(1, count_processors() - 1)


def _stop_at_error(shards: Iterator[Shard], errors: list[Exception]) -> Iterator[Shard]:
    """Yield shards until one cannot be read; add the error to a list."""
    try:
        yield from shards
    except EXPECTED as error:
        errors.append(error)
