"""Compare the costs of supervised methods: an epoch of training, memory, alignment and parameters.

python benchmarks/supervised.py ENCODER --data corpora/ [--methods learned,semi-crf] [--limit 64 --device cpu]

Each is trained for one epoch on MTRef's sure links with its recipe, alone on the device, and then aligns
MTRef's test set. The time of an epoch excludes the dev set. Memory is torch's peak on the GPU in training and
in alignment; on a CPU it is not measured.
"""

import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

import torch

from experiments.peers.aligner import TrainedPeer
from experiments.peers.settings import PEERS, Peer
from experiments.peers.training import RECIPES, train_peer
from otalign.io import load
from otalign.ot import Balanced, Partial, Problem, Unbalanced
from otalign.settings import Learned
from otalign.training import CorpusSplits, RunOptions, choose_recipe, train

METHODS: dict[str, Problem | Learned | Peer] = {
    "bot": Balanced(),
    "pot": Partial(1.0),
    "uot": Unbalanced(0.4),
    "learned": Learned(),
    **{name: name for name in PEERS},
}
ROUNDS = 3


def measure_memory(on_gpu: bool) -> str:
    """Return the peak memory in GiB since the last call."""
    if not on_gpu:
        return "–"
    most = torch.cuda.max_memory_allocated() / 2**30
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    return f"{most:.1f}"


def measure(name: str, encoder: str, golds: dict, device: str) -> list[str]:
    problem, on_gpu = METHODS[name], device != "cpu"
    recipe = RECIPES[problem] if isinstance(problem, str) else choose_recipe(problem)
    recipe = recipe.replace(epochs=1, steps=0, patience=None)
    measure_memory(on_gpu)
    few = CorpusSplits(golds["train"], golds["dev"][:1])  # scoring is not training
    fit: Any = train_peer if isinstance(problem, str) else train
    trained = fit(encoder, {"mtref": few}, problem, recipe, options=RunOptions(device=device, bf16=on_gpu))
    training = measure_memory(on_gpu)
    aligner, pairs = trained.aligner, [(gold.source, gold.target) for gold in golds["test"]]
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in aligner.align_many(pairs):
            pass
        taken.append(time.perf_counter() - start)
    if isinstance(aligner, TrainedPeer):
        own = sum(weight.numel() for weight in aligner.head.parameters())
    else:
        assert aligner.head is not None
        own = sum(array.size for array in aligner.head.arrays().values())
    return [
        name,
        f"{trained.epochs[0].seconds:.1f}",
        training,
        f"{len(pairs) / min(taken):,.0f}",
        measure_memory(on_gpu),
        f"{own:,}",
    ]


def main() -> None:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("encoder", help="a Hugging Face folder")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--limit", type=int, help="maximum number of pairs of each set")
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    golds = {split: load("mtref", split, options.data)[: options.limit] for split in ("train", "dev", "test")}
    print(f"{len(golds['train'])} pairs to learn, {len(golds['test'])} to align, {options.device}")
    print("| | s an epoch | GiB | pairs a second | GiB | parameters beside the encoder |")
    print("|---|---:|---:|---:|---:|---:|")
    for name in options.methods.split(","):
        print("|", " | ".join(measure(name, options.encoder, golds, options.device)), "|", flush=True)


if __name__ == "__main__":
    main()
