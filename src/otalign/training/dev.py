"""How good a model is on a dev set, at every threshold at once."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from otalign.alignment import Level
from otalign.encoders.embeddings import to_numpy
from otalign.gold import Gold
from otalign.training.model import Learner
from otalign.tuning.sweep import Curve, MarkedBatch, Marks, compute_curves, mark_golds

SUBWORDS = 8192  # about so many at a time


class DevScore(NamedTuple):
    """What is reached at the best threshold."""

    threshold: float
    precision: float
    recall: float
    f1: float

    @classmethod
    def best(cls, curve: Curve) -> "DevScore":
        values = (curve.thresholds, curve.precision, curve.recall, curve.f1)
        return cls(*(float(of[curve.best]) for of in values))


class DevPairs(Protocol):
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
    def of(cls, pairs: DevPairs, levels: Sequence[Level]) -> "DevSet":
        parts = []
        for batch in pairs.by_length(SUBWORDS):
            golds = [pairs.golds[k] for k in batch.pairs]
            parts.append((batch, {level: mark_golds(golds, level) for level in levels}))
        return cls(len(pairs.golds), tuple(levels), parts)

    def curves(self, model: Learner) -> dict[Level, Curve]:
        """Precision and recall at each threshold and level."""
        model.eval()

        def score() -> Iterator[tuple[MarkedBatch, dict[Level, Any]]]:
            for batch, marks in self.parts:
                words, scores = model.weights(batch)
                marked = MarkedBatch(list(batch.pairs), words, marks)
                yield marked, {level: to_numpy(scores[level]) for level in self.levels}

        return compute_curves(self.pairs, self.levels, score())

    def scores(self, model: Learner) -> dict[Level, DevScore]:
        return best_scores(self.curves(model))


def best_scores(curves: Mapping[Level, Curve]) -> dict[Level, DevScore]:
    return {level: DevScore.best(curve) for level, curve in curves.items()}
