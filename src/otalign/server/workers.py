"""Several processes that serve at one address, each with its own aligner, and the one that watches them.

Where the system spreads connections over sockets (Linux), every worker has a socket of its own at the same
address; elsewhere they share one. The watching process holds the sockets too, so that what has connected to a
worker that dies waits for the one that replaces it.
"""

import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, NamedTuple

import numpy as np

from otalign.server.metrics import SIZE, Metrics
from otalign.server.running import BACKLOG, Service

DEATHS, WITHIN = 3, 60.0  # workers that may die within so many seconds and are replaced

_spawn = multiprocessing.get_context("spawn")


def listen(host: str, port: int, workers: int = 1) -> list[socket.socket]:
    """Open a listening socket for each worker.

    Raises:
        OSError: The address is taken, or is not one of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    first = socket.create_server((host, port), family=family, backlog=BACKLOG)
    if workers == 1:
        return [first]
    if sys.platform != "linux":
        return [first] * workers
    with first:  # nobody else is there, which could not be told of sockets that share their address
        port = first.getsockname()[1]
    return [
        socket.create_server((host, port), family=family, backlog=BACKLOG, reuse_port=True)
        for _ in range(workers)
    ]


class _Worker(NamedTuple):
    process: SpawnProcess
    report: Connection  # on which it says once that it is ready, or why it will not be


def supervise(service: Service, sockets: Sequence[socket.socket], on_ready: Callable[[str], None]) -> None:
    """Serve with a worker for each socket until SIGINT or SIGTERM, and replace those that die.

    Args:
        on_ready: Called with the aligner's signature as soon as all workers can answer.

    Raises:
        ValueError: A worker cannot start, or they die again and again.
    """
    shared = _spawn.RawArray("d", len(sockets) * SIZE)

    def start(k: int) -> _Worker:
        ours, theirs = _spawn.Pipe(duplex=False)
        given = (service, sockets[k], shared, k, theirs)
        process = _spawn.Process(target=_work, args=given, name=f"otalign-worker-{k}", daemon=True)
        process.start()
        theirs.close()
        return _Worker(process, ours)

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    workers: list[_Worker] = []
    try:
        workers += [start(k) for k in range(len(sockets))]
        signatures = [_signature_of(worker) for worker in workers]
        on_ready(signatures[0])
        _replace_those_that_die(workers, start)
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for worker in workers:
            worker.process.terminate()
        for worker in workers:
            worker.process.join(service.limits.seconds + 5)
            worker.process.kill()
        signal.signal(signal.SIGTERM, before)


def _signature_of(worker: _Worker) -> str:
    """Wait until a worker is ready."""
    try:
        signature, error = worker.report.recv()
    except EOFError:
        worker.process.join()
        code = worker.process.exitcode
        raise ValueError(f"a worker process died while it was loading, with exit code {code}") from None
    if error is not None:
        raise ValueError(error)
    return signature


def _replace_those_that_die(workers: list[_Worker], start: Callable[[int], _Worker]) -> None:
    deaths: deque[float] = deque(maxlen=DEATHS + 1)
    while True:
        ended = wait([worker.process.sentinel for worker in workers])
        for k, (process, _) in enumerate(workers):
            if process.sentinel not in ended:
                continue
            process.join()
            deaths.append(time.monotonic())
            how = f"worker process {process.pid} died with exit code {process.exitcode}"
            if len(deaths) > DEATHS and deaths[-1] - deaths[0] < WITHIN:
                raise ValueError(
                    f"{how}, the last of {len(deaths)} within {WITHIN:g} seconds; exit code -9 often means "
                    "that memory ran out: try fewer --workers"
                )
            print(f"otalign: {how}; another takes its place", file=sys.stderr, flush=True)
            workers[k] = start(k)


def _work(service: Service, listening: socket.socket, shared: Any, k: int, report: Connection) -> None:
    """Serve in this process, until it is told to end or its parent has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent passes it on, once uvicorn listens to it
    try:
        aligner = service.load()
    except (ValueError, OSError, ImportError) as error:
        report.send((None, str(error)))
        return
    server = service.make_server(aligner, Metrics(np.frombuffer(shared).reshape(-1, SIZE), k))

    def end_with_parent() -> None:
        parent = multiprocessing.parent_process()
        assert parent is not None
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=end_with_parent, daemon=True).start()
    report.send((aligner.signature, None))
    report.close()
    server.run(sockets=[listening])
