"""Measure the speed on a GPU, by stage: python benchmarks/gpu.py --model ENCODER ALIGNER … --data corpora/

A model is the folder of an encoder, which is used with the default settings, or of a trained aligner. The
pairs are those of MTRef, repeated. For each model the script prints pairs a second

- from tokenized pairs to links, all on the device, with the share of each stage;
- of the encoder alone, on the same batches;
- from text to links on the device, and to `Alignment`s, with worker processes that tokenize ahead;
- of a plain loop: transformers for a pair at a time, then POT's scaling in torch;

and F1 of sure links on MTRef test, so that a precision is not chosen for its speed alone.

It needs torch and transformers. With `--device cpu --pairs 200 --workers 0` it runs anywhere.
"""

import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import torch

from otalign import Aligner
from otalign.encoders import PreparedPairs
from otalign.encoders.chunks import split_into_chunks
from otalign.encoders.prefetch import prepare_ahead
from otalign.encoders.prepared import EncoderBatch
from otalign.encoders.transformers import Transformers, run_model
from otalign.gold import Gold
from otalign.io import load
from otalign.metrics import compute_scores, count
from otalign.scoring import split_into_batches
from otalign.scoring.extraction import select_cells

STAGES: tuple[str, ...] = ("encoder", "words and centring", "batches", "scorer", "links")
ROUNDS = 3
CENTRE_PAIRS = 2000  # pairs from which the centre is computed


class Clock:
    """A clock that measures the seconds of each stage, on the device."""

    def __init__(self, device: str):
        self.on_gpu = device.startswith("cuda")
        self.marks: list[tuple[str, Any]] = []
        self("begin")

    def __call__(self, stage: str) -> None:
        mark: Any = time.perf_counter()
        if self.on_gpu:
            mark = torch.cuda.Event(enable_timing=True)
            mark.record()
        self.marks.append((stage, mark))

    def seconds(self) -> dict[str, float]:
        finish(self.on_gpu)
        spent = dict.fromkeys(STAGES, 0.0)
        for (_, before), (stage, after) in zip(self.marks, self.marks[1:], strict=False):
            spent[stage] += before.elapsed_time(after) / 1000 if self.on_gpu else after - before
        return spent


def ignore_time(stage: str) -> None:
    """Do nothing, in place of a clock."""


def finish(on_gpu: bool) -> None:
    if on_gpu:
        torch.cuda.synchronize()


def measure_rate(work: Callable[[], object], pairs: int, on_gpu: bool, rounds: int = ROUNDS) -> float:
    """Return the pairs a second of the best round."""
    taken = []
    for _ in range(rounds):
        finish(on_gpu)
        start = time.perf_counter()
        work()
        finish(on_gpu)
        taken.append(time.perf_counter() - start)
    return pairs / min(taken)


def prepare(aligner: Aligner, pairs: Iterable, workers: int) -> Iterator[PreparedPairs]:
    """Yield tokenized pairs, in the chunks of the library."""
    encoder, pairing = aligner.encoder, aligner.settings.pairing
    if workers:
        at_once = encoder.words_at_once or 1 << 16
        stream = prepare_ahead(pairs, encoder.reader, pairing, workers, at_once)
    else:
        stream = (
            (some, encoder.reader.prepare(some, pairing))
            for some in split_into_chunks(pairs, encoder.words_at_once)
        )
    for _, prepared in stream:
        yield prepared


def find_links(aligner: Aligner, prepared: PreparedPairs, clock: Callable[[str], None]) -> list:
    """Find the links of a chunk like `Aligner.align_many`, but leave them on the device."""
    embeddings = aligner.encoder.embed_batches(prepared)
    clock("encoder")
    if aligner.settings.centring and aligner.centre:
        embeddings = aligner.centre.apply(embeddings)
    scorer = aligner.scorer.to_device(embeddings.vectors)
    clock("words and centring")
    found = []
    for _, batch in split_into_batches(embeddings, scorer.budget):
        clock("batches")
        scores = scorer.score(batch)
        clock("scorer")
        found.append(select_cells(scores, aligner.settings.threshold, aligner.settings.hysteresis))
        clock("links")
    return found


