"""Whether probabilities mean what they say: of all that is given 70%, is it so for 70%?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

BINS = 10


@dataclass(frozen=True, eq=False)
class Reliability:
    """Probabilities in bins of equal width from 0 to 1. Those of other facts are added by `+`."""

    counts: np.ndarray  # (bins,): how many probabilities lie in each, …
    expected: np.ndarray  # (bins,): … what they add up to, …
    found: np.ndarray  # (bins,): … and how many of their facts are so

    @classmethod
    def of(cls, probabilities: Any, facts: Any, bins: int = BINS) -> "Reliability":
        p, so = np.ravel(probabilities).astype(float), np.ravel(facts).astype(float)
        if p.shape != so.shape:
            raise ValueError(f"each probability must have its fact, got {p.size} and {so.size}")
        if p.size and not (p.min() >= 0 and p.max() <= 1):
            raise ValueError(f"probabilities must be from 0 to 1, got {p.min()} to {p.max()}")
        if bins < 1:
            raise ValueError(f"bins must be at least 1, got {bins}")
        number = np.minimum((p * bins).astype(int), bins - 1)
        return cls(*(np.bincount(number, weights, bins) for weights in (np.ones_like(p), p, so)))

    def __add__(self, other: "Reliability") -> "Reliability":
        return Reliability(
            self.counts + other.counts, self.expected + other.expected, self.found + other.found
        )

    @property
    def probability(self) -> np.ndarray:
        """The mean of each bin, nan where it is empty, (bins,)."""
        return self._mean(self.expected)

    @property
    def share(self) -> np.ndarray:
        """Of the facts of each bin, those that are so; nan where it is empty, (bins,)."""
        return self._mean(self.found)

    @property
    def error(self) -> float:
        """The expected calibration error: how far the two are apart, over all that was binned."""
        return float(np.abs(self.expected - self.found).sum() / max(1, self.counts.sum()))

    def to_dict(self) -> dict[str, Any]:
        arrays = {name: getattr(self, name).tolist() for name in ("counts", "expected", "found")}
        return {"error": self.error, **arrays}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Reliability":
        return cls(*(np.array(data[name], dtype=float) for name in ("counts", "expected", "found")))

    def _mean(self, total: np.ndarray) -> np.ndarray:
        some = self.counts > 0
        return np.where(some, total / np.where(some, self.counts, 1), np.nan)
