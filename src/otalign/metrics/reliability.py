"""Reliability of probabilities: of all predictions with probability 70%, are 70% correct?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

BINS = 10


@dataclass(frozen=True, eq=False)
class Reliability:
    """A histogram of probabilities and outcomes, in bins of equal width; histograms are added with `+`.

    Attributes:
        counts: Number of probabilities in each bin, (bins,).
        expected: Their sum, (bins,).
        observed: Number of their outcomes that are true, (bins,).
    """

    counts: np.ndarray
    expected: np.ndarray
    observed: np.ndarray

    @classmethod
    def from_outcomes(cls, probabilities: Any, outcomes: Any, bins: int = BINS) -> "Reliability":
        """Bin probabilities.

        Args:
            probabilities: Probabilities from 0 to 1, of any shape.
            outcomes: Whether the outcome of each is true, of the same shape.
            bins: Number of bins.

        Returns:
            The histogram.

        Raises:
            ValueError: If the shapes differ, or a probability is out of range.
        """
        p, facts = np.ravel(probabilities).astype(float), np.ravel(outcomes).astype(float)
        if p.shape != facts.shape:
            raise ValueError(
                f"probabilities and outcomes must have one length, got {p.size} and {facts.size}"
            )
        if p.size and not (p.min() >= 0 and p.max() <= 1):
            raise ValueError(f"probabilities must be from 0 to 1, got {p.min()} to {p.max()}")
        if bins < 1:
            raise ValueError(f"bins must be at least 1, got {bins}")
        indices = np.minimum((p * bins).astype(int), bins - 1)
        return cls(*(np.bincount(indices, weights, bins) for weights in (np.ones_like(p), p, facts)))

    def __add__(self, other: "Reliability") -> "Reliability":
        return Reliability(
            self.counts + other.counts, self.expected + other.expected, self.observed + other.observed
        )

    @property
    def probability(self) -> np.ndarray:
        """Mean probability of each bin, nan where it is empty, (bins,)."""
        return self._mean(self.expected)

    @property
    def share(self) -> np.ndarray:
        """Share of true outcomes of each bin, nan where it is empty, (bins,)."""
        return self._mean(self.observed)

    @property
    def error(self) -> float:
        """Expected calibration error: mean distance of probability and share over all probabilities."""
        return float(np.abs(self.expected - self.observed).sum() / max(1, self.counts.sum()))

    def to_dict(self) -> dict[str, Any]:
        """Return the error and the histogram as JSON-serializable values."""
        arrays = {name: getattr(self, name).tolist() for name in ("counts", "expected", "observed")}
        return {"error": self.error, **arrays}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Reliability":
        """Restore a histogram from `to_dict`."""
        return cls(*(np.array(data[name], dtype=float) for name in ("counts", "expected", "observed")))

    def _mean(self, total: np.ndarray) -> np.ndarray:
        nonempty = self.counts > 0
        return np.where(nonempty, total / np.where(nonempty, self.counts, 1), np.nan)
