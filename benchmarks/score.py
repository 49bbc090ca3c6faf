"""Measure the time to score 1,000 sentence pairs: python benchmarks/score.py

Sentences have 10 to 40 words, and most predictions are correct. The best of five rounds counts.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from otalign.metrics import MEASURES, Counts, compare, compute_intervals, compute_scores, count_pair

PAIRS = 1000


def make_links(rng: np.random.Generator, n: int, right: float) -> set[tuple[int, int]]:
    return {(i, i if rng.random() < right else int(rng.integers(n))) for i in range(n)}


def measure_seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    rng = np.random.default_rng(0)
    lengths = rng.integers(10, 41, size=PAIRS).tolist()
    gold = [make_links(rng, n, 1) - {(n // 2, n // 2)} for n in lengths]
    guesses = [[make_links(rng, n, right) for n in lengths] for right in (0.7, 0.72)]

    def counts(guess: list) -> Counts:
        return Counts.concatenate(
            count_pair(p, g, n, n) for p, g, n in zip(guess, gold, lengths, strict=True)
        )

    one, other = map(counts, guesses)
    steps = {
        "count": lambda: counts(guesses[0]),
        f"{len(MEASURES)} scores": lambda: compute_scores(one),
        "interval of f1, 10,000 trials": lambda: compute_intervals(one),
        f"intervals of {len(MEASURES)} scores": lambda: compute_intervals(one, MEASURES),
        "compare f1, 10,000 trials twice": lambda: compare(one, other),
    }
    for name, step in steps.items():
        print(f"{name:32}{1000 * min(measure_seconds(step) for _ in range(5)):8.1f} ms")


if __name__ == "__main__":
    main()
