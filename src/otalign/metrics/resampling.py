"""Confidence intervals and significance tests by resampling the pairs of a corpus.

Every score is a function of means over pairs. A bootstrap resample weights the terms of each pair by how
often it was drawn; approximate randomisation swaps the terms of the two systems at random. Either is one
matrix product for all trials. The same seed gives the same trials, so that systems are compared on the same
resamples.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from otalign.metrics.counts import COLUMNS, GOLD_COLUMNS, Counts
from otalign.metrics.measures import Measure, select_measures

# Weights (trials · pairs) in memory at a time: three times as fast if they fit the CPU's cache.
BLOCK = 1 << 17
# Sums in another order differ by rounding; a trial this close to the observed difference counts as equal.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Resampling:
    """Options of resampling.

    Attributes:
        trials: Number of trials.
        seed: Seed of the random numbers.
        confidence: Confidence level of intervals, between 0 and 1.

    Raises:
        ValueError: If a value is out of its range.

    Example:
        >>> from otalign.metrics import Resampling
        >>> Resampling(trials=1_000, seed=7)
        Resampling(trials=1000, seed=7, confidence=0.95)
    """

    trials: int = 10_000
    seed: int = 0
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if self.trials < 1:
            raise ValueError(
                f"trials must be at least 1, got {self.trials}; 1,000 or more give stable figures"
            )
        if self.seed < 0:
            raise ValueError(f"seed must be at least 0, got {self.seed}")
        if not 0 < self.confidence < 1:
            raise ValueError(f"confidence must be between 0 and 1, got {self.confidence}; 0.95 is usual")


@dataclass(frozen=True)
class Interval:
    """A percentile bootstrap interval.

    Attributes:
        low: Lower end.
        high: Upper end.

    Example:
        >>> from otalign.metrics import Interval
        >>> interval = Interval(0.71, 0.78)
        >>> interval.low < 0.75 < interval.high
        True
    """

    low: float
    high: float


@dataclass(frozen=True)
class Comparison:
    """A score of two systems on the same gold, with the significance of their difference.

    P-values are two-sided and never 0: (1 + trials as extreme as the observed difference) / (1 + trials).

    Attributes:
        baseline: Score of the baseline.
        system: Score of the system.
        interval: Confidence interval of the difference.
        p_bootstrap: P-value of the paired bootstrap test.
        p_randomisation: P-value of approximate randomisation.

    Example:
        >>> from otalign.metrics import Comparison, Interval
        >>> comparison = Comparison(0.75, 0.875, Interval(0.05, 0.2), p_bootstrap=0.01, p_randomisation=0.02)
        >>> comparison.difference
        0.125
    """

    baseline: float
    system: float
    interval: Interval
    p_bootstrap: float
    p_randomisation: float

    @property
    def difference(self) -> float:
        """Score of the system minus that of the baseline."""
        return self.system - self.baseline


def compute_intervals(
    counts: Counts, measures: Iterable[str] = ("f1",), resampling: Resampling = Resampling()
) -> dict[str, Interval]:
    """Compute percentile bootstrap intervals of scores.

    Args:
        counts: Counts of the corpus.
        measures: Names in `MEASURES`.
        resampling: Options of the bootstrap.

    Returns:
        Intervals by name.

    Raises:
        ValueError: If there are no pairs, or a name is unknown.

    Example:
        >>> from otalign.metrics import Counts, Resampling, count_pair, compute_intervals
        >>> pairs = [count_pair([(0, 0)], [(0, k)], n=1, m=2) for k in (0, 0, 0, 1)]
        >>> compute_intervals(Counts.concatenate(pairs), ["exact_match"], Resampling(trials=100))
        {'exact_match': Interval(low=0.25, high=1.0)}
    """
    selected = select_measures(measures)
    values = _compute_values(
        selected, _compute_bootstrap_means(_stack_terms(selected, counts), resampling)
    )  # (trials, measures)
    return {
        measure.name: _make_interval(column, resampling)
        for measure, column in zip(selected, values.T, strict=True)
    }


def compare(
    baseline: Counts, system: Counts, measures: Iterable[str] = ("f1",), resampling: Resampling = Resampling()
) -> dict[str, Comparison]:
    """Compare two systems by the paired bootstrap and by approximate randomisation.

    Args:
        baseline: Counts of the one system.
        system: Counts of the other, against the same gold.
        measures: Names in `MEASURES`.
        resampling: Options of the tests.

    Returns:
        Comparisons by name.

    Raises:
        ValueError: If the gold differs, there are no pairs, or a name is unknown.

    Example:
        >>> from otalign.metrics import Counts, Resampling, compare, count_pair
        >>> right, wrong = (count_pair([(0, k)], [(0, 0)], n=1, m=2) for k in (0, 1))
        >>> baseline = Counts.concatenate([right, wrong])
        >>> system = Counts.concatenate([right, right])
        >>> compare(baseline, system, ["exact_match"], Resampling(trials=100))["exact_match"].difference
        0.5
    """
    _check_same_gold(baseline, system)
    selected = select_measures(measures)
    X, Y = _stack_terms(selected, baseline), _stack_terms(selected, system)  # (N, terms)
    both = np.hstack([X, Y])  # resampled together: both systems get the same pairs
    means = _compute_bootstrap_means(both, resampling)
    x_means, y_means = means[:, : X.shape[1]], means[:, X.shape[1] :]
    x_swapped, y_swapped = _compute_swapped_means(X, Y, resampling)
    x, y = _compute_values(selected, X.mean(axis=0)), _compute_values(selected, Y.mean(axis=0))  # (measures,)
    bootstrap = _compute_values(selected, y_means) - _compute_values(selected, x_means)  # (trials, measures)
    randomised = _compute_values(selected, y_swapped) - _compute_values(selected, x_swapped)
    comparisons = {}
    for k, measure in enumerate(selected):
        observed = y[k] - x[k]
        comparisons[measure.name] = Comparison(
            float(x[k]),
            float(y[k]),
            _make_interval(bootstrap[:, k], resampling),
            # If the systems were equal, the resamples would be distributed around 0 instead of the observed.
            p_bootstrap=_compute_p_value(bootstrap[:, k] - observed, observed),
            p_randomisation=_compute_p_value(randomised[:, k], observed),
        )
    return comparisons


def _stack_terms(measures: list[Measure], counts: Counts) -> np.ndarray:
    """Stack the terms of all measures, (N, terms)."""
    if not len(counts):
        raise ValueError("counts must hold at least one pair, got none; there is nothing to resample")
    return np.hstack([measure.terms(counts).astype(float) for measure in measures])


def _compute_values(measures: list[Measure], means: np.ndarray) -> np.ndarray:
    """Compute scores from means of terms, (…, terms) → (…, measures)."""
    values, start = [], 0
    for measure in measures:
        values.append(measure.value(means[..., start : start + measure.width]))
        start += measure.width
    return np.stack(values, axis=-1)


def _split_trials(pairs: int, resampling: Resampling) -> Iterator[tuple[np.random.Generator, int]]:
    """Yield the random generator, and how many trials to make with it at a time."""
    rng, step = np.random.default_rng(resampling.seed), max(1, BLOCK // pairs)
    for start in range(0, resampling.trials, step):
        yield rng, min(step, resampling.trials - start)


def _compute_bootstrap_means(X: np.ndarray, resampling: Resampling) -> np.ndarray:
    """Compute the means of X (N, terms) over N pairs drawn with replacement, (trials, terms)."""
    N, means = len(X), []
    for rng, trials in _split_trials(N, resampling):
        drawn = rng.integers(N, size=(trials, N)) + N * np.arange(trials)[:, None]
        times = np.bincount(drawn.ravel(), minlength=trials * N).reshape(trials, N)
        means.append(times.astype(float) @ X / N)
    return np.concatenate(means)


def _compute_swapped_means(
    X: np.ndarray, Y: np.ndarray, resampling: Resampling
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the means of X and Y (N, terms) with each pair swapped at random, (trials, terms) each."""
    N, gains = len(X), []
    for rng, trials in _split_trials(N, resampling):
        swapped = rng.random((trials, N)) < 0.5
        gains.append(swapped.astype(float) @ (Y - X))
    gain = np.concatenate(gains)
    # Sums of counts are exact integers; with means, a sum of 0 could become a tiny divisor.
    return (X.sum(axis=0) + gain) / N, (Y.sum(axis=0) - gain) / N


def _make_interval(values: np.ndarray, resampling: Resampling) -> Interval:
    tail = (1 - resampling.confidence) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return Interval(float(low), float(high))


def _compute_p_value(values: np.ndarray, observed: float) -> float:
    extreme = int(np.count_nonzero(np.abs(values) >= np.abs(observed) - ROUNDING))
    return (1 + extreme) / (1 + len(values))


def _check_same_gold(baseline: Counts, system: Counts) -> None:
    if baseline.level != system.level:
        raise ValueError(
            f"baseline and system must be counted at one level, got {baseline.level!r} and {system.level!r}"
        )
    if len(baseline) != len(system):
        raise ValueError(
            f"baseline and system must hold the same pairs, got {len(baseline)} and {len(system)}"
        )
    unequal = np.argwhere(baseline.table[:, GOLD_COLUMNS] != system.table[:, GOLD_COLUMNS])
    if len(unequal):
        pair, column = int(unequal[0, 0]), GOLD_COLUMNS[unequal[0, 1]]
        first, second = baseline.table[pair, column], system.table[pair, column]
        raise ValueError(
            f"baseline and system must have the same gold, got {first} and {second} {COLUMNS[column]} "
            f"in pair {pair}, counted from 0; count both against the same gold in the same order"
        )
