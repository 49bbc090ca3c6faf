"""Compare the speed of the server, with many clients at once, with that of the aligner alone.

python benchmarks/serve.py MODEL                 ratio of the served to the offline speed, and latencies
python benchmarks/serve.py MODEL --clients 1 --words 15     one client that waits for each answer

The pairs are those of MTRef dev, as text, or those with about `--words` words a side; each is requested once
by one client. Offline and served rounds alternate in one run, each served round between two offline rounds,
so that the median is reliable on a busy machine. The clients run on the same cores; CPU time is that of the
server and the clients, without other work. Between the pairs, every client sends requests that must be
refused; they must not change the links.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

import numpy as np

from otalign import Aligner
from otalign.cli.aligner_options import SWITCH_INTERVAL
from otalign.io import load
from otalign.server.work import CACHED_PAIRS

BAD = (  # invalid requests, and the status of the answer
    (b"{", 400),
    (b'{"source": "one"}', 422),
    (b'{"source": "one", "target": 2}', 422),
    (b'{"source": "one", "target": "two", "settings": {"problem": "uot", "tau": -1}}', 422),
    (b'{"source": "%s", "target": "two"}' % (b"word " * 5_000), 422),
)


class Round(NamedTuple):
    seconds: float
    waits: list[float]  # seconds until each answer
    links: list[list]  # links of each pair
    errors: list[str]
    clients: float = 0.0  # CPU time of the clients in seconds
    server: float = 0.0  # CPU time of the server


class Client:
    """A client with one connection, as light as possible, since clients and server share the cores."""

    async def __aenter__(self) -> "Client":
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()

    def __init__(self, port: int):
        self.port = port

    async def post(self, body: bytes) -> tuple[int, bytes]:
        self.writer.write(
            b"POST /v1/align HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        )
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        return int(head.split(b" ", 2)[1]), await self.reader.readexactly(length)


async def measure_server(port: int, bodies: list[bytes], clients: int, bad_every: int) -> Round:
    """Send all bodies from a number of clients, each of which waits for an answer before the next request."""
    todo = iter(enumerate(bodies))
    answers: dict[int, bytes] = {}
    waits, errors, bad = [], [], cycle(BAD)

    async def work() -> None:
        async with Client(port) as client:
            for k, body in todo:
                if bad_every and k % bad_every == 0:
                    wrong, expected = next(bad)
                    status, text = await client.post(wrong)
                    if status != expected:
                        errors.append(f"{status} for a bad request: {text[:200]}")
                start = time.perf_counter()
                status, text = await client.post(body)
                waits.append(time.perf_counter() - start)
                if status == 200:
                    answers[k] = text
                else:
                    errors.append(f"{status}: {text[:200]}")

    start, used = time.perf_counter(), time.process_time()
    await asyncio.gather(*(work() for _ in range(clients)))
    seconds, used = time.perf_counter() - start, time.process_time() - used
    links = [json.loads(answers[k])["links"] if k in answers else [] for k in range(len(bodies))]
    return Round(seconds, waits, links, errors, used)


def _run(connection, port: int, bodies: list[bytes], clients: int, bad_every: int) -> None:
    connection.send(asyncio.run(measure_server(port, bodies, clients, bad_every)))


def run_in_process(*args) -> Round:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_run, args=(theirs, *args))
    process.start()
    found = ours.recv()
    process.join()
    return found


def read_processor_time(process: subprocess.Popen) -> float:
    """Return the CPU time of a running process in seconds (on Linux)."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def align_offline(aligner: Aligner, pairs: list) -> tuple[np.ndarray, list[list]]:
    """Return the wall-clock and CPU time in seconds, and the links."""
    start, used = time.perf_counter(), time.process_time()
    alignments = list(aligner.align_many(pairs))
    seconds = np.array([time.perf_counter() - start, time.process_time() - used])
    return seconds, [[[*link] for link in one.links] for one in alignments]


def compute_difference(some: list[list], others: list[list]) -> float:
    """Return the share of links that are only in one of the two."""
    apart = [
        len({(i, j) for i, j, _ in one} ^ {(i, j) for i, j, _ in other})
        for one, other in zip(some, others, strict=True)
    ]
    return sum(apart) / max(1, sum(map(len, some)) + sum(map(len, others)))


