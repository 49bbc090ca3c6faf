"""Scores from optimal transport: plans scaled to [0, 1] over each pair.

A plan says how much mass two words share, not how likely their link is. So the strongest link of a pair
always scores 1, and the score of a null is 1 minus the score of the word's strongest link.
"""

from dataclasses import dataclass
from typing import NamedTuple

from otalign.arrays import Array, array_namespace, get_gpu_memory
from otalign.ot import Problem, Solver, solve
from otalign.scoring.batches import BatchBudget, PairBatch
from otalign.scoring.cost import compute_costs, min_max_scale
from otalign.scoring.fertility import compute_masses
from otalign.scoring.heads import ProjectionHead
from otalign.scoring.scorer import LinkScores
from otalign.settings import Settings

# Solvers run many small operations in a loop, which only many cells make worth starting.
BUDGET = BatchBudget(cells=1 << 17, cell_bytes=1 << 7, step=24)


class TransportInputs(NamedTuple):
    """Costs and masses of a batch. They do not depend on the parameter of the problem."""

    C: Array  # (B, N, M)
    a: Array | None  # (B, N); None without a transport problem
    b: Array | None  # (B, M)


class TransportOutput(NamedTuple):
    """Plans of a batch (B, N, M), or similarities where there is no transport problem."""

    plan: Array
    converged: Array | None = None  # (B,); None without a transport problem


@dataclass(frozen=True, eq=False)
class TransportScorer:
    """Scores links by a transport problem, after a projection of the word vectors if one was trained."""

    settings: Settings
    projection: ProjectionHead | None = None
    budget: BatchBudget = BUDGET
    reads_spelling: bool = False
    splits_paragraphs: bool = False

    def to_device(self, vectors: Array) -> "TransportScorer":
        """Return the scorer with its projection in the library, and on the device, of the vectors."""
        projection = self.projection and self.projection.to_device(vectors)
        return TransportScorer(self.settings, projection)

    def score(self, batch: PairBatch) -> LinkScores:
        """Solve the transport problems of a batch and scale their plans."""
        if self.projection:
            batch = self.projection.project(batch)
        inputs = compute_inputs(batch, self.settings)
        output = solve_batch(inputs, self.settings.problem, self.settings.solver)
        links = scale_plan(output.plan, batch)
        xp = array_namespace(links)
        return LinkScores(links, 1 - xp.max(links, axis=2), 1 - xp.max(links, axis=1), output.converged)


def compute_inputs(batch: PairBatch, settings: Settings) -> TransportInputs:
    """Compute the costs and masses of a batch."""
    C = compute_costs(batch, settings.cost, settings.distortion, settings.smoothing)
    if settings.problem is None:
        return TransportInputs(C, None, None)
    a, b = (
        compute_masses(X, is_word, settings.fertility, settings.problem)
        for X, is_word in ((batch.X, batch.is_source), (batch.Y, batch.is_target))
    )
    return TransportInputs(C, a, b)


def solve_batch(inputs: TransportInputs, problem: Problem | None, solver: Solver) -> TransportOutput:
    """Solve a transport problem of the kind that the inputs were computed for."""
    if problem is None:
        return TransportOutput(1 - inputs.C)
    if get_gpu_memory(inputs.C) is not None and not inputs.C.requires_grad:
        # A GPU is twice as fast in float32, whose precision is far below the solver's tolerance.
        inputs = TransportInputs(*(x if x is None else x.float() for x in inputs))
    transport = solve(inputs.C, inputs.a, inputs.b, problem, solver)
    return TransportOutput(transport.plan, transport.converged)


def scale_plan(plan: Array, batch: PairBatch) -> Array:
    """Scale plans (B, N, M) to [0, 1] over each pair; 0 where there is no word."""
    xp, cells = array_namespace(plan), batch.cells
    return xp.where(cells, min_max_scale(plan, cells), xp.zeros_like(plan))
