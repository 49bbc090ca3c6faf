"""Processes that align shards, an aligner each. One that dies costs nothing but the time: its shard goes to
another."""

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from threading import Thread
from typing import Any, NamedTuple, Self

from otalign.aligner import Method
from otalign.centring import Centre
from otalign.corpus.items import Item
from otalign.engines.work import Shard, Work, around, centre_of, centres_on_the_pairs_at_hand

TRIES = 3  # of a shard whose process dies
OURS = (ValueError, OSError, ImportError)  # what the user can mend

# With more threads, sums of the same numbers may be rounded otherwise, and bytes must not depend on that.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class Ready(NamedTuple):
    """What a process says first."""

    signature: str
    centres: bool  # on the pairs at hand, unless it is given a centre


class Written(NamedTuple):
    """What a process says after a shard."""

    number: int


@dataclass(frozen=True)
class Head:
    """The first items of a corpus, to find its centre."""

    items: Sequence[Item]


class Worker:
    """A process, and the shard that it is at."""

    def __init__(self, work: Work, threads: int, centre: Centre | None = None):
        context = get_context("spawn")
        self.shard: Shard | None = None
        self.told = 0  # pairs of it that are aligned
        self.ends, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, work, centre), daemon=True)
        wanted = ONE_THREAD | {"RAYON_NUM_THREADS": str(threads)}
        before = {name: os.environ.get(name) for name in wanted}
        os.environ.update(wanted)  # read when their libraries are loaded
        try:
            self.process.start()
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})
        theirs.close()  # so that its death is heard

    def heard(self) -> Any:
        """What it says next; its error is raised here."""
        said = self.ends.recv()
        if isinstance(said, Exception):
            raise said
        return said

    def take(self, shard: Shard) -> None:
        self.shard, self.told = shard, 0
        with suppress(ConnectionError):  # if it has died, that is heard where it is waited for
            self.ends.send(shard)

    def stop(self) -> None:
        self.process.terminate()
        self.process.join()
        self.ends.close()


class Crew:
    """Some processes for one run, ended with it."""

    def __init__(self, work: Work, processes: int, threads: int):
        if processes < 1:
            raise ValueError(f"processes must be at least 1, got {processes}")
        self.work, self.threads = work, threads
        self.centre: Centre | None = None
        self.tries: dict[int, int] = {}
        self.workers: list[Worker] = []
        try:
            self.workers += [Worker(work, threads) for _ in range(processes)]
            said = [_first_word(worker) for worker in self.workers]
        except BaseException:
            self.__exit__()
            raise
        self.signature, self.centres = said[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.stop()

    def centre_of(self, items: Sequence[Item]) -> Centre | None:
        """What a stream that begins with these items is centred on."""
        self.workers[0].ends.send(Head(items))
        return self.workers[0].heard()

    def centre_on(self, centre: Centre | None) -> None:
        self.centre = centre
        for worker in self.workers:
            worker.ends.send(centre)

    def written(self, shards: Iterator[Shard]) -> Iterator[int]:
        """Numbers of pairs that were aligned, as they are told, until all shards are written. What goes wrong
        with the reading is raised when the shards before it are."""
        again: list[Shard] = []
        wrong: Exception | None = None
        while True:
            for worker in self.workers:
                if worker.shard is None and wrong is None:
                    try:
                        shard = again.pop() if again else next(shards, None)
                    except OURS as error:
                        wrong, shard = error, None
                    if shard:
                        worker.take(shard)
            busy: dict[Any, Worker] = {worker.ends: worker for worker in self.workers if worker.shard}
            if not busy:
                break
            for ends in wait(list(busy)):
                worker = busy[ends]
                try:
                    said = worker.heard()
                except (EOFError, ConnectionError):
                    again.append(self._replaced(worker))
                    yield -worker.told
                else:
                    if isinstance(said, Written):
                        worker.shard = None
                    else:
                        worker.told += said
                        yield said
        if wrong:
            raise wrong

    def _replaced(self, worker: Worker) -> Shard:
        """What a process that died was at, for another that stands in its place."""
        shard = worker.shard
        assert shard is not None
        worker.stop()
        self.tries[shard.number] = self.tries.get(shard.number, 1) + 1
        if self.tries[shard.number] > TRIES:
            raise OSError(
                f"processes died {TRIES} times at shard {shard.number}, exit code {worker.process.exitcode}; "
                "with too little memory, give fewer --processes"
            )
        fresh = Worker(self.work, self.threads, self.centre)
        self.workers[self.workers.index(worker)] = fresh
        _first_word(fresh)
        return shard


def _first_word(worker: Worker) -> Ready:
    try:
        return worker.heard()
    except EOFError:
        worker.process.join()
        raise OSError(f"a process ended before its work, exit code {worker.process.exitcode}") from None


def _serve(ends: Connection, work: Work, centre: Centre | None) -> None:
    """The life of a process: shards in, files written."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it too, and ends this one
    Thread(target=_end_with_the_parent, daemon=True).start()
    try:
        method = work.load()
        ends.send(Ready(method.signature, centres_on_the_pairs_at_hand(method)))
        method = around(method, centre)
        while True:
            method = _answered(ends, ends.recv(), work, method)
    except (EOFError, BrokenPipeError):
        return
    except OURS as error:
        ends.send(error)


def _answered(ends: Connection, asked: Any, work: Work, method: Any) -> Method:
    """The method to go on with, after what was asked is done."""
    match asked:
        case Head(items):
            ends.send(centre_of(method, work.pairs(items)))
        case Shard():
            work.write(asked, method, ends.send)
            ends.send(Written(asked.number))
        case _:
            return around(method, asked)
    return method


def _end_with_the_parent() -> None:
    """Killed, it could not stop its workers, and they would go on beside those of the run that goes on."""
    if parent := parent_process():
        parent.join()
        os._exit(1)
