"""Compare the path from text to links with other tools.

python benchmarks/vs_peers.py ENCODER [--layer 4]
python benchmarks/vs_peers.py ENCODER --model small      a trained model beside simalign with its encoder

ENCODER is a Hugging Face folder. All tools align the same pairs with the same weights, layer and threads, and
alternate; the median round of each counts, and the median ratio over rounds. otalign runs exported to float32
and int8, and in torch. It is compared with

- simalign 0.4, IterMax (`pip install simalign==0.4`; left out if it is not installed), a pair at a time;
- a plain loop over transformers and POT: a pair at a time, entropic partial transport, a threshold;
- the encoder alone, on the batches of otalign.

F1 is that of sure links with nulls. simalign is not tuned, and encodes each sentence alone.
"""

import gc
import os
import sys
import time
import warnings
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from otalign import Aligner
from otalign.alignment import Alignment, Link
from otalign.encoders.chunks import split_into_chunks
from otalign.encoders.export import export
from otalign.encoders.transformers import Transformers
from otalign.gold import Gold
from otalign.io import load
from otalign.metrics import compute_scores, count
from otalign.ot import Entropic
from otalign.settings import Settings

sys.path = [folder for folder in sys.path if folder != str(Path(__file__).parent)]  # `import ot` means POT

Words = Sequence[str]
System = Callable[[Sequence[Gold]], Any]  # returns alignments, or None for the encoder alone


def make_alignment(gold: Gold, links: Any) -> Alignment:
    return Alignment(gold.source, gold.target, tuple(Link(int(i), int(j)) for i, j in links))


def make_otalign(aligner: Aligner) -> System:
    return lambda golds: list(aligner.align_many((gold.source, gold.target) for gold in golds))


def make_encoder(aligner: Aligner, golds: Sequence[Gold]) -> System:
    """Return a system that only encodes; the batches of the pairs are prepared before the measurement."""
    encoder = aligner.encoder
    pairs = ((gold.source, gold.target) for gold in golds)
    ready = [
        encoder.reader.prepare(chunk, aligner.settings.pairing).batches for chunk in split_into_chunks(pairs)
    ]

    def run(_: Sequence[Gold]) -> None:
        with ThreadPoolExecutor(encoder.at_once) as threads:
            for batches in ready:
                states = threads.map(
                    lambda batch: encoder.compute_states(batch.ids, batch.mask, batch.types), batches
                )
                deque(states, maxlen=0)

    return run


def make_simalign(encoder: str, layer: int) -> System | None:
    try:
        from simalign import SentenceAligner  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        print(f"without simalign: {error}; pip install simalign==0.4")
        return None
    tool = SentenceAligner(model=encoder, token_type="word", matching_methods="i", layer=layer)

    def find_links(gold: Gold) -> Any:
        return tool.get_word_aligns(list(gold.source), list(gold.target))["itermax"]

    return lambda golds: [make_alignment(gold, find_links(gold)) for gold in golds]


