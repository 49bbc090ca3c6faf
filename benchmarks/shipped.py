"""Measure the aligner of the package: F1 on the test sets, speed and memory.

python benchmarks/shipped.py quality --data corpora/ [--model FOLDER] [--write]
python benchmarks/shipped.py levels --data corpora/ [--model FOLDER]
python benchmarks/shipped.py calibration --data corpora/ [--model FOLDER]
python benchmarks/shipped.py speed --data corpora/ [--model FOLDER]
python benchmarks/shipped.py files --data corpora/ [--model FOLDER] [--pairs 800] [--rounds 6] [--threads 2]

Quality is F1 of the sure links at the level S and of the possible links at S+P, with the aligner's own
thresholds; `--write` writes it into the folder: into `measured.json`, with the digests of its files, and
into its card. Levels are F1 of the sure and of the possible links at each level of the dev sets.
Calibration is the expected calibration error of the probabilities of links that are at least 0.01, and of
nulls. Speed is the time of the command line for two sentences with warm caches, pairs a second on MTRef's
dev set, and peak memory. Files are the pairs a second from a file of JSON lines to a shard of a folder,
compared with the encoder alone on the same batches (alternating), and the ratio of the two in wall-clock and
CPU time; as in the processes of `otalign align`, NumPy has one thread, and threads take turns often.
"""

import json
import os
import resource
import subprocess
import sys
import time
from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported

from benchmarks.vs_peers import make_encoder
from experiments.columns import COLUMNS
from experiments.supervised.reliability import measure_reliability
from otalign import Aligner, models
from otalign.alignment import LEVELS
from otalign.cli.aligner_options import SWITCH_INTERVAL
from otalign.engines import Folder, OutputFormat, Shard, ShardWork
from otalign.io import load, read
from otalign.metrics import compute_scores, count

PAIR = ("He bought a used car.", "He purchased a second-hand car yesterday.")


def measure_quality(folder: Path, data: Path | None, write: bool) -> None:
    aligner, f1 = Aligner.load(folder), {}
    for column in COLUMNS:
        settings = aligner.settings.replace(links=column.level, threshold=None)
        golds = load(column.corpus, "test", data)
        found = replace(aligner, settings=settings).align_many((gold.source, gold.target) for gold in golds)
        f1[column.key] = round(compute_scores(count(found, golds, column.level), ["f1"])["f1"], 5)
        print(f"{column.heading:14} {100 * f1[column.key]:.2f}   {len(golds):,} pairs", flush=True)
    print(f"{'mean':14} {100 * mean(f1.values()):.2f}")
    if write:
        models.write_measurements(folder, f1)


def measure_levels(folder: Path, data: Path | None) -> None:
    aligner = Aligner.load(folder)
    for corpus in ("msr-rte", "edinburgh++", "mtref", "wiki"):
        golds = load(corpus, "dev", data)
        found = {}
        for links in LEVELS:
            settings = aligner.settings.replace(links=links)
            pairs = ((gold.source, gold.target) for gold in golds)
            found[links] = list(replace(aligner, settings=settings).align_many(pairs))
        for level in LEVELS if any(gold.possible for gold in golds) else LEVELS[:1]:
            f1 = {
                links: 100 * compute_scores(count(found[links], golds, level), ["f1"])["f1"]
                for links in LEVELS
            }
            print(f"{corpus:12} {level:9} sure {f1['sure']:.2f}   possible {f1['possible']:.2f}", flush=True)


def measure_calibration(folder: Path, data: Path | None) -> None:
    aligner, errors = Aligner.load(folder), []
    for column in COLUMNS:
        settings = aligner.settings.replace(links=column.level, threshold=None)
        found = measure_reliability(
            replace(aligner, settings=settings), load(column.corpus, "test", data), column.level
        )
        errors.append([100 * found[part].error for part in ("links", "nulls")])
        print(f"{column.heading:14} links {errors[-1][0]:.2f}   nulls {errors[-1][1]:.2f}", flush=True)
    links, nulls = (mean(part) for part in zip(*errors, strict=True))
    print(f"{'mean':14} links {links:.2f}   nulls {nulls:.2f}")


def measure_speed(folder: Path, data: Path | None) -> None:
    otalign = [sys.executable, "-m", "otalign", "align", "--model", str(folder)]
    starts = []
    for _ in range(3):
        start = time.perf_counter()
        subprocess.run([*otalign, *PAIR], check=True, capture_output=True)
        starts.append(time.perf_counter() - start)
    print(f"two sentences, from the command to the answer: {starts[-1]:.2f} s")
    pairs = [(gold.source, gold.target) for gold in load("mtref", "dev", data)]
    aligner = Aligner.load(folder)
    rates = []
    for _ in range(3):
        start = time.perf_counter()
        for _ in aligner.align_many(pairs):
            pass
        rates.append(len(pairs) / (time.perf_counter() - start))
    print(f"{len(pairs)} pairs of MTRef dev: {max(rates):.0f} a second")
    where = [] if data is None else ["--data", str(data)]
    command = [*otalign, "mtref", "--split", "dev", *where, "-o", "/dev/null", "--format", "pharaoh"]
    subprocess.run(command, check=True)
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"most memory of the command over them: {most:.0f} MiB")


def measure_files(folder: Path, data: Path | None, pairs: int, rounds: int, threads: int) -> None:
    sys.setswitchinterval(SWITCH_INTERVAL)
    aligner = Aligner.load(folder, threads=threads)
    for corpus in ("mtref", "wiki"):
        golds = load(corpus, "dev", data)[:pairs]
        encode = make_encoder(aligner, golds)
        with TemporaryDirectory() as temporary:
            file = Path(temporary) / "pairs.jsonl"
            texts = [{"source": " ".join(gold.source), "target": " ".join(gold.target)} for gold in golds]
            file.write_text("".join(json.dumps(text) + "\n" for text in texts))
            work = ShardWork(
                Folder(Path(temporary), OutputFormat("jsonl")), lambda: aligner, pretokenized=True
            )
            taken: dict[str, list[tuple[float, float]]] = {"encoder": [], "files": []}
            for _ in range(rounds):
                start = time.perf_counter(), time.process_time()
                encode(golds)
                middle = time.perf_counter(), time.process_time()
                work.write(Shard(0, list(read(file, "jsonl"))), aligner)
                end = time.perf_counter(), time.process_time()
                taken["encoder"].append((middle[0] - start[0], middle[1] - start[1]))
                taken["files"].append((end[0] - middle[0], end[1] - middle[1]))
        shares = [
            median(alone[k] / whole[k] for alone, whole in zip(taken["encoder"], taken["files"], strict=True))
            for k in (0, 1)
        ]
        rates = [len(golds) / median(seconds for seconds, _ in taken[name]) for name in ("files", "encoder")]
        print(
            f"{corpus} dev, {len(golds)} pairs, {threads} threads: {rates[0]:.0f} a second file to file, "
            f"{rates[1]:.0f} the encoder alone; {shares[0]:.0%} of it, {shares[1]:.0%} by processor time",
            flush=True,
        )


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("quality", "levels", "calibration", "speed", "files"))
    parser.add_argument("--model", type=Path, default=models.find_model(models.DEFAULT).folder)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--pairs", type=int, default=800)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    if options.what == "quality":
        measure_quality(options.model, options.data, options.write)
    elif options.what == "levels":
        measure_levels(options.model, options.data)
    elif options.what == "calibration":
        measure_calibration(options.model, options.data)
    elif options.what == "files":
        measure_files(options.model, options.data, options.pairs, options.rounds, options.threads)
    else:
        measure_speed(options.model, options.data)
