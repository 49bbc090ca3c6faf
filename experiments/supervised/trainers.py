"""The kinds of supervised systems: how each is trained, and which aligner is tested on a column."""

from dataclasses import replace
from typing import Any, Protocol

from experiments.columns import Column
from experiments.peers.aligner import TrainedPeer
from experiments.peers.settings import Peer
from experiments.peers.training import PeerTraining, train_peer
from otalign.aligner import Aligner
from otalign.alignment import Level
from otalign.ot import Problem
from otalign.settings import Learned
from otalign.training import Recipe, RunOptions, TrainingResult, train
from otalign.training.sources import Sources


class Trainer(Protocol):
    """A kind of system."""

    def train(
        self,
        encoder: str,
        sources: Sources,
        problem: Any,
        recipe: Recipe,
        level: Level | None,
        options: RunOptions,
    ) -> TrainingResult | PeerTraining:
        """Train a model; `level` is None for both levels."""
        ...

    def describe_problem(self, result: Any) -> dict[str, Any]:
        """Return the name and the parameters of the problem or peer that was trained."""
        ...

    def select_aligner(self, result: Any, column: Column, tuned: bool) -> Aligner | TrainedPeer:
        """Return the aligner for a column; `tuned` selects the best threshold on the column's dev set."""
        ...


class TransportTrainer:
    """Trains the paper's transport problems, each for one level and one dev set: those of its columns."""

    def train(
        self,
        encoder: str,
        sources: Sources,
        problem: Problem | Learned,
        recipe: Recipe,
        level: Level | None,
        options: RunOptions,
    ) -> TrainingResult:
        return train(encoder, sources, problem, recipe, level=level, options=options)

    def describe_problem(self, result: TrainingResult) -> dict[str, Any]:
        return result.aligner.settings.to_dict()["problem"]

    def select_aligner(self, result: TrainingResult, column: Column, tuned: bool) -> Aligner:
        return result.aligner


class LearnedTrainer(TransportTrainer):
    """Trains learned transport, which has both levels and may have been trained on several corpora."""

    def select_aligner(self, result: TrainingResult, column: Column, tuned: bool) -> Aligner:
        settings = result.aligner.settings.replace(links=column.level, threshold=None)
        if tuned:
            levels = result.dev[column.dev]  # a gold without possible links has the sure level alone
            settings = settings.replace(threshold=(levels.get(column.level) or levels["sure"]).threshold)
        return replace(result.aligner, settings=settings)


class PeerTrainer:
    """Trains the peers, each for one level and one dev set: those of its columns."""

    def train(
        self,
        encoder: str,
        sources: Sources,
        problem: Peer,
        recipe: Recipe,
        level: Level | None,
        options: RunOptions,
    ) -> PeerTraining:
        return train_peer(encoder, sources, problem, recipe, level=level or "sure", options=options)

    def describe_problem(self, result: PeerTraining) -> dict[str, Any]:
        return {"name": result.aligner.settings.method}

    def select_aligner(self, result: PeerTraining, column: Column, tuned: bool) -> TrainedPeer:
        return result.aligner


TRAINERS: dict[type, Trainer] = {str: PeerTrainer(), Learned: LearnedTrainer()}


def find_trainer(problem: Problem | Learned | Peer) -> Trainer:
    """Return the trainer of a problem or peer."""
    return TRAINERS.get(type(problem), TransportTrainer())
