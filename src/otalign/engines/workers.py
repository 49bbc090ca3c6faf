"""A pool of processes that align shards, with an aligner each.

If a process dies or fails, another one gets its shard, until three attempts at the shard have failed.
"""

import warnings
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any, Self

from otalign.engines.faults import ends_the_run, explain_load_failure, explain_shard, report_death
from otalign.engines.folder import CENTRE
from otalign.engines.records import FileRecord
from otalign.engines.work import (
    CentreSample,
    MethodInfo,
    Shard,
    ShardWork,
    describe_method,
    read_sample,
    split_into_shards,
)
from otalign.failures import EXPECTED, CapturedError, capture
from otalign.io.items import Item
from otalign.languages import LanguageWarning
from otalign.processes import PipeProcess, exit_with_parent


class Worker(PipeProcess):
    """A process, and its current task."""

    def __init__(self, work: ShardWork) -> None:
        super().__init__(_serve, work)
        self.task: Shard | CentreSample | None = None
        self.reported = 0  # pairs of the task that were reported as aligned

    def submit(self, task: Shard | CentreSample) -> None:
        """Give the process a task."""
        self.task, self.reported = task, 0
        with suppress(ConnectionError):  # if it has died, `receive` reports that
            self.connection.send(task)

    def receive(self) -> Any:
        """Wait for the next message of the process; its death is a failure."""
        try:
            return self.connection.recv()
        except (EOFError, OSError):  # the second, if it was killed while it sent a message
            self.process.join()
            return report_death(self.process.exitcode)


class WorkerPool:
    """The processes of one run, which end with it.

    Attributes:
        method: Properties of the aligner that the processes have loaded.
    """

    def __init__(self, work: ShardWork, processes: int) -> None:
        if processes < 1:
            raise ValueError(f"processes must be at least 1, got {processes}")
        self.work = work
        self.retries: list[Shard] = []
        self.failures: Counter[int] = Counter()  # by number of the shard
        self.workers: list[Worker] = []
        try:
            self.workers += [Worker(work) for _ in range(processes)]
            self.method, *_ = [self._wait_until_ready(index) for index in range(processes)]
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.stop()

    def write_centre(self, items: Iterable[Item]) -> Iterable[Item]:
        """Have a worker compute the centre of the corpus, and record its file."""
        sample, items = read_sample(iter(items))
        self.workers[0].submit(sample)
        while isinstance(result := self.workers[0].receive(), CapturedError):
            self._fail(0, result)
            self.workers[0].submit(sample)
        if result is not None:  # without words there is no centre
            self.work.folder.record(CENTRE, result)
        self.workers[0].task = None
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
        missing = self._find_missing(split_into_shards(items, size), finished, skipped)
        readable = _stop_at_error(missing, errors)
        while busy := self._assign(readable):
            if skipped:
                yield sum(skipped)
                skipped.clear()
            for connection in wait(list(busy)):
                index, shard = busy[connection]
                worker = self.workers[index]
                match worker.receive():
                    case CapturedError() as failure:
                        yield -worker.reported
                        self._fail(index, failure)
                        self.retries.append(shard)
                    case FileRecord() as record:
                        self.work.folder.record(self.work.folder.part(shard.number).name, record)
                        worker.task = None
                    case LanguageWarning() as warning:
                        warnings.warn(warning, stacklevel=1)
                    case pairs:
                        worker.reported += pairs
                        yield pairs
        yield sum(skipped)
        if errors:
            raise errors[0]

    def _find_missing(
        self, shards: Iterable[Shard], finished: Container[str], skipped: list[int]
    ) -> Iterator[Shard]:
        """Yield the shards that are not written yet, and add the numbers of pairs of the others to a list."""
        for shard in shards:
            if self.work.folder.part(shard.number).name in finished:
                skipped.append(len(shard.items))
            else:
                yield shard

    def _assign(self, shards: Iterator[Shard]) -> dict[Any, tuple[int, Shard]]:
        """Give each idle worker a shard; return index and shard of the busy workers by connection."""
        for worker in self.workers:
            if worker.task is None and (shard := self.retries.pop() if self.retries else next(shards, None)):
                worker.submit(shard)
        tasks = [(index, worker.connection, worker.task) for index, worker in enumerate(self.workers)]
        return {connection: (index, task) for index, connection, task in tasks if isinstance(task, Shard)}

    def _fail(self, index: int, failure: CapturedError) -> None:
        """Count a failure, and replace the worker unless the run is to end."""
        task = self.workers[index].task
        assert task is not None
        number = task.number if isinstance(task, Shard) else -1
        self.failures[number] += 1
        if ends_the_run(failure, self.failures[number]):
            raise explain_shard(failure, self.failures[number], task, self.work)
        self._replace(index)
        self._wait_until_ready(index)

    def _replace(self, index: int) -> None:
        # Even if the process is alive: its GPU, for example, may be unusable after a failure.
        self.workers[index].stop()
        self.workers[index] = Worker(self.work)

    def _wait_until_ready(self, index: int) -> MethodInfo:
        """Wait until a worker has loaded the aligner. It is replaced if that fails, up to three times."""
        failures = 0
        while isinstance(result := self.workers[index].receive(), CapturedError):
            failures += 1
            if ends_the_run(result, failures):
                raise explain_load_failure(result, failures)
            self._replace(index)
        return result


def _stop_at_error(shards: Iterator[Shard], errors: list[Exception]) -> Iterator[Shard]:
    """Yield shards until one cannot be read; add the error to a list."""
    try:
        yield from shards
    except EXPECTED as error:
        errors.append(error)


def _serve(connection: Connection, work: ShardWork) -> None:
    """Receive tasks and send their results, until one fails."""
    exit_with_parent()
    warnings.simplefilter("ignore", LanguageWarning)  # the parent issues it, once
    try:
        method = work.load()
        result: Any = describe_method(method)
        while not isinstance(result, CapturedError):
            connection.send(result)
            match connection.recv():
                case CentreSample() as sample:
                    result = work.write_centre(sample, method)
                case shard:
                    if warning := work.check_language(shard, method):
                        connection.send(LanguageWarning(warning))
                    result = work.write(shard, method, connection.send)
    except BaseException as error:
        result = capture(error)
    with suppress(OSError):  # the parent has ended
        connection.send(result)
