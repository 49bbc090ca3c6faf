"""Measure the speed and memory of readers and writers: python benchmarks/formats.py

Pairs have 5 to 30 words with about one link a word. Then a long Pharaoh file is read; the goal is 100,000
lines a second.
"""

import argparse
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from otalign.gold import Gold
from otalign.io import FORMATS, read, write


def make_pairs(count: int) -> Iterator[Gold]:
    rng = random.Random(0)
    for _ in range(count):
        n, m = rng.randint(5, 30), rng.randint(5, 30)
        links = {(i, min(max(i + rng.randint(-2, 2), 0), m - 1)) for i in range(min(n, m))}
        yield Gold(tuple(f"word{i}" for i in range(n)), tuple(f"mot{j}" for j in range(m)), frozenset(links))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--long", type=int, default=1_000_000, help="lines of the long Pharaoh file")
    options = parser.parse_args()
    pairs = list(make_pairs(options.count))
    print(f"{'format':12}{'written/s':>12}{'read/s':>12}")
    with tempfile.TemporaryDirectory() as folder:
        for name, format in FORMATS.items():
            paths = [Path(folder) / str(k) for k in range(len(format.write))]
            start = time.perf_counter()
            write(pairs, paths, name)
            written = time.perf_counter()
            assert sum(1 for _ in read(paths, name)) == options.count
            end = time.perf_counter()
            rates = options.count / (written - start), options.count / (end - written)
            print(f"{name:12}{rates[0]:>12,.0f}{rates[1]:>12,.0f}")
        line = "0-0 1-1 2-3 3-2 4-4 5-5 6-7 7-8 8-6 9-9\n"
        path = Path(folder) / "long"
        path.write_text(line * options.long)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.perf_counter()
        count = sum(1 for _ in read(path, "pharaoh"))
        rate = count / (time.perf_counter() - start)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        print(f"\n{count:,} Pharaoh lines of 10 links: {rate:,.0f} lines/s, {grown:.1f} MiB more memory")


if __name__ == "__main__":
    main()
