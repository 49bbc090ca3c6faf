"""Measure time and memory by length: python benchmarks/lengths.py --encoder FOLDER --figure FILE.svg

Generated pairs of 10 to 20,000 words a side are aligned by the aligner of the package and, with `--encoder`,
those of up to 3,000 words by the unsupervised defaults with an encoder. Each length runs in a separate
process. Its memory is the peak, less the memory before the pair was read; its time is that of the best of a
few rounds. `benchmarks/long_texts.py` measures real texts, and how many of their links are found.
"""

import json
import resource
import subprocess
import sys
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from otalign import Aligner

LENGTHS = (10, 30, 100, 300, 1000, 3000, 20_000)
MAX_UNSUPERVISED = 3000  # words for which all cells fit into the memory
ROUNDS, MAX_SECONDS = 3, 5.0  # rounds, and seconds after which no further round starts
VOCABULARY = [
    "harbour",
    "boats",
    "drift",
    "slowly",
    "under",
    "a",
    "pale",
    "morning",
    "sky",
    "while",
    "gulls",
    "argue",
    "over",
    "scraps",
    "and",
    "nobody",
    "on",
    "the",
    "quay",
    "seems",
    "to",
    "mind",
    "much",
    "because",
    "rain",
    "is",
    "coming",
    "from",
    "behind",
    "those",
    "hills",
    "as",
    "it",
    "did",
    "last",
    "week",
    "when",
    "two",
    "old",
    "friends",
    "met",
    "here",
    "to",
    "mend",
    "nets",
    "drink",
    "tea",
    "and",
    "talk",
    "about",
    "prices",
    "weather",
    "children",
    "distant",
    "cities",
]


class Cost(NamedTuple):
    words: int
    seconds: float
    processor_seconds: float
    mebibytes: float


def make_pair(words: int) -> tuple[list[str], list[str]]:
    """Return a random sentence, and the same with one word in five replaced and near words swapped."""
    draw = np.random.default_rng(words)
    source = [VOCABULARY[k] for k in draw.integers(len(VOCABULARY), size=words)]
    moved = np.argsort(np.arange(words) + draw.normal(0, 1.5, words))
    other = draw.integers(len(VOCABULARY), size=words)
    target = [VOCABULARY[other[k]] if draw.random() < 0.2 else source[k] for k in moved]
    return source, target


def measure_cost(model: str, words: int) -> Cost:
    """Measure one length in this process."""
    aligner = Aligner.load(model, threads=2)
    aligner.align(*make_pair(5))  # warm-up
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    taken, used = [], []
    while len(taken) < ROUNDS and sum(taken) < MAX_SECONDS:
        start, processor_start = time.perf_counter(), time.process_time()
        aligner.align(*make_pair(words))
        taken.append(time.perf_counter() - start)
        used.append(time.process_time() - processor_start)
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return Cost(words, min(taken), min(used), held / 1024)


def measure_costs(model: str, lengths: Sequence[int]) -> list[Cost]:
    """Measure these lengths, each in a separate process."""
    found = []
    for words in lengths:
        command = [sys.executable, __file__, "--model", model, "--one", str(words)]
        ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode:
            print(f"{words:8,} words: failed, {ran.stderr.strip().splitlines()[-1:]}")
            continue
        found.append(Cost(*json.loads(ran.stdout)))
        last, before = found[-1], found[-2] if len(found) > 1 else None
        used = last.processor_seconds
        grown = before and np.log(used / before.processor_seconds) / np.log(words / before.words)
        times = f"{1000 * last.seconds:12,.0f} ms{1000 * used:12,.0f} ms"
        print(f"{words:8,}{times}{last.mebibytes:10,.0f} MiB{grown or 0:8.1f}", flush=True)
    return found


def draw_figure(by_model: dict[str, list[Cost]], path: Path) -> None:
    """Draw time and memory by length, with a line that grows as n · m."""
    from otalign.render.canvas import FAINT, blank, write

    figure, axes = blank(7.0, 2.8, 2)
    names, units = ("processor_seconds", "mebibytes"), ("seconds of processors", "MiB")
    for axis, name, unit in zip(axes, names, units, strict=True):
        ends = []
        for (model, found), look in zip(by_model.items(), ("#0072B2", "#D55E00"), strict=False):
            values = [max(getattr(one, name), 1e-3) for one in found]
            marker = "os"[len(ends)]
            axis.plot(
                [one.words for one in found], values, color=look, marker=marker, markersize=4, label=model
            )
            ends.append((found[-1].words, values[-1]))
        words, top = max(ends, key=lambda end: end[1])
        line = [top * (n / words) ** 2 for n in LENGTHS[2:]]
        axis.plot(LENGTHS[2:], line, color=FAINT, linestyle=":", label="as n · m grows")
        axis.set(xscale="log", yscale="log", xlabel="Words a side", ylabel=unit, xticks=LENGTHS)
        axis.set_xticklabels([f"{n // 1000}k" if n >= 1000 else n for n in LENGTHS])
        axis.minorticks_off()
    axes[0].legend(frameon=False, fontsize=8)
    write(figure, path)


def main() -> None:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument(
        "--model", default="small", help="a trained aligner; the default is that of the package"
    )
    parser.add_argument("--encoder", help="a folder, for the unsupervised defaults")
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--one", type=int, help="words: measure in this process, print JSON")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure_cost(options.model, options.one)))
        return
    by_model = {}
    small = [words for words in LENGTHS if words <= MAX_UNSUPERVISED]
    for name, model, lengths in (
        ("trained, small", options.model, LENGTHS),
        ("unsupervised", options.encoder, small),
    ):
        if model:
            print(f"{name}: words a side, time, of processors, memory, exponent of the latter time's growth")
            by_model[name] = measure_costs(model, lengths)
    if options.figure:
        draw_figure(by_model, options.figure)


if __name__ == "__main__":
    main()
