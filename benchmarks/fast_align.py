"""Seconds to train fast_align both ways and to align what it was trained on: python benchmarks/fast_align.py

Pairs of 15 to 35 words, 25 in the mean, drawn from Zipf-like vocabularies of 50,000 words: each target word
is a translation of a source word nearby, but for some that come from nowhere. The aim: 100,000 pairs in under
two minutes on two cores.
"""

import argparse
import resource
import time

import numpy as np

from otalign.baselines.fast_align import FastAlign, Step

TYPES = 50_000


def drawn_pairs(count: int) -> list[tuple[list[str], list[str]]]:
    rng = np.random.default_rng(0)
    share = 1 / np.arange(1, TYPES + 1)
    cumulated = np.cumsum(share / share.sum())
    pairs = []
    for n, m in rng.integers(15, 36, size=(count, 2)).tolist():
        source = np.searchsorted(cumulated, rng.random(n))
        near = np.arange(m) * n / m + rng.normal(0, 1.5, m)
        target = source[near.astype(int).clip(0, n - 1)]
        made_up = rng.random(m) < 0.2
        target[made_up] = np.searchsorted(cumulated, rng.random(int(made_up.sum())))
        pairs.append(([f"word{k}" for k in source.tolist()], [f"mot{k}" for k in target.tolist()]))
    return pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    pairs = drawn_pairs(parser.parse_args().count)
    start = time.perf_counter()

    def report(step: Step) -> None:
        print(f"{time.perf_counter() - start:7.1f} s  {step}")

    trained = FastAlign().train(pairs, report)
    made = time.perf_counter()
    print(
        f"{made - start:7.1f} s  both directions of {len(pairs):,} pairs, "
        f"{len(trained.cooccurrences):,} co-occurrences"
    )
    links = trained.aligned.symmetrise("grow-diag-final-and")
    print(f"{time.perf_counter() - made:7.1f} s  to symmetrise them to {sum(map(len, links)):,} links")
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:7.0f} MiB of memory at most")


if __name__ == "__main__":
    main()
