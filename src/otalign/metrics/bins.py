"""Bins of the pairs of a corpus by a property, of equal size as far as ties allow.

Pairs of equal value share a bin, so that a bin is a range of values. Where many pairs share a value
(most have no phrase at all), there are fewer bins, and the one with that value is larger.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from otalign.metrics.counts import Counts
from otalign.validation import check_choice

Grouping = Literal["null_rate", "length", "phrase_share"]


@dataclass(frozen=True, eq=False)
class Bin:
    """The pairs whose value lies in a range.

    Attributes:
        low: Lowest value.
        high: Highest value, included.
        counts: Counts of these pairs.

    Example:
        >>> from otalign.metrics import break_down, count_pair
        >>> [bin] = break_down(count_pair([(0, 0)], [(0, 0)], n=2, m=2), "null_rate")
        >>> bin.low, bin.high, len(bin.counts)
        (0.5, 0.5, 1)
    """

    low: float
    high: float
    counts: Counts


def break_down(counts: Counts, by: Grouping, bins: int = 5) -> tuple[Bin, ...]:
    """Divide pairs into bins by a property of their gold.

    Args:
        counts: Counts of the pairs.
        by: Property: `null_rate`, `length` or `phrase_share`.
        bins: Maximum number of bins.

    Returns:
        Bins by ascending value, none of them empty. They are the same for all predictions of one gold.

    Raises:
        ValueError: If the property is unknown, or `bins` less than 1.

    Example:
        >>> from otalign.metrics import Counts, break_down, count_pair
        >>> pairs = [count_pair([(0, 0)], [(0, 0)], n=n, m=n) for n in (1, 2, 8, 9)]
        >>> [(bin.low, bin.high) for bin in break_down(Counts.concatenate(pairs), "length", bins=2)]
        [(2.0, 4.0), (16.0, 18.0)]
    """
    check_choice("by", by, get_args(Grouping))
    if bins < 1:
        raise ValueError(f"bins must be at least 1, got {bins}")
    values = getattr(counts, by)
    ordered = np.sort(values)
    # A bin starts at the value at which it would start if all counts were equal.
    starts = np.unique(ordered[np.arange(bins) * len(values) // bins]) if len(values) else ordered
    indices = np.searchsorted(starts, values, side="right") - 1
    groups = [indices == k for k in range(len(starts))]
    return tuple(Bin(float(values[mask].min()), float(values[mask].max()), counts[mask]) for mask in groups)
