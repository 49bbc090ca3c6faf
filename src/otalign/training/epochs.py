"""Scores during training: what each epoch reaches on each dev set."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import mean
from typing import Any, NamedTuple

from otalign.alignment import Level
from otalign.tuning.sweep import Curve


class DevScore(NamedTuple):
    """Precision, recall and F1 on a dev set, at the threshold with the highest F1.

    Attributes:
        threshold: The threshold.
        precision: Precision at it.
        recall: Recall at it.
        f1: F1 at it.

    Example:
        >>> import numpy as np
        >>> from otalign.training import DevScore
        >>> from otalign.tuning import Curve
        >>> curve = Curve(np.array([0.2, 0.5]), np.array([0.5, 1.0]), np.array([1.0, 1.0]))
        >>> DevScore.from_curve(curve)
        DevScore(threshold=0.5, precision=1.0, recall=1.0, f1=1.0)
    """

    threshold: float
    precision: float
    recall: float
    f1: float

    @classmethod
    def from_curve(cls, curve: Curve) -> "DevScore":
        """Return the best point of a curve.

        Args:
            curve: Precision and recall at each threshold.
        """
        values = (curve.thresholds, curve.precision, curve.recall, curve.f1)
        return cls(*(float(column[curve.best]) for column in values))


DevScores = dict[str, dict[Level, DevScore]]  # by the name of the dev set


def compute_mean_f1(dev: DevScores) -> float:
    """Compute the mean F1 over dev sets and levels, each at its best threshold; 0 without dev sets."""
    return mean([score.f1 for levels in dev.values() for score in levels.values()] or [0.0])


def find_best_scores(curves: Mapping[str, Mapping[Level, Curve]]) -> DevScores:
    """Return the best point of every curve, by dev set and level."""
    return {
        name: {level: DevScore.from_curve(curve) for level, curve in by_level.items()}
        for name, by_level in curves.items()
    }


@dataclass(frozen=True)
class Epoch:
    """Result of one pass over the training pairs.

    Attributes:
        number: Number of the epoch, from 1.
        loss: Mean loss of its steps.
        dev: Scores by dev set and level.
        seconds: Time that it took.

    Example:
        >>> score = DevScore(threshold=0.5, precision=0.75, recall=0.75, f1=0.75)
        >>> Epoch(1, 0.25, {"mtref": {"sure": score}}, 1.5).f1
        0.75
    """

    number: int
    loss: float
    dev: DevScores
    seconds: float

    @property
    def f1(self) -> float:
        """Mean F1 over dev sets and levels, each at its best threshold; 0 without dev sets."""
        return compute_mean_f1(self.dev)

    def to_dict(self) -> dict[str, Any]:
        """Return the epoch as JSON-serializable values."""
        return {
            "epoch": self.number,
            "loss": self.loss,
            "dev_f1": self.f1,
            "dev": scores_to_dict(self.dev),
            "seconds": self.seconds,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Epoch":
        """Return the epoch that `to_dict` wrote.

        Args:
            data: The dictionary.
        """
        dev = {
            name: {level: DevScore(**score) for level, score in by_level.items()}
            for name, by_level in data["dev"].items()
        }
        return cls(data["epoch"], data["loss"], dev, data["seconds"])


def scores_to_dict(dev: DevScores) -> dict[str, dict[Level, dict[str, float]]]:
    """Return dev scores as JSON-serializable values."""
    return {
        name: {level: score._asdict() for level, score in by_level.items()} for name, by_level in dev.items()
    }
