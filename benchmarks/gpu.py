"""Pairs a second on a GPU, stage by stage: python benchmarks/gpu.py --model ENCODER ALIGNER … --data corpora/

Every model is an encoder's folder, aligned with as the defaults say, or the folder of a trained aligner. The
pairs are those of MTRef, repeated. For each model it prints, in one run,

- from pre-tokenised pairs to links, all on the device, and which part of the time each stage takes;
- the encoder alone: the same batches through the model and nothing after it;
- from text to links on the device, and to `Alignment`s, worker processes tokenising ahead;
- a plain loop beside it: transformers for a pair at a time, then scaling as POT has it, in torch;
- F1 of sure links on MTRef test, so that a precision is not chosen by its speed alone.

It needs torch, transformers and the library. With `--device cpu --pairs 200 --workers 0` it runs anywhere.
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
from otalign.encoders.transformers import Transformers, states
from otalign.gold import Gold
from otalign.io import load
from otalign.metrics import count, scores
from otalign.scoring import split_into_batches
from otalign.scoring.extraction import select_cells

STAGES: tuple[str, ...] = ("encoder", "words and centring", "batches", "scorer", "links")
ROUNDS = 3
CENTRED_ON = 2000  # pairs


class Clock:
    """Seconds by stage, of the device: what is queued there is timed there."""

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
    """A clock that takes no time."""


def finish(on_gpu: bool) -> None:
    if on_gpu:
        torch.cuda.synchronize()


def best_rate(work: Callable[[], object], pairs: int, on_gpu: bool, rounds: int = ROUNDS) -> float:
    """Pairs a second, of the best round."""
    taken = []
    for _ in range(rounds):
        finish(on_gpu)
        start = time.perf_counter()
        work()
        finish(on_gpu)
        taken.append(time.perf_counter() - start)
    return pairs / min(taken)


def ready(aligner: Aligner, pairs: Iterable, workers: int) -> Iterator[PreparedPairs]:
    """The pairs pre-tokenised, in chunks as the library makes them."""
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


def links(aligner: Aligner, prepared: PreparedPairs, clock: Callable[[str], None]) -> list:
    """The links of a chunk, left on the device, as `Aligner.align_many` finds them."""
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
        found.append(select_cells(scores, aligner.settings.threshold))
        clock("links")
    return found


def plain_links(aligner: Aligner, tokenizer: Any, source: list[str], target: list[str]) -> torch.Tensor:
    """One pair as a script would do it: encode, mean of subwords, cosine, entropic partial transport."""
    encoder: Any = aligner.encoder
    read = tokenizer([source], [target], is_split_into_words=True, return_tensors="pt").to(encoder.device)
    owners = list(zip(read.word_ids(0), read.sequence_ids(0), strict=True))
    with torch.inference_mode():
        vectors = states(encoder.model, {name: read[name] for name in encoder.inputs})[0].float()
    sides = []
    for side, words in enumerate((source, target)):
        of = [[k for k, owner in enumerate(owners) if owner == (i, side)] for i in range(len(words))]
        sides.append(torch.stack([vectors[places].mean(0) if places else vectors[0] for places in of]))
    X, Y = (torch.nn.functional.normalize(side - vectors.mean(0), dim=-1) for side in sides)
    C = (1 - X @ Y.T) / 2
    P = partial_plan((C - C.min()) / (C.max() - C.min() + 1e-9), min(len(source), len(target)))
    return (P / P.max() > aligner.settings.threshold).nonzero().cpu()


def partial_plan(C: torch.Tensor, mass: float, eps: float = 0.1, tol: float = 1e-4, most: int = 1000):
    """Entropic partial transport of `mass` where each word has mass 1, by Dykstra's projections."""
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
    given = [(gold.source, gold.target) for split in golds.values() for gold in split]
    if aligner.settings.centring and not aligner.centre:
        aligner = aligner.fit_centre(given[:CENTRED_ON])
    print(f"\n{aligner.signature}\n{options.pairs:,} pairs, {options.precision}, best of {ROUNDS} rounds")
    pairs = list(islice(cycle(given), options.pairs))
    chunked = list(ready(aligner, pairs, options.workers))
    print_batches(chunked, len(pairs))
    links(aligner, chunked[0], ignore_time)  # to be warm
    whole = from_pre_tokenised(aligner, chunked, len(pairs), options.device)
    texts = [(" ".join(source), " ".join(target)) for source, target in pairs]

    def to_links() -> None:
        for prepared in ready(aligner, texts, options.workers):
            links(aligner, prepared, ignore_time)

    def to_alignments() -> None:
        for _ in aligner.align_many(texts, workers=options.workers):
            pass

    for name, work in (("links on the device", to_links), ("Alignments", to_alignments)):
        rate = best_rate(work, len(pairs), on_gpu, 1)
        line(f"text to {name}, {options.workers} workers", rate, ", with the start of the workers")
    if isinstance(aligner.encoder, Transformers) and aligner.encoder.mix is None:
        loop = plain_loop(aligner, given[: options.loop], on_gpu)
        line("a plain loop, a pair at a time", loop, f"; ours {whole / loop:,.0f} times")
    if on_gpu:
        print(f"most memory taken: {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")
        torch.cuda.reset_peak_memory_stats()
    for precision in dict.fromkeys(("float32", options.precision)):
        other = Aligner.load(model, layer=options.layer, device=options.device, precision=precision)
        found = replace(aligner, encoder=other.encoder).align_many(
            (gold.source, gold.target) for gold in golds["test"]
        )
        f1 = scores(count(found, golds["test"], "sure"), ["f1"])["f1"]
        print(f"F1 on MTRef test in {precision}: {100 * f1:.2f}")