def align_plainly(aligner: Aligner, tokenizer: Any, source: list[str], target: list[str]) -> torch.Tensor:
    """Align a pair as a short script would: encode, mean of subwords, cosine, entropic partial transport."""
    encoder: Any = aligner.encoder
    read = tokenizer([source], [target], is_split_into_words=True, return_tensors="pt").to(encoder.device)
    owners = list(zip(read.word_ids(0), read.sequence_ids(0), strict=True))
    with torch.inference_mode():
        vectors = run_model(encoder.model, {name: read[name] for name in encoder.inputs})[0].float()
    sides = []
    for side, words in enumerate((source, target)):
        subwords = [[k for k, owner in enumerate(owners) if owner == (i, side)] for i in range(len(words))]
        sides.append(torch.stack([vectors[word].mean(0) if word else vectors[0] for word in subwords]))
    X, Y = (torch.nn.functional.normalize(side - vectors.mean(0), dim=-1) for side in sides)
    C = (1 - X @ Y.T) / 2
    P = solve_partial((C - C.min()) / (C.max() - C.min() + 1e-9), min(len(source), len(target)))
    return (P / P.max() > aligner.settings.threshold).nonzero().cpu()


def solve_partial(C: torch.Tensor, mass: float, eps: float = 0.1, tol: float = 1e-4, most: int = 1000):
    """Solve entropic partial transport of `mass`, with word masses of 1, by Dykstra's projections."""
    K = torch.exp(-C / eps)
    K = K * mass / K.sum()
    q1, q2, q3 = (torch.ones_like(K) for _ in range(3))
    for _ in range(most):
        before = K
        K = K * q1
        rows = torch.clamp(1 / K.sum(1), max=1)[:, None] * K
        q1, K = q1 * before / rows, rows * q2
        columns = K * torch.clamp(1 / K.sum(0), max=1)[None, :]
        q2, K = q2 * rows / columns, columns * q3
        scaled = K * mass / K.sum()
        q3, K = q3 * columns / scaled, scaled
        if float((K - before).norm()) < tol:
            break
    return K


def measure(model: str, options: Any, golds: Mapping[str, Sequence[Gold]]) -> None:
    on_gpu = options.device.startswith("cuda")
    aligner = Aligner.load(model, layer=options.layer, device=options.device, precision=options.precision)
    corpus = [(gold.source, gold.target) for split in golds.values() for gold in split]
    if aligner.settings.centring and not aligner.centre:
        aligner = aligner.fit_centre(corpus[:CENTRE_PAIRS])
    print(f"\n{aligner.signature}\n{options.pairs:,} pairs, {options.precision}, best of {ROUNDS} rounds")
    pairs = list(islice(cycle(corpus), options.pairs))
    chunked = list(prepare(aligner, pairs, options.workers))
    print_batches(chunked, len(pairs))
    find_links(aligner, chunked[0], ignore_time)  # warm-up
    rate = measure_stages(aligner, chunked, len(pairs), options.device)
    texts = [(" ".join(source), " ".join(target)) for source, target in pairs]

    def link() -> Iterator[int]:
        for prepared in prepare(aligner, texts, options.workers):
            find_links(aligner, prepared, ignore_time)
            yield len(prepared.starts) // 2

    def align() -> Iterator[int]:
        for _ in aligner.align_many(texts, workers=options.workers):
            yield 1

    for name, work in (("links on the device", link), ("Alignments", align)):
        print_stream(f"text to {name}, {options.workers} workers", work(), on_gpu)
    if isinstance(aligner.encoder, Transformers) and aligner.encoder.mix is None:
        loop = measure_plain_loop(aligner, corpus[: options.loop], on_gpu)
        print_rate("a plain loop, a pair at a time", loop, f"; ours {rate / loop:,.0f} times")
    if on_gpu:
        print(f"most memory taken: {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")
        torch.cuda.reset_peak_memory_stats()
    for precision in dict.fromkeys(("float32", options.precision)):
        other = Aligner.load(model, layer=options.layer, device=options.device, precision=precision)
        found = replace(aligner, encoder=other.encoder).align_many(
            (gold.source, gold.target) for gold in golds["test"]
        )
        f1 = compute_scores(count(found, golds["test"], "sure"), ["f1"])["f1"]
        print(f"F1 on MTRef test in {precision}: {100 * f1:.2f}")


