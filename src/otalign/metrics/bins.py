"""A corpus broken down by a property of its pairs, in bins of equal count as far as ties allow.

Pairs of equal value are never parted, so that a bin is a range of values and not an accident of order:
where many share one value (most pairs have no phrase at all), bins are fewer and that one is larger.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from otalign.metrics.counts import Counts

Grouping = Literal["null_rate", "length", "phrase_share"]


@dataclass(frozen=True, eq=False)
class Bin:
    """The pairs whose value lies from low to high, both included."""

    low: float
    high: float
    counts: Counts


def breakdown(counts: Counts, by: Grouping, bins: int = 5) -> tuple[Bin, ...]:
    """At most `bins` bins, none empty, by ascending value; the same for every prediction of one gold."""
    if by not in get_args(Grouping):
        raise ValueError(f"by must be one of {', '.join(get_args(Grouping))}; got {by!r}")
    if bins < 1:
        raise ValueError(f"bins must be at least 1, got {bins}")
    values = getattr(counts, by)
    ordered = np.sort(values)
    # Each bin begins at the value that stands where equal counts would begin it.
    starts = np.unique(ordered[np.arange(bins) * len(values) // bins]) if len(values) else ordered
    number = np.searchsorted(starts, values, side="right") - 1
    groups = [number == k for k in range(len(starts))]
    return tuple(Bin(float(values[at].min()), float(values[at].max()), counts[at]) for at in groups)