def print_batches(chunked: Sequence[PreparedPairs], pairs: int) -> None:
    """Report how full the batches are."""
    masks = [batch.mask for prepared in chunked for batch in prepared.batches]
    subwords, cells = sum(int(mask.sum()) for mask in masks), sum(mask.size for mask in masks)
    print(f"{len(chunked)} chunks of {len(masks)} batches, {subwords / pairs:.1f} subwords a pair", end=", ")
    print(f"{cells / subwords - 1:.1%} padding")


def line(what: str, rate: float, more: str = "") -> None:
    print(f"{what:42}{rate:12,.0f} pairs a second{more}", flush=True)


def from_pre_tokenised(aligner: Aligner, chunked: Sequence[PreparedPairs], pairs: int, device: str) -> float:
    """Pairs a second to links on the device, and where the time goes."""
    on_gpu = device.startswith("cuda")

    def all_of_it(clock: Callable[[str], None] = ignore_time) -> None:
        for prepared in chunked:
            links(aligner, prepared, clock)

    def hidden(batch: EncoderBatch) -> None:
        aligner.encoder.hidden(batch.ids, batch.mask, batch.types)

    def encoder_alone() -> None:
        with ThreadPoolExecutor(aligner.encoder.at_once) as threads:  # as many as the library runs at once
            for prepared in chunked:
                deque(threads.map(hidden, prepared.batches), maxlen=0)

    whole, alone = (best_rate(work, pairs, on_gpu) for work in (all_of_it, encoder_alone))
    line("pre-tokenised to links on the device", whole)
    line("encoder alone", alone, f"; the whole path is {whole / alone:.0%} of it")
    clock = Clock(device)
    all_of_it(clock)
    spent = clock.seconds()
    total, after = sum(spent.values()), spent["costs"] + spent["solver"] + spent["links"]
    for stage, seconds in spent.items():
        print(f"  {stage:40}{1e6 * seconds / pairs:12.2f} µs a pair, {seconds / total:.1%}")
    line("costs, solver and links alone", pairs / after, f", {after / total:.1%} of the time")
    return whole


def plain_loop(aligner: Aligner, pairs: Sequence[tuple], on_gpu: bool) -> float:
    """Pairs a second."""
    from transformers import AutoTokenizer

    folder = aligner.encoder.origin  # pyright: ignore[reportAttributeAccessIssue]
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)

    def loop() -> None:
        for source, target in pairs:
            plain_links(aligner, tokenizer, list(source), list(target))

    return best_rate(loop, len(pairs), on_gpu, 2)


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--model", nargs="+", required=True, help="folders of encoders and trained aligners")
    parser.add_argument("--layer", type=int, help="of encoders; else what they are best at")
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
