"""What training comes to."""

from dataclasses import dataclass
from statistics import mean

from otalign.aligner import Aligner
from otalign.alignment import Level
from otalign.training.dev import DevScore
from otalign.training.loop import Epoch
from otalign.training.recipe import Recipe


@dataclass(frozen=True, eq=False)
class Trained:
    """An aligner, what each epoch came to, and how good the best one is on each dev set."""

    aligner: Aligner
    recipe: Recipe
    level: Level | None  # that was learned; None: both
    epochs: list[Epoch]
    dev: dict[str, dict[Level, DevScore]]

    @property
    def f1(self) -> float:
        """The mean over dev sets and levels, each at its best threshold."""
        return mean(score.f1 for levels in self.dev.values() for score in levels.values())
