"""Measure speed and memory of `otalign align -o folder/` on a large corpus of repeated pairs.

PYTHONPATH=src python benchmarks/stream.py --pairs 100000 --processes 1 2
PYTHONPATH=src python benchmarks/stream.py PAIRS.tsv --pairs 1000000 --kill --workers 8 12 15 \
    --formats pharaoh jsonl jsonl.gz -- --model FOLDER --device cuda --precision bfloat16

Memory is the resident memory of a run and all its child processes, read from /proc, so on Linux only; shared
memory counts for each process. With --kill, another run is killed twice, resumed, and must give the same
bytes. Files are written to TMPDIR. Pairs a second count from the first finished shard to the end, and, in
brackets, from the start of the command.
"""

import argparse
import filecmp
import gzip
import itertools
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from otalign.io import CORPORA, load, read
from otalign.io.items import TextPair, get_words

EXAMPLES = Path(__file__).parent.parent / "examples" / "pairs.tsv"
WAIT = 0.2  # seconds between two measurements of memory
KILLED_AT = (0.3, 0.7)  # shares of the corpus


def read_pairs(name: str) -> list[TextPair]:
    """Read the pairs of a dev set, or of a file."""
    items = load(name, "dev") if name in CORPORA else read(name, "jsonl" if "jsonl" in name else "tsv")
    return [
        item if isinstance(item, TextPair) else TextPair(*map(" ".join, get_words(item))) for item in items
    ]


def write_repeated(these: list[TextPair], count: int, file: Path) -> None:
    lines = [(json.dumps(pair._asdict()) + "\n").encode() for pair in these]
    with gzip.open(file, "wb", 1) as packed:
        packed.writelines(itertools.islice(itertools.cycle(lines), count))


def read_status(pid: int | str) -> dict[str, int]:
    """Return the numbers of /proc/PID/status; none if the process has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}
    fields = (line.replace(":", " ").split()[:2] for line in lines)
    return {
        name: int(value) for name, value in (field for field in fields if len(field) == 2) if value.isdigit()
    }


def measure_memory(pid: int) -> int:
    """Return the resident memory of a process and its descendants, in bytes."""
    statuses = {int(name): read_status(name) for name in os.listdir("/proc") if name.isdigit()}
    family = {pid}
    while more := {one for one, values in statuses.items() if values.get("PPid") in family} - family:
        family |= more
    return sum(statuses.get(one, {}).get("VmRSS", 0) << 10 for one in family)


@dataclass(frozen=True)
class Run:
    """A run of `otalign align` on a corpus, into a folder."""

    corpus: Path
    count: int
    size: int
    form: str
    processes: Sequence[str]  # option for the number of processes
    options: Sequence[str]
    folder: Path

    def start(self, *more: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "otalign", "align", str(self.corpus), "-o", f"{self.folder}/"]
        command += [*self.processes, "--shard-size", str(self.size), "--format", self.form]
        return subprocess.Popen([*command, *more, *self.options])

    @property
    def done(self) -> float:
        """Share of the pairs that are written."""
        return min(1.0, self.size * len(list(self.folder.glob("part-*"))) / self.count)


def measure(run: Run) -> None:
    start, first, shards_then = time.perf_counter(), 0.0, 0
    most = [0] * 11  # bytes, by tenths of the pairs that were written then
    before = measure_processors()
    with run.start() as work:
        while work.poll() is None:
            tenth = int(10 * run.done)
            most[tenth] = max(most[tenth], measure_memory(work.pid))
            if not first and (shards_then := len(list(run.folder.glob("part-*")))):
                first = time.perf_counter()
            time.sleep(WAIT)
    if work.returncode:
        sys.exit(work.returncode)
    end = time.perf_counter()
    spent = (measure_processors() - before) / run.count * 1e6
    written = sum(part.stat().st_size for part in run.folder.glob("part-*"))
    counted = max(0, run.count - shards_then * run.size)
    print(f"{' '.join(run.processes)}, {run.form}, {run.count:,} pairs in shards of {run.size:,}")
    print(
        f"  {counted / (end - first):,.0f} pairs a second ({run.count / (end - start):,.0f} with the start)"
    )
    print(f"  {first - start:.1f} s before the first shard, {spent:,.0f} µs of processors a pair")
    print(f"  {written / run.count:.0f} bytes a pair, {written / 2**20:,.0f} MiB of shards")
    print(f"  memory at most {max(most) / 2**20:,.0f} MiB; by tenths of the pairs, MiB:")
    print("  ", *(f"{bytes / 2**20:,.0f}" if bytes else "-" for bytes in most[:10]), flush=True)


def measure_processors() -> float:
    """Return the CPU time in seconds of child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def kill_and_resume(run: Run, expected: Path) -> None:
    for share in KILLED_AT:
        with run.start("--resume") as work:
            while run.done < share and work.poll() is None:
                time.sleep(WAIT / 10)
            work.send_signal(signal.SIGKILL)
        assert work.returncode == -signal.SIGKILL, "the run ended before it was killed; give more --pairs"
        print(f"  killed at {run.done:.0%}", flush=True)
    with run.start("--resume") as work:
        pass
    names = sorted(path.name for path in expected.iterdir())
    assert work.returncode == 0
    assert names == sorted(path.name for path in run.folder.iterdir())
    assert filecmp.cmpfiles(expected, run.folder, names, shallow=False)[0] == names
    print(f"  resumed: {len(names)} files, byte for byte those of the run that was not killed", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", nargs="?", default=str(EXAMPLES), help="tsv, jsonl, or a corpus by name")
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--processes", type=int, nargs="+", help="processes with a model each")
    parser.add_argument("--workers", type=int, nargs="+", help="helpers beside one process with the model")
    parser.add_argument("--formats", nargs="+", default=["jsonl"])
    parser.add_argument("--shard-size", type=int, help="else 8192, or less so that there are 40 shards")
    parser.add_argument("--kill", action="store_true", help="also kill, resume and compare")
    own, more = split_at_dashes(sys.argv[1:])
    options = parser.parse_args(own)
    size = options.shard_size or max(1, min(8192, options.pairs // 40))
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "pairs.jsonl.gz"
        write_repeated(read_pairs(options.file), options.pairs, corpus)
        start = time.perf_counter()
        count = sum(1 for _ in read(corpus, "jsonl"))
        print(f"reading alone: {count / (time.perf_counter() - start):,.0f} pairs a second", flush=True)
        settings = [("--workers", str(number)) for number in options.workers or ()]
        settings += [("--processes", str(number)) for number in options.processes or ()]
        for form, processes in itertools.product(options.formats, settings or [("--processes", "1")]):
            name = "-".join((form, *processes))
            expected, killed = Path(folder) / name, Path(folder) / f"{name}-killed"
            measure(Run(corpus, count, size, form, processes, more, expected))
            if options.kill:
                kill_and_resume(Run(corpus, count, size, form, processes, more, killed), expected)


def split_at_dashes(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Return the options of this script, and those of `otalign align` after --."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:end], arguments[end + 1 :]


if __name__ == "__main__":
    main()
