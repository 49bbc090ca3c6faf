"""The result of a training."""

from dataclasses import dataclass

from otalign.aligner import Aligner
from otalign.alignment import Level
from otalign.training.epochs import DevScores, Epoch, compute_mean_f1
from otalign.training.recipe import Recipe


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """A trained aligner with its scores.

    Attributes:
        aligner: The aligner, as it was after its best epoch.
        recipe: Recipe by which it was trained.
        level: Level of the links that were learned; None for both.
        epochs: All epochs.
        dev: Scores of the aligner by dev set and level.

    Example:
        >>> from otalign import Aligner
        >>> from otalign.training import DevScore, Recipe, TrainingResult
        >>> dev = {"mtref": {"sure": DevScore(threshold=0.5, precision=0.75, recall=0.75, f1=0.75)}}
        >>> TrainingResult(Aligner.load(), Recipe(), level=None, epochs=[], dev=dev).f1
        0.75
    """

    aligner: Aligner
    recipe: Recipe
    level: Level | None
    epochs: list[Epoch]
    dev: DevScores

    @property
    def f1(self) -> float:
        """Mean F1 over dev sets and levels, each at its best threshold."""
        return compute_mean_f1(self.dev)