def make_plain_loop(encoder: str, aligner: Aligner) -> System:
    """Return a short script with POT, with the problem, entropy, tolerance and threshold of otalign."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    import ot

    tokenizer = AutoTokenizer.from_pretrained(encoder, local_files_only=True)
    model = AutoModel.from_pretrained(encoder, local_files_only=True).eval()
    settings = aligner.settings
    assert isinstance(settings, Settings)
    solver = settings.solver
    assert isinstance(solver, Entropic)

    def embed(gold: Gold) -> list[np.ndarray]:
        read = tokenizer(
            [list(gold.source)],
            [list(gold.target)],
            is_split_into_words=True,
            return_tensors="pt",
            truncation=True,
        )
        with torch.inference_mode():
            states = model(**read, output_hidden_states=True).hidden_states[settings.layer][0].numpy()
        owners = list(zip(read.word_ids(0), read.sequence_ids(0), strict=True))
        sides = []
        for side, words in enumerate((gold.source, gold.target)):
            subwords = [
                [k for k, owner in enumerate(owners) if owner == (i, side)] for i in range(len(words))
            ]
            sides.append(np.stack([states[word or [0]].mean(0) for word in subwords]) - states.mean(0))
        return sides

    def find_links(gold: Gold) -> Any:
        X, Y = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in embed(gold))
        C = (1 - X @ Y.T).astype(np.float64) / 2
        C = (C - C.min()) / max(C.max() - C.min(), 1e-9)
        a, b = np.ones(len(X)), np.ones(len(Y))
        P = ot.partial.entropic_partial_wasserstein(
            a, b, C, solver.eps, m=min(len(X), len(Y)), numItermax=solver.max_iterations, stopThr=solver.tol
        )
        return np.argwhere(settings.threshold * P.max() < P)

    return lambda golds: [make_alignment(gold, find_links(gold)) for gold in golds]


def measure(systems: dict[str, System], golds: Sequence[Gold], rounds: int) -> dict[str, np.ndarray]:
    """Measure the pairs a second of each system, by round; the systems alternate."""
    rates = {name: [] for name in systems}
    for system in systems.values():
        system(golds[:8])  # warm-up
    gc.freeze()  # otherwise a collection over all objects would slow down one of them
    for _ in range(rounds):
        for name, system in systems.items():
            gc.collect()
            start = time.perf_counter()
            system(golds)
            rates[name].append(len(golds) / (time.perf_counter() - start))
    return {name: np.array(found) for name, found in rates.items()}


def compare(
    aligners: dict[str, Aligner], peers: dict[str, System], golds: Sequence[Gold], rounds: int
) -> None:
    alone = {name: make_encoder(aligner, golds) for name, aligner in aligners.items()}
    systems = {name: make_otalign(aligner) for name, aligner in aligners.items()} | peers
    rates = measure(systems | {f"{name}, alone": system for name, system in alone.items()}, golds, rounds)
    columns = "".join(f"{f'× {name.split()[0]}':>12}" for name in peers)
    print(f"{'':24}{'pairs/s':>9}{columns}{'of encoder alone':>19}{'F1':>8}")
    for name, system in systems.items():
        ratios = "".join(f"{np.median(rates[name] / rates[peer]):12.1f}" for peer in peers)
        share = f"{np.median(rates[name] / rates[f'{name}, alone']):.0%}" if name in alone else ""
        f1 = compute_scores(count(system(golds), golds, "sure"), ["f1"])["f1"]
        print(f"{name:24}{np.median(rates[name]):9.1f}{ratios}{share:>19}{100 * f1:8.2f}")
    for name in alone:
        print(f"{f'{name}, alone':24}{np.median(rates[f'{name}, alone']):9.1f}")


def export_encoder(name: str, layer: int, threads: int, folder: Path) -> dict[str, Aligner]:
    """Export an encoder to float32 and to int8, and return an aligner with each."""
    aligners = {}
    for precision in ("float32", "int8"):
        encoder = Transformers(name, layer, device="cpu")
        print(export(encoder, folder / precision, int8=precision == "int8"))
        aligners[f"otalign, {precision}"] = Aligner.load(folder / precision, threads=threads)
    return aligners


def main() -> None:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("encoder", help="a Hugging Face folder")
    parser.add_argument("--layer", type=int, default=4)
    parser.add_argument("--model", action="append", help="trained model to compare instead; repeatable")
    parser.add_argument("--corpora", nargs="+", default=["mtref", "wiki"])
    parser.add_argument("--split", default="test")
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--data", type=Path)
    options = parser.parse_args()
    os.environ.setdefault("RAYON_NUM_THREADS", str(options.threads))  # of the tokenizers
    warnings.simplefilter("ignore")  # POT warns where it stops early
    with TemporaryDirectory() as temporary:
        peers = {"simalign 0.4": make_simalign(options.encoder, options.layer)}
        if options.model:
            aligners = {
                f"otalign, {Path(name).name}": Aligner.load(name, threads=options.threads)
                for name in options.model
            }
        else:
            aligners = export_encoder(options.encoder, options.layer, options.threads, Path(temporary))
            torch = Aligner.load(options.encoder, layer=options.layer, device="cpu", threads=options.threads)
            aligners["otalign, torch float32"] = torch
            peers["POT, a plain loop"] = make_plain_loop(options.encoder, torch)
        for corpus in options.corpora:
            golds = load(corpus, options.split, options.data)[: options.pairs]
            print(
                f"\n{corpus} {options.split}, {len(golds)} pairs, layer {options.layer}, "
                f"{options.threads} threads, {options.rounds} rounds"
            )
            compare(aligners, {name: peer for name, peer in peers.items() if peer}, golds, options.rounds)


if __name__ == "__main__":
    main()