def print_batches(chunked: Sequence[PreparedPairs], pairs: int) -> None:
    """Print the number of batches and their padding."""
    masks = [batch.mask for prepared in chunked for batch in prepared.batches]
    subwords, cells = sum(int(mask.sum()) for mask in masks), sum(mask.size for mask in masks)
    print(f"{len(chunked)} chunks of {len(masks)} batches, {subwords / pairs:.1f} subwords a pair", end=", ")
    print(f"{cells / subwords - 1:.1%} padding")


def print_rate(name: str, rate: float, more: str = "") -> None:
    print(f"{name:42}{rate:12,.0f} pairs a second{more}", flush=True)


def print_stream(name: str, counts: Iterator[int], on_gpu: bool) -> None:
    """Print the pairs a second of a stream, from the first ones that it yields to the end."""
    start = time.perf_counter()
    before = next(counts)
    first = time.perf_counter()
    pairs = sum(counts)
    finish(on_gpu)
    end = time.perf_counter()
    whole = (before + pairs) / (end - start)
    print_rate(name, pairs / (end - first), f"; {whole:,.0f} with the start of the workers")


def measure_stages(aligner: Aligner, chunked: Sequence[PreparedPairs], pairs: int, device: str) -> float:
    """Print and return the pairs a second to links on the device; print the time of each stage."""
    on_gpu = device.startswith("cuda")

    def align(clock: Callable[[str], None] = ignore_time) -> None:
        for prepared in chunked:
            find_links(aligner, prepared, clock)

    def compute_states(batch: EncoderBatch) -> None:
        aligner.encoder.compute_states(batch.ids, batch.mask, batch.types)

    def encode() -> None:
        with ThreadPoolExecutor(aligner.encoder.at_once) as threads:  # as many as the library runs at once
            for prepared in chunked:
                deque(threads.map(compute_states, prepared.batches), maxlen=0)

    rate, alone = (measure_rate(work, pairs, on_gpu) for work in (align, encode))
    print_rate("tokenized to links on the device", rate)
    print_rate("encoder alone", alone, f"; the path to links is {rate / alone:.0%} of it")
    clock = Clock(device)
    align(clock)
    spent = clock.seconds()
    total, after = sum(spent.values()), spent["scorer"] + spent["links"]
    for stage, seconds in spent.items():
        print(f"  {stage:40}{1e6 * seconds / pairs:12.2f} µs a pair, {seconds / total:.1%}")
    print_rate("scorer and links alone", pairs / after, f", {after / total:.1%} of the time")
    return rate


def measure_plain_loop(aligner: Aligner, pairs: Sequence[tuple], on_gpu: bool) -> float:
    """Return the pairs a second of a plain loop."""
    from transformers import AutoTokenizer

    folder = aligner.encoder.origin  # pyright: ignore[reportAttributeAccessIssue]
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)

    def loop() -> None:
        for source, target in pairs:
            align_plainly(aligner, tokenizer, list(source), list(target))

    return measure_rate(loop, len(pairs), on_gpu, 2)


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--model", nargs="+", required=True, help="folders of encoders and trained aligners")
    parser.add_argument("--layer", type=int, help="layer of encoders; the default depends on the encoder")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--precision", default="bfloat16", choices=("float32", "bfloat16"))
    parser.add_argument("--pairs", type=int, default=200_000)
    parser.add_argument("--loop", type=int, default=200, help="pairs of the plain loop")
    parser.add_argument("--workers", type=int, default=12)
    options = parser.parse_args()
    if options.device.startswith("cuda"):
        print(torch.cuda.get_device_name(), "torch", torch.__version__)
    corpus = {split: load("mtref", split, options.data) for split in ("train", "dev", "test")}
    for folder in options.model:
        measure(folder, options, corpus)
