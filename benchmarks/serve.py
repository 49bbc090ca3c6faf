"""Compare the speed of the server, with many clients at once, with that of the aligner alone.

python benchmarks/serve.py MODEL                 ratio of the served to the offline speed, and latencies
python benchmarks/serve.py MODEL --clients 1     one client that waits for each answer

The pairs are those of MTRef dev, as text; each is requested once by one client. Offline and served rounds
alternate in one run, each served round between two offline rounds, so that the median is right on a busy
machine. The clients run on the same cores. Between the pairs, every client sends requests that must be
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
from typing import NamedTuple

import numpy as np

from otalign import Aligner
from otalign.io import load

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

    start = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(clients)))
    seconds = time.perf_counter() - start
    links = [json.loads(answers[k])["links"] if k in answers else [] for k in range(len(bodies))]
    return Round(seconds, waits, links, errors)


def _run(connection, port: int, bodies: list[bytes], clients: int, bad_every: int) -> None:
    connection.send(asyncio.run(measure_server(port, bodies, clients, bad_every)))


def run_in_process(*args) -> Round:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_run, args=(theirs, *args))
    process.start()
    found = ours.recv()
    process.join()
    return found


def align_offline(aligner: Aligner, pairs: list) -> tuple[float, list[list]]:
    start = time.perf_counter()
    alignments = list(aligner.align_many(pairs))
    return time.perf_counter() - start, [[[*link] for link in one.links] for one in alignments]


def compute_difference(some: list[list], others: list[list]) -> float:
    """Return the share of links that are only in one of the two."""
    apart = [
        len({(i, j) for i, j, _ in one} ^ {(i, j) for i, j, _ in other})
        for one, other in zip(some, others, strict=True)
    ]
    return sum(apart) / max(1, sum(map(len, some)) + sum(map(len, others)))


def main(options: argparse.Namespace) -> None:
    golds = load("mtref", "dev")[: options.pairs]
    pairs = [(" ".join(gold.source), " ".join(gold.target)) for gold in golds]
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
        ratios = []
        before, found = align_offline(aligner, pairs)
        for _ in range(options.rounds):
            plain = run_in_process(port, bodies, options.clients, 0)
            mixed = run_in_process(port, bodies, options.clients, options.bad_every)
            after, _ = align_offline(aligner, pairs)
            alone, before = (before + after) / 2, after
            ratios.append((alone / plain.seconds, alone / mixed.seconds))
            for name, one in (("served", plain), ("with bad requests", mixed)):
                p50, p95, p99 = 1000 * np.quantile(one.waits, (0.5, 0.95, 0.99))
                print(
                    f"{name:>18}: {len(pairs) / one.seconds:.0f} pairs a second, "
                    f"offline {len(pairs) / alone:.0f}, ratio {alone / one.seconds:.2f}; "
                    f"ms p50 {p50:.0f}, p95 {p95:.0f}, p99 {p99:.0f}; errors {len(one.errors)}; "
                    f"links unlike offline {100 * compute_difference(found, one.links):.2f}%",
                    flush=True,
                )
                print("".join(f"{error}\n" for error in one.errors[:3]), end="")
        for name, some in zip(("served", "with bad requests"), np.transpose(ratios), strict=True):
            low, middle, high = np.quantile(some, (0.25, 0.5, 0.75))
            print(f"{name:>18}: ratio {middle:.2f}, half of the rounds from {low:.2f} to {high:.2f}")
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
    parser.add_argument(
        "--bad-every", type=int, default=7, help="number of valid requests for each invalid one"
    )
    main(parser.parse_args())
