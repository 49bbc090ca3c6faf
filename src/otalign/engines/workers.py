"""Processes that align shards, an aligner each. One that dies costs nothing but the time: its shard goes to
another."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from threading import Thread, current_thread, main_thread
from typing import Any, Self

from otalign.engines.work import ONE_THREAD, Head, Shard, Work, ready

DONE = "done"  # what a process says after what it was given
OURS = (ValueError, OSError, ImportError)  # what the user can mend


class Died(OSError):
    """A process, at its work."""


class Worker:
    """A process, and the shard that it is at."""

    def __init__(self, work: Work):
        context = get_context("spawn")
        self.shard: Shard | None = None
        self.told = 0  # pairs of it that are aligned
        self.ends, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, work), daemon=True)
        with _deaf(), _environment(ONE_THREAD):  # read when their libraries are loaded
            self.process.start()
        theirs.close()  # so that its death is heard

    def take(self, shard: Shard) -> None:
        self.shard, self.told = shard, 0
        with suppress(ConnectionError):  # if it has died, that is heard where it is waited for
            self.ends.send(shard)

    def heard(self) -> Any:
        """What it says next; its error is raised here."""
        try:
            said = self.ends.recv()
        except (EOFError, ConnectionError):
            self.process.join()
            raise Died(f"a process died, exit code {self.process.exitcode}") from None
        if isinstance(said, Exception):
            raise said
        return said

    def stop(self) -> None:
        self.process.terminate()
        self.process.join()
        self.ends.close()


class Crew:
    """Some processes for one run, ended with it."""

    def __init__(self, work: Work, processes: int):
        if processes < 1:
            raise ValueError(f"processes must be at least 1, got {processes}")
        self.work = work
        self.again: list[Shard] = []  # given to processes that died
        self.workers: list[Worker] = []
        try:
            self.workers += [Worker(work) for _ in range(processes)]
            (self.signature, self.centres), *_ = [worker.heard() for worker in self.workers]
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.stop()

    def keep_centre(self, head: Head) -> None:
        self.workers[0].ends.send(head)
        self.workers[0].heard()

    def written(self, shards: Iterator[Shard]) -> Iterator[int]:
        """Numbers of pairs that were aligned, as they are told, until all shards are written. What goes wrong
        with the reading is raised when the shards before it are."""
        wrong: list[Exception] = []
        readable = _until_wrong(shards, wrong)
        while busy := self._busy(readable):
            for ends in wait(list(busy)):
                worker = busy[ends]
                try:
                    said = worker.heard()
                except Died:
                    yield -worker.told
                    self._replace(worker)
                else:
                    if said == DONE:
                        worker.shard = None
                    else:
                        worker.told += said
                        yield said
        if wrong:
            raise wrong[0]

    def _busy(self, shards: Iterator[Shard]) -> dict[Any, Worker]:
        """Those at work, by what they are heard from; each that was free is given a shard before."""
        for worker in self.workers:
            if worker.shard is None and (shard := self.again.pop() if self.again else next(shards, None)):
                worker.take(shard)
        return {worker.ends: worker for worker in self.workers if worker.shard}

    def _replace(self, worker: Worker) -> None:
        """Put another in the place of one that died, and its shard among those to be done again."""
        assert worker.shard is not None
        self.again.append(worker.shard)
        worker.stop()
        fresh = self.workers[self.workers.index(worker)] = Worker(self.work)
        fresh.heard()


def _until_wrong(shards: Iterator[Shard], wrong: list[Exception]) -> Iterator[Shard]:
    try:
        yield from shards
    except OURS as error:
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


def _serve(ends: Connection, work: Work) -> None:
    """The life of a process: shards in, files written."""
    Thread(target=_end_with_the_parent, daemon=True).start()
    try:
        method = work.load()
        ends.send(ready(method))
        while True:
            match ends.recv():
                case Head() as head:
                    work.keep_centre(head, method)
                case shard:
                    work.write(shard, method, ends.send)
            ends.send(DONE)
    except (EOFError, BrokenPipeError):
        return
    except OURS as error:
        ends.send(error)


def _end_with_the_parent() -> None:
    """Killed, it could not stop its workers, and they would go on beside those of the run that goes on."""
    if parent := parent_process():
        parent.join()
        os._exit(1)
