"""Measure an aligner on the pairs with the most phrases: sure links, of all corpora together.

python benchmarks/phrases.py --data corpora/ [--model FOLDER] [--split dev] [--threshold T] [--hysteresis C]

Prints F1 of each corpus and their mean; F1, precision and recall in the eighth of the pairs with the
most phrase links, links and nulls counted alike; and F1 of phrases over all pairs. Without a threshold or a
hysteresis it is that of the aligner.
"""

from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path
from statistics import mean

from otalign import Aligner, models
from otalign.io import CORPORA, load
from otalign.metrics import Counts, break_down, compute_scores, count

BINS = 8  # the last has the pairs with the most phrases


def count_corpora(aligner: Aligner, split: str, data: Path | None) -> dict[str, Counts]:
    """Align the pairs of each corpus that has a split, and count their links and phrases."""
    counts = {}
    for name, corpus in CORPORA.items():
        if split in corpus.files:
            golds = load(name, split, data)
            found = aligner.align_many((gold.source, gold.target) for gold in golds)
            counts[name] = count(found, golds)
    return counts


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=models.find_model(models.DEFAULT).folder)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--split", choices=("dev", "test"), default="test")
    parser.add_argument("--threshold", type=float)
    parser.add_argument("--hysteresis", type=float)
    options = parser.parse_args()
    aligner = Aligner.load(options.model)
    given = {name: getattr(options, name) for name in ("threshold", "hysteresis")}
    changes = {name: value for name, value in given.items() if value is not None}
    aligner = replace(aligner, settings=aligner.settings.replace(**changes))
    counts = count_corpora(aligner, options.split, options.data)
    f1 = {name: 100 * compute_scores(one, ["f1"])["f1"] for name, one in counts.items()}
    print("   ".join(f"{name} {value:.2f}" for name, value in f1.items()), f"  mean {mean(f1.values()):.2f}")
    together = Counts.concatenate(list(counts.values()))
    most = break_down(together, "phrase_share", BINS)[-1]
    shown = compute_scores(most.counts, ["f1", "precision", "recall"])
    figures = "   ".join(f"{name} {100 * value:.2f}" for name, value in shown.items())
    print(f"{len(most.counts):,} pairs with a phrase share of {most.low:.2f} or more   {figures}")
    for name, value in compute_scores(together, ["micro_phrases_f1", "micro_soft_phrases_f1"]).items():
        print(f"{name} {100 * value:.2f}")


if __name__ == "__main__":
    main()
