"""How sure a score is, and whether two systems differ: resampling the pairs of the corpus.

Every score is a function of means over pairs. A bootstrap resample weighs the pairs' terms by how often
each was drawn, and a randomised trial swaps the two systems' terms where a coin says so; both are one
matrix product for all trials. The same seed gives the same trials, so systems are compared on the same draws.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from otalign.metrics.counts import COLUMNS, GOLD_COLUMNS, Counts
from otalign.metrics.measures import Measure, select_measures

# Weights (trials · pairs) held at a time: few enough to stay in the processor's cache, thrice as fast.
BLOCK = 1 << 17
# Sums taken in another order differ by rounding; trials that close to the observed difference equal it.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Resampling:
    """How many trials, from which seed, and the confidence of the intervals."""

    trials: int = 10_000
    seed: int = 0
    confidence: float = 0.95

    def __post_init__(self):
        if self.trials < 1:
            raise ValueError(
                f"trials must be at least 1, got {self.trials}; 1,000 or more give stable figures"
            )
        if not 0 < self.confidence < 1:
            raise ValueError(f"confidence must be between 0 and 1, got {self.confidence}; 0.95 is usual")


@dataclass(frozen=True)
class Interval:
    """The middle of the bootstrap's values: `confidence` of them lie between low and high."""

    low: float
    high: float


@dataclass(frozen=True)
class Comparison:
    """A score of two systems on the same gold; p is the chance of so large a difference if they are equal.

    Both p are two-sided, and never 0: (1 + trials as extreme as the observed difference) / (1 + trials).
    """

    baseline: float
    system: float
    interval: Interval  # of the difference
    p_bootstrap: float
    p_randomisation: float

    @property
    def difference(self) -> float:
        return self.system - self.baseline


def intervals(
    counts: Counts, measures: Iterable[str] = ("f1",), resampling: Resampling = Resampling()
) -> dict[str, Interval]:
    """The percentile bootstrap interval of each score by name."""
    picked = select_measures(measures)
    values = _values(picked, _bootstrap_means(_terms(picked, counts), resampling))  # (trials, measures)
    return {
        measure.name: _interval(column, resampling) for measure, column in zip(picked, values.T, strict=True)
    }


def compare(
    baseline: Counts, system: Counts, measures: Iterable[str] = ("f1",), resampling: Resampling = Resampling()
) -> dict[str, Comparison]:
    """Each score of two systems by name, with the paired bootstrap and approximate randomisation."""
    _check_same_gold(baseline, system)
    picked = select_measures(measures)
    X, Y = _terms(picked, baseline), _terms(picked, system)  # (N, terms)
    both = np.hstack([X, Y])  # drawn together: a pair is in or out for both systems
    drawn = _bootstrap_means(both, resampling)
    x_drawn, y_drawn = drawn[:, : X.shape[1]], drawn[:, X.shape[1] :]
    x_swapped, y_swapped = _swapped_means(X, Y, resampling)
    x, y = _values(picked, X.mean(axis=0)), _values(picked, Y.mean(axis=0))  # (measures,)
    by_draw = _values(picked, y_drawn) - _values(picked, x_drawn)  # (trials, measures)
    by_coin = _values(picked, y_swapped) - _values(picked, x_swapped)
    found = {}
    for k, measure in enumerate(picked):
        observed = y[k] - x[k]
        found[measure.name] = Comparison(
            float(x[k]),
            float(y[k]),
            _interval(by_draw[:, k], resampling),
            # If the systems were equal, the draws would scatter about 0 as they do about the observed.
            p_bootstrap=_share_as_extreme(by_draw[:, k] - observed, observed),
            p_randomisation=_share_as_extreme(by_coin[:, k], observed),
        )
    return found


def _terms(measures: list[Measure], counts: Counts) -> np.ndarray:
    """The terms of all measures side by side, (N, terms)."""
    if not len(counts):
        raise ValueError("counts must hold at least one pair, got none; there is nothing to draw from")
    return np.hstack([measure.terms(counts).astype(float) for measure in measures])


def _values(measures: list[Measure], means: np.ndarray) -> np.ndarray:
    """What the means of the terms come to, (…, terms) → (…, measures)."""
    values, at = [], 0
    for measure in measures:
        values.append(measure.value(means[..., at : at + measure.width]))
        at += measure.width
    return np.stack(values, axis=-1)


def _blocks(pairs: int, resampling: Resampling) -> Iterator[tuple[np.random.Generator, int]]:
    """The generator, and how many trials to make of it at a time."""
    rng, step = np.random.default_rng(resampling.seed), max(1, BLOCK // pairs)
    for start in range(0, resampling.trials, step):
        yield rng, min(step, resampling.trials - start)


def _bootstrap_means(X: np.ndarray, resampling: Resampling) -> np.ndarray:
    """The means of X (N, terms) over N pairs drawn with replacement, (trials, terms)."""
    N, means = len(X), []
    for rng, trials in _blocks(N, resampling):
        drawn = rng.integers(N, size=(trials, N)) + N * np.arange(trials)[:, None]
        times = np.bincount(drawn.ravel(), minlength=trials * N).reshape(trials, N)
        means.append(times.astype(float) @ X / N)
    return np.concatenate(means)


def _swapped_means(X: np.ndarray, Y: np.ndarray, resampling: Resampling) -> tuple[np.ndarray, np.ndarray]:
    """The means of X and of Y (N, terms) when each pair is swapped or not by a coin, (trials, terms) each."""
    N, gains = len(X), []
    for rng, trials in _blocks(N, resampling):
        heads = rng.random((trials, N)) < 0.5
        gains.append(heads.astype(float) @ (Y - X))
    gain = np.concatenate(gains)
    # Sums of counts are whole and exact; as means, a sum of 0 could come out as a crumb that is divided by.
    return (X.sum(axis=0) + gain) / N, (Y.sum(axis=0) - gain) / N


def _interval(values: np.ndarray, resampling: Resampling) -> Interval:
    tail = (1 - resampling.confidence) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return Interval(float(low), float(high))


def _share_as_extreme(values: np.ndarray, observed: float) -> float:
    extreme = int(np.count_nonzero(np.abs(values) >= np.abs(observed) - ROUNDING))
    return (1 + extreme) / (1 + len(values))


def _check_same_gold(baseline: Counts, system: Counts) -> None:
    if baseline.level != system.level:
        raise ValueError(
            f"baseline and system must be counted at one level, got {baseline.level!r} and {system.level!r}"
        )
    if len(baseline) != len(system):
        raise ValueError(
            f"baseline and system must be of the same pairs, got {len(baseline)} and {len(system)}"
        )
    unequal = np.argwhere(baseline.table[:, GOLD_COLUMNS] != system.table[:, GOLD_COLUMNS])
    if len(unequal):
        pair, column = int(unequal[0, 0]), GOLD_COLUMNS[unequal[0, 1]]
        one, other = baseline.table[pair, column], system.table[pair, column]
        raise ValueError(
            f"baseline and system must have the same gold, got {one} and {other} {COLUMNS[column]} "
            f"in pair {pair}, counted from 0; count both against one gold, in one order"
        )