def print_round(name: str, one: Round, alone: np.ndarray, found: list[list]) -> None:
    pairs = len(found)
    p50, p95, p99 = 1000 * np.quantile(one.waits, (0.5, 0.95, 0.99))
    server, clients, offline = (1000 * seconds / pairs for seconds in (one.server, one.clients, alone[1]))
    print(
        f"{name:>18}: {pairs / one.seconds:.0f} pairs a second, offline {pairs / alone[0]:.0f}, "
        f"ratio {alone[0] / one.seconds:.2f}; ms p50 {p50:.1f}, p95 {p95:.1f}, p99 {p99:.1f}; "
        f"processor ms a pair {server:.2f} + {clients:.2f}, offline {offline:.2f}; errors {len(one.errors)}; "
        f"links unlike offline {100 * compute_difference(found, one.links):.2f}%",
        flush=True,
    )
    print("".join(f"{error}\n" for error in one.errors[:3]), end="")


def print_summary(name: str, rounds: list[tuple[Round, np.ndarray]]) -> None:
    low, middle, high = np.quantile([alone[0] / one.seconds for one, alone in rounds], (0.25, 0.5, 0.75))
    used = np.median([alone[1] / (one.server + one.clients) for one, alone in rounds])
    waits = [wait for one, _ in rounds for wait in one.waits]
    p50, p95, p99 = 1000 * np.quantile(waits, (0.5, 0.95, 0.99))
    print(
        f"{name:>18}: ratio {middle:.2f}, half of the rounds from {low:.2f} to {high:.2f}, "
        f"of processor time {used:.2f}; ms p50 {p50:.1f}, p95 {p95:.1f}, p99 {p99:.1f}; "
        f"errors {sum(len(one.errors) for one, _ in rounds)}"
    )


def main(options: argparse.Namespace) -> None:
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":  # as the command line sets it, also for offline rounds
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.argv])
    sys.setswitchinterval(SWITCH_INTERVAL)  # likewise
    golds = [
        gold
        for gold in load("mtref", "dev")
        if not options.words or all(abs(len(side) - options.words) < 5 for side in (gold.source, gold.target))
    ]
    pairs = [(" ".join(gold.source), " ".join(gold.target)) for gold in golds[: options.pairs]]
    if len(pairs) <= CACHED_PAIRS:
        raise SystemExit(f"the server caches {CACHED_PAIRS} pairs; choose more than these, got {len(pairs)}")
    bodies = [json.dumps({"source": source, "target": target}).encode() for source, target in pairs]
    command = [sys.executable, "-m", "otalign", "serve", "--model", options.model, "--port", "0"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    address = server.stderr.readline().split()[0]
    port = int(address.rstrip("/").rpartition(":")[2])
    aligner = Aligner.load(options.model)
    print(f"{aligner.signature}\n{len(pairs)} pairs, {options.clients} clients, {os.cpu_count()} cores")
    try:
        align_offline(aligner, pairs[:64])  # warm-up
        # The last pairs, since the server caches some embeddings, which must not be requested soon.
        run_in_process(port, bodies[-64:], options.clients, 0)
        rounds: dict[str, list[tuple[Round, np.ndarray]]] = {"served": [], "with bad requests": []}
        before, found = align_offline(aligner, pairs)
        for _ in range(options.rounds):
            served = []
            for bad_every in (0, options.bad_every):
                used = read_processor_time(server)
                one = run_in_process(port, bodies, options.clients, bad_every)
                served.append(one._replace(server=read_processor_time(server) - used))
            after, _ = align_offline(aligner, pairs)
            alone, before = (before + after) / 2, after
            for name, one in zip(rounds, served, strict=True):
                rounds[name].append((one, alone))
                print_round(name, one, alone, found)
        for name, some in rounds.items():
            print_summary(name, some)
    finally:
        server.send_signal(signal.SIGINT)
        print(f"the server ended with {server.wait(30)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", help="an aligner's folder, an encoder's folder or a name")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--pairs", type=int, help="maximum number of pairs")
    parser.add_argument("--words", type=int, help="only pairs with about so many words a side")
    parser.add_argument(
        "--bad-every", type=int, default=7, help="number of valid requests for each invalid one"
    )
    main(parser.parse_args())
