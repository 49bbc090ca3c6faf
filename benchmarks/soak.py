"""Soak test of the server: many clients, some of them hostile, slow, or gone before the answer.

python benchmarks/soak.py                        half an hour with the aligner of the package
python benchmarks/soak.py --minutes 3            three minutes
python benchmarks/soak.py --url http://127.0.0.1:8000 --pid 1234    a running server

Each client requests the links of one pair of about 15 words, waits for the answer, pauses, and repeats, so
that all clients together send `--rate` requests a second on average. The rate must be well below the capacity
of the server, since the clients run on the same cores: 30 a second is about a tenth of two cores. One request
in twenty is hostile: no JSON, a huge body, wrong types, unknown fields, lone surrogates, deep nesting,
endless or slow headers. Other clients disconnect after a large request or read its answer slowly, and some
connections stay idle.

The table has a line for each minute, about the valid requests. Three bounds must hold: every valid request is
answered with 200; the 99th percentile of the time is less than a second; and after the first fifth of the
time, in which the allocator and the caches settle, memory stays within 5% of its median.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

P99, GROWTH = 1.0, 0.05  # bounds: seconds, and growth of memory
SETTLED = 0.2  # share of the time after which memory is measured
HOSTILE = 0.05  # share of the requests

SENTENCE = (
    "the old teacher sold a small garden near the river in winter because rain never stopped again and the "
    "new bridge opened quickly before market morning but under it nobody found that lost letter"
)
WORDS = SENTENCE.split()

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]

HEAD = b"POST /v1/align HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


@dataclass
class Minute:
    waits: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    hostile: int = 0


@dataclass
class Soak:
    """The state that all clients share: the server, the end time, and the responses so far."""

    host: str
    port: int
    end: float
    start: float = field(default_factory=time.monotonic)
    minutes: list[Minute] = field(default_factory=list)

    @property
    def now(self) -> Minute:
        k = int((time.monotonic() - self.start) // 60)
        while len(self.minutes) <= k:
            self.minutes.append(Minute())
        return self.minutes[k]

    @property
    def over(self) -> bool:
        return time.monotonic() >= self.end

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Connection]:
        reader, writer = await asyncio.open_connection(self.host, self.port)
        try:
            yield reader, writer
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()


def make_sentence(chance: random.Random, words: int = 15) -> str:
    return " ".join(chance.choices(WORDS, k=words)) + "."


def make_request(body: bytes) -> bytes:
    return HEAD + b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


async def read_answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    return int(head.split(b" ", 2)[1]), await reader.readexactly(length)


async def send_requests(soak: Soak, think: float, seed: int) -> None:
    """Send valid requests with pauses, sometimes on a new connection, and hostile requests between them."""
    chance = random.Random(seed)
    await asyncio.sleep(chance.uniform(0, think))
    while not soak.over:
        try:
            async with soak.connect() as connection:
                for _ in range(chance.randint(5, 50)):
                    if soak.over or chance.random() < HOSTILE:
                        break
                    await send_request(soak, connection, chance)
                    await asyncio.sleep(chance.uniform(0.5, 1.5) * think)
        except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
            soak.now.errors.append(repr(error))
        if not soak.over:
            soak.now.hostile += 1
            with suppress(OSError, asyncio.IncompleteReadError, TimeoutError):
                await asyncio.wait_for(send_hostile_request(soak, chance), 20)


async def send_request(soak: Soak, connection: Connection, chance: random.Random) -> None:
    reader, writer = connection
    minute, start = soak.now, time.perf_counter()
    pair = {"source": make_sentence(chance), "target": make_sentence(chance)}
    writer.write(make_request(json.dumps(pair).encode()))
    status, body = await asyncio.wait_for(read_answer(reader), 30)
    minute.waits.append(time.perf_counter() - start)
    if status != 200 or len(json.loads(body)["source"]) != 16:
        minute.errors.append(f"{status}: {body[:200]}")


BODIES = (
    b"{",
    b" " * (1 << 21),
    b'{"source": 1, "target": [2]}',
    b"{%s}" % b",".join(b'"%x": 1' % k for k in range(50_000)),
    rb'{"source": "\ud800", "target": "b"}',
    b"[" * 500_000,
    b'{"pairs": [%s]}' % b",".join([b"{}"] * 100_000),
    b'{"source": "%s", "target": "b"}' % (b"a " * 2_000),
)


async def send_hostile_request(soak: Soak, chance: random.Random) -> None:
    """Send a request that must be refused, on a connection of its own."""
    async with soak.connect() as (reader, writer):
        kind = chance.randrange(len(BODIES) + 3)
        if kind < len(BODIES):
            writer.write(make_request(BODIES[kind]))
            await read_answer(reader)
        elif kind == len(BODIES):  # headers without end
            writer.write(HEAD + b"X: " + b"a" * 1_000_000)
            await reader.read()
        elif kind == len(BODIES) + 1:  # slow headers
            writer.write(HEAD)
            while not soak.over and not reader.at_eof():
                writer.write(b"X: y\r\n")
                with suppress(TimeoutError):
                    await asyncio.wait_for(reader.read(1000), 0.5)
        else:  # not HTTP at all
            writer.write(chance.randbytes(10_000))
            await reader.read()


def make_large_request(chance: random.Random, pairs: int) -> bytes:
    requested = [{"source": make_sentence(chance), "target": make_sentence(chance)} for _ in range(pairs)]
    return make_request(json.dumps({"pairs": requested}).encode())


async def disconnect_early(soak: Soak, seed: int) -> None:
    """Send large requests and disconnect before the answers."""
    chance = random.Random(seed)
    while not soak.over:
        with suppress(OSError):
            async with soak.connect() as (_, writer):
                writer.write(make_large_request(chance, 64))
                await asyncio.sleep(chance.uniform(0, 0.1))
        await asyncio.sleep(chance.uniform(2, 6))


async def read_slowly(soak: Soak, seed: int) -> None:
    """Request large answers and read them in small parts."""
    chance = random.Random(seed)
    body = json.dumps({"source": "a " * 100, "target": "b " * 100, "matrix": True}).encode()
    while not soak.over:
        with suppress(OSError):
            async with soak.connect() as (reader, writer):
                writer.write(make_request(body))
                while not soak.over and await reader.read(2_000):
                    await asyncio.sleep(0.2)
        await asyncio.sleep(chance.uniform(5, 15))


async def stay_idle(soak: Soak) -> None:
    """Connect, send nothing until the server disconnects, and repeat."""
    while not soak.over:
        with suppress(OSError, TimeoutError):
            async with soak.connect() as (reader, _):
                await asyncio.wait_for(reader.read(), max(0.1, soak.end - time.monotonic()))
        await asyncio.sleep(0.5)


def measure_memory(pid: int) -> float:
    """Return the memory of a process and its descendants, in MiB."""
    total, todo = 0, [pid]
    while todo:
        folder = Path(f"/proc/{todo.pop()}")
        with suppress(OSError):
            lines = (folder / "status").read_text().splitlines()
            total += next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
            todo += [int(child) for child in (folder / f"task/{folder.name}/children").read_text().split()]
    return total / 1024


def print_minute(minute: Minute, k: int, memory: float) -> None:
    p50, p95, p99 = 1000 * np.quantile(minute.waits or [0.0], (0.5, 0.95, 0.99))
    print(
        f"{k:>6}  {len(minute.waits):>8,}  {minute.hostile:>7,}  {len(minute.errors):>6,}  "
        f"{p50:>6.0f}  {p95:>6.0f}  {p99:>6.0f}  {memory:>6.0f}",
        flush=True,
    )


async def monitor(soak: Soak, pid: int) -> list[tuple[float, float]]:
    """Print a line for each minute, and return the memory as (seconds since the start, MiB)."""
    print("minute  requests  hostile  errors  p50 ms  p95 ms  p99 ms     MiB")
    printed, memory = 0, []
    while not soak.over:
        await asyncio.sleep(1)
        elapsed = time.monotonic() - soak.start
        memory.append((elapsed, measure_memory(pid)))
        if elapsed >= 60 * (printed + 1):
            print_minute(soak.minutes[printed], printed + 1, memory[-1][1])
            printed += 1
    return memory


async def run(soak: Soak, pid: int, options: argparse.Namespace) -> list[tuple[float, float]]:
    think = options.clients / options.rate
    async with asyncio.TaskGroup() as group:
        for k in range(options.clients):
            group.create_task(send_requests(soak, think, k))
        for k in range(options.slow):
            group.create_task(read_slowly(soak, 1000 + k))
            group.create_task(disconnect_early(soak, 2000 + k))
        for _ in range(options.idle):
            group.create_task(stay_idle(soak))
        watching = group.create_task(monitor(soak, pid))
    return watching.result()


def check_bounds(soak: Soak, memory: list[tuple[float, float]], seconds: float) -> bool:
    waits = [wait for minute in soak.minutes for wait in minute.waits]
    errors = [error for minute in soak.minutes for error in minute.errors]
    p99 = float(np.quantile(waits, 0.99)) if waits else float("inf")
    settled = [mib for elapsed, mib in memory if elapsed >= SETTLED * seconds] or [0.0]
    middle = float(np.median(settled))
    # The median of each tenth of the time, so that the memory of a single request does not count as growth.
    tenths = [float(np.median(part)) for part in np.array_split(settled, min(8, len(settled)))]
    growth = max(abs(part / middle - 1) for part in tenths) if middle else float("inf")
    bounds = (
        (f"errors of good clients: {len(errors)} of {len(waits):,}", bool(waits) and not errors),
        (f"p99: {p99:.3f} s, at most {P99:g}", p99 < P99),
        (
            f"memory: within {100 * growth:.1f}% of {middle:.0f} MiB, at most {100 * GROWTH:g}%",
            growth <= GROWTH,
        ),
    )
    for name, kept in bounds:
        print(f"{'kept  ' if kept else 'BROKEN'}  {name}")
    for error in errors[:5]:
        print(f"        {error}")
    return all(kept for _, kept in bounds)


def main(options: argparse.Namespace) -> int:
    server = None
    if options.url:
        address, pid = options.url, options.pid
    else:
        model = ["--model", options.model] if options.model else []
        command = [sys.executable, "-m", "otalign", "serve", "--port", "0", "--workers", str(options.workers)]
        server = subprocess.Popen([*command, *model], stderr=subprocess.PIPE, text=True)
        assert server.stderr is not None
        address, pid = server.stderr.readline().split()[0], server.pid
    host, _, port = address.rstrip("/").rpartition("/")[2].rpartition(":")
    seconds = 60 * options.minutes
    print(f"{address}  {options.clients} clients, {options.rate:g} requests a second, {os.cpu_count()} cores")
    try:
        soak = Soak(host, int(port), time.monotonic() + seconds)
        memory = asyncio.run(run(soak, pid, options))
        kept = check_bounds(soak, memory, seconds)
    finally:
        if server is not None:
            server.send_signal(signal.SIGTERM)
            print(f"the server ended with {server.wait(60)}")
            print(server.stderr.read() if server.stderr else "", end="")
    return 0 if kept else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument(
        "--clients", type=int, default=64, help="number of clients that request a pair at a time"
    )
    parser.add_argument("--rate", type=float, default=30, help="requests a second of all clients together")
    parser.add_argument(
        "--slow",
        type=int,
        default=4,
        help="number of clients that read slowly, and of those that disconnect early",
    )
    parser.add_argument("--idle", type=int, default=300, help="number of idle connections")
    parser.add_argument("--model", help="folder or name of an aligner; the default is that of the package")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--url", help="address of a running server on this machine")
    parser.add_argument("--pid", type=int, help="process id of that server")
    arguments = parser.parse_args()
    if bool(arguments.url) != bool(arguments.pid):
        parser.error("--url and --pid must be given together: memory is read from the process")
    sys.exit(main(arguments))
