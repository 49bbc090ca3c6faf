"""Processes that align shards, an aligner each. One that dies or fails costs nothing but the time: its shard
goes to another, until three have failed at it."""

import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from threading import Thread, current_thread, main_thread
from typing import Any, Self

from otalign.engines.faults import ends_the_run, explain_load_failure, explain_shard, report_death
from otalign.engines.folder import CENTRE
from otalign.engines.records import FileRecord
from otalign.engines.work import ONE_THREAD, CorpusHead, Ready, Shard, ShardWork, describe_method
from otalign.failures import EXPECTED, CapturedError, capture


class Worker:
    """A process, and the task that it is at."""

    def __init__(self, work: ShardWork):
        context = get_context("spawn")
        self.task: Shard | CorpusHead | None = None
        self.told = 0  # pairs of it that are aligned
        self.ends, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, work), daemon=True)
        with _deaf(), _environment(ONE_THREAD):  # read when their libraries are loaded
            self.process.start()
        theirs.close()  # so that its death is heard

    def take(self, task: Shard | CorpusHead) -> None:
        self.task, self.told = task, 0
        with suppress(ConnectionError):  # if it has died, that is heard where it is waited for
            self.ends.send(task)

    def hear(self) -> Any:
        """Wait for what it says next. Death is a failure like others."""
        try:
            return self.ends.recv()
        except (EOFError, OSError):  # the second, if it was killed in the middle of a message
            self.process.join()
            return report_death(self.process.exitcode)

    def stop(self) -> None:
        self.process.terminate()
        self.process.join()
        self.ends.close()


class Crew:
    """Some processes for one run, ended with it."""

    def __init__(self, work: ShardWork, processes: int):
        if processes < 1:
            raise ValueError(f"processes must be at least 1, got {processes}")
        self.work = work
        self.again: list[Shard] = []  # given to processes that failed
        self.failures: Counter[int] = Counter()  # of each shard, by number
        self.workers: list[Worker] = []
        try:
            self.workers += [Worker(work) for _ in range(processes)]
            (self.signature, self.centres), *_ = [self._wait_until_ready(place) for place in range(processes)]
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.stop()

    def keep_centre(self, head: CorpusHead) -> None:
        """Have a worker find the centre of the corpus, and record it."""
        self.workers[0].take(head)
        while isinstance(said := self.workers[0].hear(), CapturedError):
            self._fail(0, said)
            self.workers[0].take(head)
        if said is not None:  # with no words there is no centre
            self.work.folder.record(CENTRE, said)
        self.workers[0].task = None

    def written(self, shards: Iterator[Shard]) -> Iterator[int]:
        """Numbers of pairs that were aligned, as they are told, until all shards are written. What goes wrong
        with the reading is raised when the shards before it are."""
        wrong: list[Exception] = []
        readable = _until_wrong(shards, wrong)
        while busy := self._busy(readable):
            for ends in wait(list(busy)):
                place, shard = busy[ends]
                worker = self.workers[place]
                match worker.hear():
                    case CapturedError() as failure:
                        yield -worker.told
                        self._fail(place, failure)
                        self.again.append(shard)
                    case FileRecord() as record:
                        self.work.folder.record(self.work.folder.part(shard.number).name, record)
                        worker.task = None
                    case more:
                        worker.told += more
                        yield more
        if wrong:
            raise wrong[0]

    def _busy(self, shards: Iterator[Shard]) -> dict[Any, tuple[int, Shard]]:
        """Those at work, by what they are heard from; each that was free is given a shard before."""
        for worker in self.workers:
            if worker.task is None and (shard := self.again.pop() if self.again else next(shards, None)):
                worker.take(shard)
        tasks = [(place, worker.ends, worker.task) for place, worker in enumerate(self.workers)]
        return {ends: (place, task) for place, ends, task in tasks if isinstance(task, Shard)}

    def _fail(self, place: int, failure: CapturedError) -> None:
        """Count a failure, and put another worker in the place unless the run is to end."""
        task = self.workers[place].task
        assert task is not None
        number = task.number if isinstance(task, Shard) else -1
        self.failures[number] += 1
        if ends_the_run(failure, self.failures[number]):
            raise explain_shard(failure, self.failures[number], task, self.work)
        self._replace(place)
        self._wait_until_ready(place)

    def _replace(self, place: int) -> None:
        # Also one that lives: what failed, such as a GPU, may be of no more use to it.
        self.workers[place].stop()
        self.workers[place] = Worker(self.work)

    def _wait_until_ready(self, place: int) -> Ready:
        """Wait until a worker has loaded the aligner. One that fails is replaced, until three have."""
        times = 0
        while isinstance(said := self.workers[place].hear(), CapturedError):
            times += 1
            if ends_the_run(said, times):
                raise explain_load_failure(said, times)
            self._replace(place)
        return said


def _until_wrong(shards: Iterator[Shard], wrong: list[Exception]) -> Iterator[Shard]:
    try:
        yield from shards
    except EXPECTED as error:
        wrong.append(error)


@contextmanager
def _environment(wanted: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


@contextmanager
def _deaf() -> Iterator[None]:
    """A process that is started now does not hear an interrupt. The parent does, and ends it."""
    if current_thread() is not main_thread():  # which alone may say so
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _serve(ends: Connection, work: ShardWork) -> None:
    """The life of a process: shards in, files written, until one fails."""
    Thread(target=_end_with_the_parent, daemon=True).start()
    try:
        method = work.load()
        said: Any = describe_method(method)
        while not isinstance(said, CapturedError):
            ends.send(said)
            match ends.recv():
                case CorpusHead() as head:
                    said = work.keep_centre(head, method)
                case shard:
                    said = work.write(shard, method, ends.send)
    except BaseException as error:
        said = capture(error)
    with suppress(OSError):  # the parent has gone
        ends.send(said)


def _end_with_the_parent() -> None:
    """Killed, it could not stop its workers, and they would go on beside those of the run that goes on."""
    if parent := parent_process():
        parent.join()
        os._exit(1)
