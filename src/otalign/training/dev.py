"""How good a model is on a dev set, at every threshold at once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from otalign.alignment import Gold, Level
from otalign.encoders.embeddings import in_numpy
from otalign.training.model import Learner
from otalign.tuning import THRESHOLDS
from otalign.tuning.sweep import Curve, MarkedTile, Marks, marks

SUBWORDS = 8192  # about so many at a time


class Score(NamedTuple):
    """What is reached at the best threshold."""

    threshold: float
    precision: float
    recall: float
    f1: float

    @classmethod
    def best(cls, curve: Curve) -> "Score":
        values = (curve.thresholds, curve.precision, curve.recall, curve.f1)
        return cls(*(float(of[curve.best]) for of in values))


class Batches(Protocol):
    """Pairs with their gold, ready to be read: `PairSet`, or what another model reads."""

    @property
    def golds(self) -> Sequence[Gold]: ...

    def by_length(self, subwords: int) -> Iterable[Any]:
        """All pairs that can be aligned, about so many subwords at a time; each batch has their numbers."""
        ...


@dataclass(frozen=True, eq=False)
class DevSet:
    """Pairs with gold at some levels, in batches that are put together once."""

    pairs: int
    levels: tuple[Level, ...]
    parts: list[tuple[Any, dict[Level, Marks]]]

    @classmethod
    def of(cls, pairs: Batches, levels: Sequence[Level]) -> "DevSet":
        parts = []
        for batch in pairs.by_length(SUBWORDS):
            golds = [pairs.golds[k] for k in batch.pairs]
            parts.append((batch, {level: marks(golds, level) for level in levels}))
        return cls(len(pairs.golds), tuple(levels), parts)

    def curves(self, model: Learner) -> dict[Level, Curve]:
        """Precision and recall at each threshold and level."""
        at = np.array(THRESHOLDS)
        model.eval()
        # A pair with an empty side is all nulls whatever the threshold, and rightly so.
        rates = {level: np.ones((2, self.pairs, len(at))) for level in self.levels}
        for batch, marked in self.parts:
            tile, weights = model.weights(batch)
            for level in self.levels:
                part = MarkedTile(list(batch.pairs), tile, {level: marked[level]})
                tally = part.tallies(in_numpy(weights[level]), at)[level]
                rates[level][:, batch.pairs] = tally.precision, tally.recall
        return {level: Curve(at, *rates[level].mean(axis=1)) for level in self.levels}

    def scores(self, model: Learner) -> dict[Level, Score]:
        return best_scores(self.curves(model))


def best_scores(curves: Mapping[Level, Curve]) -> dict[Level, Score]:
    return {level: Score.best(curve) for level, curve in curves.items()}
