"""A long day of a server in little time: many clients, some of them hostile, slow, or gone before the answer.

python benchmarks/soak.py                        half an hour with the aligner that comes with the package
python benchmarks/soak.py --minutes 3            shorter
python benchmarks/soak.py --url http://127.0.0.1:8000 --pid 1234    a server that runs already

Each client asks for one pair of about 15 words, waits for the answer, thinks, and asks again, so that all of
them ask `--rate` times a second on average. That must be well below what the server can do, since the clients
take their share of the same processor: 30 a second is about a tenth of two cores. One request in twenty is
hostile: no JSON, a huge body, wrong types, unknown fields, lone surrogates, deep nesting, endless or slow
headers. Others hang up on a large request, or read its answer slowly, and some connections never ask.

The table has a line for each minute, of the good requests. The verdict holds the server to three bounds:
every good request is answered with 200, 99 of 100 within a second, and the memory after the first fifth of
the time (in which the allocator and the caches settle) stays within 5 parts of 100 of its median there.
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

P99, GROWTH = 1.0, 0.05  # bounds: seconds, and the share of memory
SETTLED = 0.2  # of the time, after which memory is looked at
HOSTILE = 0.05  # of the requests

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
    begun: float = field(default_factory=time.monotonic)
    minutes: list[Minute] = field(default_factory=list)

    @property
    def now(self) -> Minute:
        k = int((time.monotonic() - self.begun) // 60)
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


def a_sentence(chance: random.Random, words: int = 15) -> str:
    return " ".join(chance.choices(WORDS, k=words)) + "."


def a_request(body: bytes) -> bytes:
    return HEAD + b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


async def answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    return int(head.split(b" ", 2)[1]), await reader.readexactly(length)


async def be_good(soak: Soak, think: float, seed: int) -> None:
    """Ask for a pair, think, and ask again, now and then on a new connection; be hostile at times."""
    chance = random.Random(seed)
    await asyncio.sleep(chance.uniform(0, think))
    while not soak.over:
        try:
            async with soak.connect() as connection:
                for _ in range(chance.randint(5, 50)):
                    if soak.over or chance.random() < HOSTILE:
                        break
                    await ask_once(soak, connection, chance)
                    await asyncio.sleep(chance.uniform(0.5, 1.5) * think)
        except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
            soak.now.errors.append(repr(error))
        if not soak.over:
            soak.now.hostile += 1
            with suppress(OSError, asyncio.IncompleteReadError, TimeoutError):
                await asyncio.wait_for(be_hostile(soak, chance), 20)


async def ask_once(soak: Soak, connection: Connection, chance: random.Random) -> None:
    reader, writer = connection
    minute, start = soak.now, time.perf_counter()
    pair = {"source": a_sentence(chance), "target": a_sentence(chance)}
    writer.write(a_request(json.dumps(pair).encode()))
    status, body = await asyncio.wait_for(answer(reader), 30)
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


async def be_hostile(soak: Soak, chance: random.Random) -> None:
    """Send something that must be refused, whichever way, on a connection of its own."""
    async with soak.connect() as (reader, writer):
        kind = chance.randrange(len(BODIES) + 3)
        if kind < len(BODIES):
            writer.write(a_request(BODIES[kind]))
            await answer(reader)
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


def many_pairs(chance: random.Random, pairs: int) -> bytes:
    asked = [{"source": a_sentence(chance), "target": a_sentence(chance)} for _ in range(pairs)]
    return a_request(json.dumps({"pairs": asked}).encode())


async def hang_up(soak: Soak, seed: int) -> None:
    """Ask for much and leave before it is answered."""
    chance = random.Random(seed)
    while not soak.over:
        with suppress(OSError):
            async with soak.connect() as (_, writer):
                writer.write(many_pairs(chance, 64))
                await asyncio.sleep(chance.uniform(0, 0.1))
        await asyncio.sleep(chance.uniform(2, 6))


async def read_slowly(soak: Soak, seed: int) -> None:
    """Ask for something large and read the answer in small parts."""
    chance = random.Random(seed)
    body = json.dumps({"source": "a " * 100, "target": "b " * 100, "matrix": True}).encode()
    while not soak.over:
        with suppress(OSError):
            async with soak.connect() as (reader, writer):
                writer.write(a_request(body))
                while not soak.over and await reader.read(2_000):
                    await asyncio.sleep(0.2)
        await asyncio.sleep(chance.uniform(5, 15))


async def be_idle(soak: Soak) -> None:
    """Connect, say nothing until the server hangs up, and come again."""
    while not soak.over:
        with suppress(OSError, TimeoutError):
            async with soak.connect() as (reader, _):
                await asyncio.wait_for(reader.read(), max(0.1, soak.end - time.monotonic()))
        await asyncio.sleep(0.5)


def resident(pid: int) -> float:
    """MiB of memory of a process and its children."""
    total, todo = 0, [pid]
    while todo:
        folder = Path(f"/proc/{todo.pop()}")
        with suppress(OSError):
            lines = (folder / "status").read_text().splitlines()
            total += next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
            todo += [int(child) for child in (folder / f"task/{folder.name}/children").read_text().split()]
    return total / 1024


def report(minute: Minute, k: int, memory: float) -> None:
    p50, p95, p99 = 1000 * np.quantile(minute.waits or [0.0], (0.5, 0.95, 0.99))
    print(
        f"{k:>6}  {len(minute.waits):>8,}  {minute.hostile:>7,}  {len(minute.errors):>6,}  "
        f"{p50:>6.0f}  {p95:>6.0f}  {p99:>6.0f}  {memory:>6.0f}",
        flush=True,
    )


async def watch(soak: Soak, pid: int) -> list[tuple[float, float]]:
    """Print the minutes as they end, and note the memory: (seconds since the start, MiB)."""
    print("minute  requests  hostile  errors  p50 ms  p95 ms  p99 ms     MiB")
    printed, memory = 0, []
    while not soak.over:
        await asyncio.sleep(1)
        elapsed = time.monotonic() - soak.begun
        memory.append((elapsed, resident(pid)))
        if elapsed >= 60 * (printed + 1):
            report(soak.minutes[printed], printed + 1, memory[-1][1])
            printed += 1
    return memory


async def run(soak: Soak, pid: int, options: argparse.Namespace) -> list[tuple[float, float]]:
    think = options.clients / options.rate
    async with asyncio.TaskGroup() as group:
        for k in range(options.clients):
            group.create_task(be_good(soak, think, k))
        for k in range(options.slow):
            group.create_task(read_slowly(soak, 1000 + k))
            group.create_task(hang_up(soak, 2000 + k))
        for _ in range(options.idle):
            group.create_task(be_idle(soak))
        watching = group.create_task(watch(soak, pid))
    return watching.result()


def verdict(soak: Soak, memory: list[tuple[float, float]], seconds: float) -> bool:
    waits = [wait for minute in soak.minutes for wait in minute.waits]
    errors = [error for minute in soak.minutes for error in minute.errors]
    p99 = float(np.quantile(waits, 0.99)) if waits else float("inf")
    settled = [mib for elapsed, mib in memory if elapsed >= SETTLED * seconds] or [0.0]
    middle = float(np.median(settled))
    # The middle of each tenth of the time: what one request holds for a moment does not grow.
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
        kept = verdict(soak, memory, seconds)
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
    parser.add_argument("--clients", type=int, default=64, help="that ask for a pair at a time")
    parser.add_argument("--rate", type=float, default=30, help="requests a second of all clients together")
    parser.add_argument("--slow", type=int, default=4, help="clients that read slowly, and that hang up")
    parser.add_argument("--idle", type=int, default=300, help="connections that never ask")
    parser.add_argument("--model", help="an aligner's folder or name; else the one in the package")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--url", help="of a server that runs already, on this machine")
    parser.add_argument("--pid", type=int, help="of that server")
    given = parser.parse_args()
    if bool(given.url) != bool(given.pid):
        parser.error("--url and --pid must be given together: memory is read from the process")
    sys.exit(main(given))
