"""A method that needs no model, and faults to inject into it, for tests of error handling."""

import errno
import os
import pickle
import random
import secrets
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from unittest.mock import patch

import numpy as np

from otalign.alignment import Alignment, Link
from otalign.encoders import PreparedPairs
from otalign.text.words import Sentence

PAIRS = [(f"{k} " + "the old car " * (k % 7), f"a car {k}") for k in range(60)]
SIZE = 12  # pairs of a shard
SHARDS = len(PAIRS) // SIZE
Run = Callable[..., tuple[int, str]]

draw = random.Random(os.environ.get("OTALIGN_FAILURE_SEED", "1"))


class Panic(BaseException):
    """A panic as Rust bindings raise it: not an Exception, and it cannot be unpickled."""

    def __init__(self, first: str, second: str):
        super().__init__(f"{first}\n{second}")


@dataclass(frozen=True)
class Fault:
    """A fault that occurs a number of times."""

    kind: str
    graves: Path  # a file for each time, named after its process
    times: int = 1000
    spared: int = 0  # times that nothing happens before

    def strike(self) -> None:
        self.graves.mkdir(exist_ok=True)
        before = len(list(self.graves.iterdir()))
        if before >= self.spared + self.times:
            return
        (self.graves / f"{os.getpid()}-{secrets.token_hex(4)}").touch()
        if before < self.spared:
            return
        match self.kind:
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "full disk":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            case "memory":
                raise MemoryError
            case "panic":
                raise Panic("index out", "of bounds")

    @property
    def processes(self) -> int:
        """Number of processes in which it has occurred."""
        return len({grave.name.split("-")[0] for grave in self.graves.iterdir()})


@dataclass(frozen=True)
class Plain:
    """A method that links the last words."""

    fault: Fault | None = None
    at: int = 0  # the pair at which it strikes
    pause: float = 0.0  # seconds for a pair
    signature = "plain"

    def align(self, source: Sentence, target: Sentence) -> Alignment:
        time.sleep(self.pause)
        if self.fault and source.words[0] == str(self.at):
            self.fault.strike()
        last = Link(len(source.words) - 1, len(target.words) - 1, 1.0)
        return Alignment(source.words, target.words, (last,), source.spans, target.spans)

    def align_many(self, pairs: Iterable[tuple[Sentence, Sentence]]) -> Iterator[Alignment]:
        return (self.align(*pair) for pair in pairs)


@dataclass(frozen=True)
class Loading:
    """A replacement for the functions by which the command line loads a method."""

    method: Plain = Plain()
    fault: Fault | None = None

    def __call__(self, *_: object) -> Plain:
        if self.fault:
            self.fault.strike()
        return self.method


@dataclass(frozen=True)
class FaultyReader:
    """A replacement for an encoder's `PairPreparer`."""

    fault: Fault
    at: int

    def prepare(self, pairs: list[tuple[Sentence, Sentence]], pairing: str) -> PreparedPairs:
        if any(source.words[0] == str(self.at) for source, _ in pairs):
            self.fault.strike()
        return PreparedPairs([], np.zeros(2 * len(pairs) + 1, int))


def run_command(loading: Loading, *arguments: str) -> None:
    """Run `otalign` in this process, with a method of this module in it and in its workers."""
    main = import_module("otalign.cli").main
    with (
        patch("otalign.cli.shards._load_method", loading),
        patch.object(import_module("otalign.cli.align"), "load_method", loading),
        patch.object(sys, "argv", ["otalign", *arguments]),
    ):
        main()


def make_command(loading: Loading, *arguments: str) -> list[str]:
    """Return the command line of a process that calls `run_command`."""
    code = (
        "import pickle, sys; from tests.failures.faults import run_command; "
        "run_command(pickle.loads(bytes.fromhex(sys.argv[1])), *sys.argv[2:])"
    )
    return [sys.executable, "-c", code, pickle.dumps(loading).hex(), *arguments]


def read_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def one_line(output: str) -> str:
    """Return the output, which must be one line of otalign."""
    assert output.startswith("otalign: ")
    assert output.count("\n") == 1
    return output


def damage(folder: Path) -> None:
    """Truncate a shard, flip a bit of the next, delete the third."""
    parts = [folder / f"part-{number:06d}.jsonl" for number in range(3)]
    parts[0].write_bytes(parts[0].read_bytes()[:-1])
    data = bytearray(parts[1].read_bytes())
    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    parts[1].write_bytes(data)
    parts[2].unlink()
