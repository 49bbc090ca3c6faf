"""Scores of a model on a dev set, at every threshold at once."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from otalign.alignment import Level
from otalign.encoders.embeddings import to_numpy
from otalign.gold import Gold
from otalign.training.model import Learner
from otalign.tuning.sweep import Curve, MarkedBatch, Marks, compute_curves, mark_golds

SUBWORDS = 8192  # approximate number in a batch


class DevPairs(Protocol):
    """Gold pairs that a model can read: `PairSet`, or the pairs of another kind of model."""

    @property
    def golds(self) -> Sequence[Gold]:
        """The pairs with their gold links."""
        ...

    def batch_by_length(self, subwords: int) -> Iterable[Any]:
        """Yield all pairs that can be aligned in batches of about this many subwords.

        Each batch has the numbers of its `pairs`.
        """
        ...


@dataclass(frozen=True, eq=False)
class DevSet:
    """Gold pairs in batches that are made once, with their gold marked at some levels."""

    golds: Sequence[Gold]
    levels: tuple[Level, ...]
    batches: list[tuple[Any, dict[Level, Marks]]]

    @classmethod
    def build(cls, pairs: DevPairs, levels: Sequence[Level]) -> "DevSet":
        """Split pairs into batches, and mark their gold."""
        batches = []
        for batch in pairs.batch_by_length(SUBWORDS):
            golds = [pairs.golds[k] for k in batch.pairs]
            batches.append((batch, {level: mark_golds(golds, level) for level in levels}))
        return cls(pairs.golds, tuple(levels), batches)

    def compute_curves(self, model: Learner) -> dict[Level, Curve]:
        """Compute precision and recall of a model at each threshold and level."""
        model.eval()

        def score() -> Iterator[tuple[MarkedBatch, dict[Level, Any]]]:
            for batch, marks in self.batches:
                words, scores = model.score(batch)
                marked = MarkedBatch(list(batch.pairs), words, marks)
                yield marked, {level: to_numpy(scores[level]) for level in self.levels}

        return compute_curves(len(self.golds), self.levels, score())
