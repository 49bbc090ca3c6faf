"""Pairs a second by processes, and that memory does not grow with the corpus: `otalign align -o folder/`.

python benchmarks/stream.py --pairs 1000000 --processes 1 2         MTRef's dev set, repeated
python benchmarks/stream.py PAIRS.tsv --pairs 100000 -- --model minilm-l6
"""

import argparse
import gzip
import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from otalign.corpus import load, read
from otalign.corpus.items import TextPair, words_of

LOOKS = 10  # along a run
WAIT = 0.2  # seconds between two looks at the memory


def pairs(file: str | None) -> list[TextPair]:
    items = load("mtref", "dev") if file is None else read(file, "tsv")
    return [
        item if isinstance(item, TextPair) else TextPair(*map(" ".join, words_of(item))) for item in items
    ]


def write_repeated(these: list[TextPair], count: int, file: Path) -> None:
    lines = [(json.dumps(pair._asdict()) + "\n").encode() for pair in these]
    with gzip.open(file, "wb", 1) as packed:
        packed.writelines(itertools.islice(itertools.cycle(lines), count))


def family(pid: int) -> Iterator[int]:
    """A process and all that it started."""
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:  # it has ended
        return
    for child in children:
        yield from family(int(child))


def resident(pid: int) -> int:
    """Bytes of memory that a process and all that it started hold now; what they share counts for each."""
    total = 0
    for one in family(pid):
        try:
            text = Path(f"/proc/{one}/status").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) << 10 for line in text.splitlines() if line.startswith("VmRSS"))
    return total


def measured(corpus: Path, count: int, processes: int, size: int, options: list[str], folder: Path) -> None:
    command = [sys.executable, "-m", "otalign", "align", str(corpus), "-o", f"{folder}/"]
    command += ["--processes", str(processes), "--shard-size", str(size), *options]
    begun, first, most, told = time.perf_counter(), 0.0, 0, 0
    print(f"{processes} process(es), {count:,} pairs in shards of {size:,}")
    with subprocess.Popen(command) as work:
        while work.poll() is None:
            most = max(most, resident(work.pid))
            done = min(count, size * len(list(folder.glob("part-*"))))
            first = first or (time.perf_counter() if (folder / "run.json").exists() else 0.0)
            if done * LOOKS // count > told:
                told = done * LOOKS // count
                print(f"  {done:>11,} pairs  {resident(work.pid) / 2**20:6.0f} MiB", flush=True)
            time.sleep(WAIT)
    assert work.returncode == 0
    end = time.perf_counter()
    written = sum(part.stat().st_size for part in folder.glob("part-*"))
    print(
        f"  at most {most / 2**20:.0f} MiB, {count / (end - first):.0f} pairs a second, "
        f"{first - begun:.1f} s before the first of them, {written / count:.0f} bytes a pair"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", nargs="?", help="source TAB target; else MTRef's dev set")
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--shard-size", type=int, default=8192)
    parser.add_argument("options", nargs="*", help="of otalign align, after --")
    said = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        corpus = Path(place) / "pairs.jsonl.gz"
        write_repeated(pairs(said.file), said.pairs, corpus)
        begun = time.perf_counter()
        count = sum(1 for _ in read(corpus, "jsonl"))
        print(f"reading alone: {count / (time.perf_counter() - begun):.0f} pairs a second")
        for processes in said.processes:
            folder = Path(place) / f"by-{processes}"
            measured(corpus, said.pairs, processes, said.shard_size, said.options, folder)


if __name__ == "__main__":
    main()
