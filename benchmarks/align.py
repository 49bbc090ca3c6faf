"""Where the time of aligning goes, and that memory does not grow with the stream.

python benchmarks/align.py ENCODER                 the encoder alone beside the whole path, MTRef dev
python benchmarks/align.py ENCODER --stream 200000 resident memory along a stream of made-up pairs
"""

import argparse
import os
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from otalign import Aligner
from otalign.corpus import load

ROUNDS = 5


class Timed:
    """The encoder's model with a clock around it."""

    def __init__(self, encoder):
        self.run, self.seconds = encoder.hidden, 0.0
        encoder.hidden = self

    def __call__(self, *arrays):
        start = time.perf_counter()
        states = self.run(*arrays)
        self.seconds += time.perf_counter() - start
        return states


def shares(aligner: Aligner, pairs: list) -> None:
    clock = Timed(aligner.encoder)
    aligner.encoder.at_once = 1  # so that the times of batches add up
    list(aligner.align_many(pairs[:64]))  # to be warm
    print(f"{aligner.signature}\n{len(pairs)} pairs, median of {ROUNDS} rounds")
    rows = []
    for _ in range(ROUNDS):
        clock.seconds, start = 0.0, time.perf_counter()
        count = sum(1 for _ in aligner.align_many(pairs))
        rows.append((time.perf_counter() - start, clock.seconds))
        assert count == len(pairs)
    whole, model = np.median(np.array(rows), axis=0)
    outside = float(np.median([1 - inside / all_ for all_, inside in rows]))
    print(f"whole path {whole:.2f} s, {len(pairs) / whole:.0f} pairs a second")
    print(f"encoder's model {model:.2f} s, {len(pairs) / model:.0f} pairs a second")
    print(f"outside the model {100 * outside:.1f}%")


def made_up(vocabulary: list[str]) -> Iterator[tuple]:
    """Pairs of 5 to 40 words without end, the target a shuffled part of the source."""
    draw = np.random.default_rng(0)
    while True:
        source = [vocabulary[k] for k in draw.integers(len(vocabulary), size=draw.integers(5, 40))]
        yield source, [source[k] for k in draw.permutation(len(source))[: draw.integers(1, len(source) + 1)]]


def stream(aligner: Aligner, vocabulary: list[str], count: int) -> None:
    start, looks = time.perf_counter(), 10
    for k, _ in enumerate(aligner.align_many(islice(made_up(vocabulary), count)), 1):
        if k % (count // looks) == 0:
            rate = k / (time.perf_counter() - start)
            print(f"{k:>9,} pairs  {resident() / 2**20:6.0f} MiB  {rate:.0f} pairs a second", flush=True)


def resident() -> int:
    """Bytes of memory that the process holds now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("encoder", help="a folder or a name")
    parser.add_argument("--layer", type=int)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--stream", type=int, metavar="PAIRS", help="align a stream of so many pairs")
    options = parser.parse_args()
    golds = load("mtref", "dev")
    chosen = Aligner.load(options.encoder, layer=options.layer, threads=options.threads)
    if options.stream:
        stream(chosen, sorted({word for gold in golds for word in gold.source}), options.stream)
    else:
        shares(chosen, [(gold.source, gold.target) for gold in golds])
