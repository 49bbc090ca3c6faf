"""Measure the training of fast_align in both directions and its alignment: python benchmarks/fast_align.py

Pairs have 15 to 35 words, 25 on average, from Zipf-like vocabularies of 50,000 words. Each target word is a
translation of a nearby source word, except for some random words. The goal is 100,000 pairs in less than two
minutes on two cores.
"""

import argparse
import resource
import time

import numpy as np

from otalign.baselines.fast_align import FastAlign, Step

TYPES = 50_000


def make_pairs(count: int) -> list[tuple[list[str], list[str]]]:
    rng = np.random.default_rng(0)
    share = 1 / np.arange(1, TYPES + 1)
    cumulated = np.cumsum(share / share.sum())
    pairs = []
    for n, m in rng.integers(15, 36, size=(count, 2)).tolist():
        source = np.searchsorted(cumulated, rng.random(n))
        near = np.arange(m) * n / m + rng.normal(0, 1.5, m)
        target = source[near.astype(int).clip(0, n - 1)]
        random = rng.random(m) < 0.2
        target[random] = np.searchsorted(cumulated, rng.random(int(random.sum())))
        pairs.append(([f"word{k}" for k in source.tolist()], [f"mot{k}" for k in target.tolist()]))
    return pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    pairs = make_pairs(parser.parse_args().count)
    start = time.perf_counter()

    def report(step: Step) -> None:
        print(f"{time.perf_counter() - start:7.1f} s  {step}")

    trained = FastAlign().train(pairs, report)
    trained_at = time.perf_counter()
    print(
        f"{trained_at - start:7.1f} s  both directions of {len(pairs):,} pairs, "
        f"{len(trained.cooccurrences):,} co-occurrences"
    )
    links = trained.aligned.symmetrise("grow-diag-final-and")
    print(f"{time.perf_counter() - trained_at:7.1f} s  to symmetrise them to {sum(map(len, links)):,} links")
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:7.0f} MiB of memory at most")


if __name__ == "__main__":
    main()
