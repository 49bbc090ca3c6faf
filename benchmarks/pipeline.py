"""Measure the work around the model: reading, tokenizing, sending, formatting and compressing.

PYTHONPATH=src python benchmarks/pipeline.py [FILE] [--model ENCODER] [--pairs 16384] [--workers 2]

The first table is the CPU time of each stage, in one process. The second is the speed from file to file with
a model that takes no time, which is the upper limit for a GPU: pairs a second, and CPU time of all processes.
FILE is JSON lines or a table of two columns; the pairs are repeated, so that nearly all parts of words have
occurred before.
"""

import gzip
import json
import resource
import sys
import tempfile
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from pathlib import Path

import numpy as np

from otalign import Aligner
from otalign.encoders import PreparedPairs
from otalign.engines import Folder, OutputFormat, ShardWork, align
from otalign.engines.remote import TextStage
from otalign.io import TextPair, read
from otalign.io.bulk import format_column_lines, format_json_lines
from otalign.io.items import make_sentences
from otalign.link_arrays import UNITS, LinkArrays, LinkedPairs, add_up
from otalign.shared_arrays import SharedArrays, read_arrays
from otalign.text.spelling import count_ngrams

EXAMPLES = Path(__file__).parent.parent / "examples" / "pairs.tsv"
ROUNDS = 3
FORMATS = ("pharaoh", "jsonl", "jsonl.gz")


@dataclass(frozen=True, eq=False, repr=False)
class InstantAligner(Aligner):
    """An aligner that links the first words of a pair with each other, in no time."""

    def find_prepared_links(self, prepared: PreparedPairs, counts: np.ndarray | None = None) -> LinkArrays:
        return link_first_words(prepared)


def link_first_words(prepared: PreparedPairs) -> LinkArrays:
    starts = prepared.starts
    counts = np.diff(starts).reshape(-1, 2).min(axis=1)
    words = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    weights = (9999 - words % 5000).astype(np.uint16)
    nulls = (np.arange(starts[-1]) * 7919 % (UNITS + 1)).astype(np.uint16)
    return LinkArrays(add_up(counts), words, words, weights, starts, nulls)


def load(model: str | None, device: str) -> InstantAligner:
    aligner = Aligner.load(model, device=device, centring=False) if model else Aligner.load()
    return InstantAligner(aligner.encoder, aligner.settings, aligner.centre, aligner.head, aligner.languages)


def read_texts(file: str) -> list[TextPair]:
    return [TextPair(*item[:2]) for item in read(file, "jsonl" if "jsonl" in file else "tsv")]


def measure_stages(aligner: Aligner, file: Path, count: int) -> None:
    def measure(name: str, work: Callable[[], object]) -> None:
        taken = []
        for _ in range(ROUNDS):
            start = time.process_time()
            work()
            taken.append(time.process_time() - start)
        print(f"{name:36}{min(taken) / count * 1e6:8.1f}", flush=True)

    items, stage = list(read(file, "jsonl")), TextStage.from_aligner(aligner)
    pairs = [make_sentences(item) for item in items]
    prepared = stage.reader.prepare(pairs, stage.pairing)
    arrays, linked = prepared.to_arrays(), LinkedPairs(pairs, link_first_words(prepared))
    texts = [sentence.text for pair in pairs for sentence in pair]
    lines = "".join(format_json_lines(linked, [None] * count)).encode()

    def send() -> None:
        shared = SharedArrays(arrays)
        read_arrays(shared.handle)
        shared.free()

    print(f"{'processor time of a pair':36}{'µs':>8}")
    measure("reading and parsing JSON lines", lambda: list(read(file, "jsonl")))
    measure("words", lambda: [make_sentences(item) for item in items])
    measure("subwords alone", lambda: stage.reader.subword_tokenizer.encode(texts))
    measure("subwords and input arrays", lambda: stage.reader.prepare(pairs, stage.pairing))
    words = [word for pair in pairs for sentence in pair for word in sentence.words]
    measure("spelling, of trained aligners", lambda: count_ngrams(words))
    measure(f"shared memory, {sum(a.nbytes for a in arrays) / count:.0f} bytes", send)
    measure("alignments in Python", lambda: list(linked.make_alignments()))
    pharaoh = partial(format_column_lines, linked, wordless=True, weights=False, nulls=False)
    measure("lines of Pharaoh", lambda: "".join(pharaoh()))
    fields = [None] * count
    measure(f"lines of JSON, {len(lines) / count:.0f} bytes", lambda: list(format_json_lines(linked, fields)))
    measure("gzip", lambda: gzip.compress(lines, 6))


def measure_ceiling(
    file: Path,
    count: int,
    size: int,
    workers: Sequence[int],
    model: Callable[[], Aligner],
    formats: Sequence[str],
) -> None:
    print(f"\n{'a model that takes no time':36}{'workers':>8}{'pairs/s':>10}{'processor time, µs':>20}")
    for form in formats:
        for helpers in workers:
            with tempfile.TemporaryDirectory() as folder:
                work = ShardWork(Folder(Path(folder) / "out", OutputFormat(form)), model)
                first, before = 0.0, measure_children()

                def note(*_: object) -> None:
                    nonlocal first
                    first = first or time.perf_counter()

                align(read(file, "jsonl"), work, {}, size=size, workers=helpers, progress=note)
                taken = time.perf_counter() - first
            rate, spent = (count - size) / taken, (measure_children() - before) / count * 1e6
            print(f"{form:36}{helpers:8}{rate:10,.0f}{spent:20.1f}", flush=True)


def measure_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime + own.ru_utime + own.ru_stime


def main() -> None:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", default=str(EXAMPLES))
    parser.add_argument("--model", help="encoder or aligner; else the model of the package")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--pairs", type=int, default=16_384)
    parser.add_argument("--workers", type=int, nargs="+", default=[2])
    parser.add_argument("--shard-size", type=int, default=2048)
    parser.add_argument("--formats", nargs="+", default=FORMATS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pairs.jsonl"
        texts = islice(cycle(read_texts(options.file)), options.pairs)
        file.write_text("".join(json.dumps(pair._asdict()) + "\n" for pair in texts))
        aligner = load(options.model, options.device)
        measure_stages(aligner, file, options.pairs)
        model = partial(load, options.model, options.device)
        measure_ceiling(file, options.pairs, options.shard_size, options.workers, model, options.formats)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))
    from benchmarks.pipeline import main as run  # so that other processes find what they are sent

    run()
