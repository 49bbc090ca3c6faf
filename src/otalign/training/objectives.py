"""Objectives: what a model learns, how its loss is computed, and what is fitted on dev sets afterwards.

There are two. `TransportObjective` is that of the paper: a projection is learned through a transport problem.
`LearnedObjective` learns the transport itself. `make_objective` is the only place that asks which of them a
problem needs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from torch import Tensor
from torch.nn import functional as F

from otalign.aligner import Aligner
from otalign.alignment import LEVELS, Level
from otalign.encoders import Pairing
from otalign.gold import Gold
from otalign.ot import Entropic, Problem
from otalign.problems import find_spec
from otalign.scoring import Head, LearnedScorer, PairBatch, ProjectionHead, TransportHead, TransportScorer
from otalign.settings import LEARNED, AnySettings, Learned, LearnedSettings, Settings
from otalign.training.predictions import check_teachers
from otalign.training.recipe import FURTHER, PAPER, Recipe
from otalign.training.tensors import BatchTensors
from otalign.tuning.calibration import calibrate, find_best_threshold
from otalign.tuning.sweep import Curve

if TYPE_CHECKING:
    from otalign.training.dev import DevSet
    from otalign.training.model import Model

EPSILON = 1e-6  # distance from 0 and 1 that scores keep where their logarithm is taken
LOSS_SCALE = 30.0  # about one cell in 30 is a link: brings the losses of all objectives to the same size

Curves = dict[str, dict[Level, Curve]]  # by dev set and level


class Objective(Protocol):
    """The objective of a training: `TransportObjective` or `LearnedObjective`."""

    @property
    def level(self) -> Level | None:
        """Level of the links to learn; None for both."""
        ...

    @property
    def pairing(self) -> Pairing:
        """Pairing of the sentences, unless training continues from an aligner that has another."""
        ...

    @property
    def head_type(self) -> type[ProjectionHead] | type[TransportHead]:
        """Type of the head that is trained."""
        ...

    def choose_recipe(self, saved: AnySettings | None = None) -> Recipe:
        """Return the default recipe, given the settings of the aligner that training continues from."""
        ...

    def check_teachers(self, teachers: Sequence[Aligner]) -> None:
        """Raise ValueError if the objective cannot be learned from these teachers."""
        ...

    def initialize_head(self, size: int, random: np.random.Generator, recipe: Recipe) -> Head:
        """Return a head with random weights, given the size of the embeddings."""
        ...

    def make_settings(self, encoder: str, layer: int, pairing: Pairing, trained: str) -> AnySettings:
        """Return the settings of the aligner that is trained."""
        ...

    def build_head(self, arrays: Mapping[str, Any], pairing: Pairing) -> Any:
        """Build the head of the weights that are trained."""
        ...

    def compute_loss(self, head: Any, settings: Any, words: PairBatch, batch: BatchTensors) -> Tensor:
        """Compute the loss of a batch."""
        ...

    def score(self, head: Any, settings: Any, words: PairBatch) -> dict[Level, Any]:
        """Compute the scores of all links (B, N, M) at each level that the head knows."""
        ...

    def fit_dev(
        self,
        aligner: Aligner,
        model: "Model",
        devs: Mapping[str, "DevSet"],
        unseen: Mapping[str, Sequence[Gold]],
    ) -> tuple[Aligner, Curves]:
        """Fit thresholds, and calibration where there is one, to dev sets.

        Args:
            aligner: The trained aligner.
            model: The same as a torch module.
            devs: Dev sets by name.
            unseen: Pairs of the dev sets that share no sentence with the train sets, to calibrate on: the
                model is more confident about sentences that it has learned from.

        Returns:
            The aligner with all that was fitted, and its curves.
        """
        ...

    def copy_calibration(self, head: Any, source: Head | None) -> Head:
        """Return a head with the calibration of another, if heads of this objective have one."""
        ...


@dataclass(frozen=True)
class TransportObjective:
    """The paper's objective: a projection of word vectors is learned through a transport problem.

    The loss is the binary cross-entropy of the scaled plan, at one level. One threshold is chosen afterwards.
    """

    problem: Problem
    level: Level = "sure"
    pairing: Pairing = "joint"
    head_type = ProjectionHead

    def __post_init__(self) -> None:
        find_spec(self.problem)

    def choose_recipe(self, saved: AnySettings | None = None) -> Recipe:
        """Return the recipe of the paper."""
        return PAPER

    def check_teachers(self, teachers: Sequence[Aligner]) -> None:
        """Raise ValueError if there is a teacher, since a plan is not a probability."""
        if teachers:
            raise ValueError(f"problem must be Learned() to learn from a teacher, got {self.problem!r}")

    def initialize_head(self, size: int, random: np.random.Generator, recipe: Recipe) -> ProjectionHead:
        """Return a random projection."""
        return ProjectionHead.initialize(size, random)

    def make_settings(self, encoder: str, layer: int, pairing: Pairing, trained: str) -> Settings:
        """Return the settings of the paper, which has no centring and takes norms as masses."""
        return Settings(
            encoder=encoder,
            layer=layer,
            pairing=pairing,
            centring=False,
            smoothing=0.0,
            distortion=0.0,
            fertility="norm",
            problem=self.problem,
            solver=Entropic(tol=1e-4),  # gradients are those of a converged plan
            trained=trained,
        )

    def build_head(self, arrays: Mapping[str, Any], pairing: Pairing) -> ProjectionHead:
        """Build the projection."""
        return ProjectionHead(**arrays)

    def compute_loss(
        self, head: ProjectionHead, settings: Settings, words: PairBatch, batch: BatchTensors
    ) -> Tensor:
        """Compute the binary cross-entropy of the scaled plan."""
        plan = self.score(head, settings, words)[self.level].clamp(EPSILON, 1 - EPSILON)
        gold = batch.links[LEVELS.index(self.level)].to(plan.dtype)
        return F.binary_cross_entropy(plan[words.cells], gold[words.cells])

    def score(self, head: ProjectionHead, settings: Settings, words: PairBatch) -> dict[Level, Any]:
        """Compute the scaled plan."""
        return {self.level: TransportScorer(settings, head).score(words).links}

    def fit_dev(
        self,
        aligner: Aligner,
        model: "Model",
        devs: Mapping[str, "DevSet"],
        unseen: Mapping[str, Sequence[Gold]],
    ) -> tuple[Aligner, Curves]:
        """Choose the threshold with the highest mean F1."""
        curves = {name: dev.compute_curves(model) for name, dev in devs.items()}
        threshold = find_best_threshold(curves.values(), self.level)
        return replace(aligner, settings=aligner.settings.replace(threshold=threshold)), curves

    def copy_calibration(self, head: ProjectionHead, source: Head | None) -> ProjectionHead:
        """Return the head unchanged: projections have no calibration."""
        return head


@dataclass(frozen=True)
class LearnedObjective:
    """Learned transport: the head gives the logits of links at both levels.

    The loss is the binary cross-entropy of the logits, where links are known. It may be learned from
    teachers. Links do not depend on which sentence is the source. Afterwards logits are calibrated.
    """

    problem: Learned = Learned()
    level: Level | None = None
    pairing: Pairing = "canonical"
    head_type = TransportHead

    def choose_recipe(self, saved: AnySettings | None = None) -> Recipe:
        """Return the default recipe, or the shorter one for an aligner that has learned its transport."""
        return FURTHER if saved and saved.problem_name == LEARNED else Recipe()

    def check_teachers(self, teachers: Sequence[Aligner]) -> None:
        """Raise ValueError if a teacher gives no probabilities, or one level alone is to be learned."""
        if teachers and self.level:
            raise ValueError(
                f"level must be left out with a teacher, which predicts both levels, got {self.level!r}"
            )
        check_teachers(teachers)

    def initialize_head(self, size: int, random: np.random.Generator, recipe: Recipe) -> TransportHead:
        """Return a random head, which reads the spelling of words unless the recipe leaves that out."""
        return TransportHead.initialize(size, random, spelling="spelling" not in recipe.ablate)

    def make_settings(self, encoder: str, layer: int, pairing: Pairing, trained: str) -> LearnedSettings:
        """Return settings whose thresholds are set after training."""
        return LearnedSettings(
            encoder=encoder,
            layer=layer,
            pairing=pairing,
            problem=self.problem,
            links=self.level or "sure",
            trained=trained,
        )

    def build_head(self, arrays: Mapping[str, Any], pairing: Pairing) -> TransportHead:
        """Build the head; it is symmetric if the encoder reads a pair in one order.

        Rows and columns around a cell are then treated alike.
        """
        if pairing != "canonical":
            return TransportHead(**arrays)
        symmetric = {name: _symmetrise(arrays[name]) for name in ("near", "wider", "around")}
        return TransportHead(**{**arrays, **symmetric})

    def compute_loss(
        self, head: TransportHead, settings: LearnedSettings, words: PairBatch, batch: BatchTensors
    ) -> Tensor:
        """Compute the binary cross-entropy of the logits, where links are known."""
        logits = head.compute_logits(words)
        losses = F.binary_cross_entropy_with_logits(logits, batch.links, reduction="none")
        weights = words.cells * batch.known[:, :, None, None]
        return LOSS_SCALE * (losses * weights).sum() / weights.sum().clamp(min=1)

    def score(self, head: TransportHead, settings: LearnedSettings, words: PairBatch) -> dict[Level, Any]:
        """Compute the probabilities of links at both levels."""
        return {level: LearnedScorer(head, level).score(words).matrices for level in LEVELS}

    def fit_dev(
        self,
        aligner: Aligner,
        model: "Model",
        devs: Mapping[str, "DevSet"],
        unseen: Mapping[str, Sequence[Gold]],
    ) -> tuple[Aligner, Curves]:
        """Calibrate the logits, and choose the thresholds of both levels."""
        return calibrate(aligner, unseen, self.level)

    def copy_calibration(self, head: TransportHead, source: Any) -> TransportHead:
        """Return the head with the calibration of another."""
        return replace(head, calibration=source.calibration, null_calibration=source.null_calibration)


# By the type of the problem; others have a `TransportObjective`.
OBJECTIVES: dict[type, Callable[..., Objective]] = {Learned: LearnedObjective}


def make_objective(problem: Problem | Learned, level: Level | None = None) -> Objective:
    """Make the objective of a problem.

    Args:
        problem: `Learned()`, or one of the paper's transport problems.
        level: Level of the links to learn. By default learned transport learns both levels, and the paper's
            problems the sure links.

    Raises:
        TypeError: If the problem is not a transport problem.
    """
    objective = OBJECTIVES.get(type(problem), TransportObjective)
    return objective(problem) if level is None else objective(problem, level)


def choose_recipe(problem: Problem | Learned, saved: AnySettings | None = None) -> Recipe:
    """Return the default recipe of a problem.

    Args:
        problem: `Learned()`, or one of the paper's transport problems.
        saved: Settings of the aligner that training continues from; None for a pretrained encoder.

    Returns:
        `PAPER` for the paper's problems. For learned transport, the default `Recipe()`, or the shorter
        `FURTHER` if the aligner has learned its transport already.

    Example:
        >>> from otalign.ot import Unbalanced
        >>> choose_recipe(Unbalanced(0.4)).optimizer
        'adafactor'
    """
    return make_objective(problem).choose_recipe(saved)


def _symmetrise(kernel: Tensor) -> Tensor:
    """Return the mean of a kernel (9 · C, channels) over a cell's neighbours and the same, transposed."""
    square = kernel.view(3, 3, -1, kernel.shape[1])
    return ((square + square.transpose(0, 1)) / 2).reshape(kernel.shape)
