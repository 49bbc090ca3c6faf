"""Several processes that serve at one address, each with its own aligner, and their supervisor.

Where the system distributes connections over sockets (Linux), every worker has its own socket at the same
address; elsewhere they share one. The supervisor holds the sockets too, so that connections to a worker that
dies wait for its replacement.
"""

import os
import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, NamedTuple

import numpy as np

from otalign.processes import SPAWN, exit_with_parent
from otalign.server.metrics import SIZE, Metrics
from otalign.server.running import BACKLOG, Service

DEATHS, WITHIN = 3, 60.0  # number of workers that may die within so many seconds


def listen(host: str, port: int, workers: int = 1) -> list[socket.socket]:
    """Open a listening socket for each worker.

    Args:
        host: Address to listen at.
        port: Port; 0 for any.
        workers: Number of workers.

    Returns:
        The sockets.

    Raises:
        OSError: If the address is in use, is unknown, or does not belong to this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        first = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (while ")[0].lower()
        raise OSError(
            f"cannot listen at {host}, port {port}: {reason}; choose another host or port"
        ) from error
    if workers == 1:
        return [first]
    if sys.platform != "linux":
        return [first] * workers
    with first:  # it shows that the address is free, which sockets that share an address cannot
        port = first.getsockname()[1]
    return [
        socket.create_server((host, port), family=family, backlog=BACKLOG, reuse_port=True)
        for _ in range(workers)
    ]


class _Worker(NamedTuple):
    process: SpawnProcess
    report: Connection  # receives one message: that it is ready, or why it cannot start


def supervise(service: Service, sockets: Sequence[socket.socket], on_ready: Callable[[str], None]) -> None:
    """Serve with a worker for each socket until SIGINT or SIGTERM, and replace workers that die.

    Args:
        service: Options of the server.
        sockets: Listening sockets.
        on_ready: Function that is called with the aligner's signature when all workers are ready.

    Raises:
        ValueError: If a worker cannot start, or too many die.
    """
    shared = SPAWN.RawArray("d", len(sockets) * SIZE)

    def start(k: int) -> _Worker:
        receiver, sender = SPAWN.Pipe(duplex=False)
        args = (service, sockets[k], shared, k, sender)
        process = SPAWN.Process(target=_serve, args=args, name=f"otalign-worker-{k}", daemon=True)
        process.start()
        sender.close()
        return _Worker(process, receiver)

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    workers: list[_Worker] = []
    try:
        workers += [start(k) for k in range(len(sockets))]
        signatures = [_wait_until_ready(worker) for worker in workers]
        on_ready(signatures[0])
        _replace_dead_workers(workers, start)
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


def _wait_until_ready(worker: _Worker) -> str:
    """Wait until a worker is ready; return the signature of its aligner."""
    try:
        signature, error = worker.report.recv()
    except EOFError:
        worker.process.join()
        code = worker.process.exitcode
        raise ValueError(f"a worker process died while it was loading, with exit code {code}") from None
    if error is not None:
        raise ValueError(error)
    return signature


def _replace_dead_workers(workers: list[_Worker], start: Callable[[int], _Worker]) -> None:
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
            print(f"otalign: {how} and is replaced", file=sys.stderr, flush=True)
            workers[k] = start(k)


def _serve(service: Service, listening: socket.socket, shared: Any, k: int, report: Connection) -> None:
    """Serve in this process, until SIGTERM or the end of the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process with SIGTERM instead
    try:
        aligner = service.load()
    except (ValueError, OSError, ImportError) as error:
        report.send((None, str(error)))
        return
    server = service.make_server(aligner, Metrics(np.frombuffer(shared).reshape(-1, SIZE), k))
    exit_with_parent(lambda: os.kill(os.getpid(), signal.SIGTERM))
    report.send((aligner.signature, None))
    report.close()
    server.run(sockets=[listening])
