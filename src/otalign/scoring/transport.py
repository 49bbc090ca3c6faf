"""Scores from optimal transport: plans scaled to [0, 1] over each pair, in which phrases are then completed.

A plan says how much mass two words share, not how likely their link is. So the strongest link of a pair
always scores 1, and the score of a null is 1 minus the score of the word's strongest link.
"""

from dataclasses import dataclass
from typing import NamedTuple

from otalign.arrays import Array, array_namespace, get_gpu_memory, shift_cells
from otalign.ot import Order, Problem, Quadratic, Solver, Transport, solve
from otalign.scoring.batches import BatchBudget, PairBatch
from otalign.scoring.cost import compute_costs, min_max_scale
from otalign.scoring.fertility import compute_masses
from otalign.scoring.heads import ProjectionHead
from otalign.scoring.scorer import LinkScores
from otalign.settings import Settings

# Solvers run many small operations in a loop, which only many cells make worth starting.
BUDGET = BatchBudget(cells=1 << 17, cell_bytes=1 << 7, step=24)


class TransportInputs(NamedTuple):
    """Costs, masses and quadratic term of a batch. They do not depend on the parameter of the problem."""

    C: Array  # (B, N, M)
    a: Array | None = None  # (B, N); None without a transport problem
    b: Array | None = None  # (B, M)
    quadratic: Quadratic | None = None


class TransportOutput(NamedTuple):
    """Scores of the links of a batch (B, N, M), and whether each problem converged."""

    links: Array
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
        links, converged = score_links(inputs, batch, self.settings)
        xp = array_namespace(links)
        return LinkScores(links, 1 - xp.max(links, axis=2), 1 - xp.max(links, axis=1), converged)


def compute_inputs(batch: PairBatch, settings: Settings) -> TransportInputs:
    """Compute the costs and masses of a batch."""
    C = compute_costs(batch, settings.cost, settings.distortion, settings.smoothing)
    if settings.problem is None:
        return TransportInputs(C)
    a, b = (
        compute_masses(X, is_word, settings.fertility, settings.problem)
        for X, is_word in ((batch.X, batch.is_source), (batch.Y, batch.is_target))
    )
    # Words that are not alike, and padding, get no support: their similarity is 0.
    return TransportInputs(C, a, b, Order(settings.order, support=1 - C) if settings.order else None)


def score_links(inputs: TransportInputs, batch: PairBatch, settings: Settings) -> TransportOutput:
    """Solve the transport problem, scale its plans, and complete phrases.

    Args:
        inputs: Costs and masses that were computed for these settings; tau or fraction may be another.
        batch: The batch.
        settings: Problem, solver and completion.
    """
    if settings.problem is None:
        plan, converged = 1 - inputs.C, None
    else:
        transport = _solve(inputs, settings.problem, settings.solver)
        plan, converged = transport.plan, transport.converged
    links = scale_plan(plan, batch)
    if settings.completion:
        links = complete_phrases(links, 1 - inputs.C, settings.completion)
    return TransportOutput(links, converged)


def _solve(inputs: TransportInputs, problem: Problem, solver: Solver) -> Transport:
    C, a, b, quadratic = inputs
    if get_gpu_memory(C) is not None and not C.requires_grad:
        # A GPU is twice as fast in float32, whose precision is far below the solver's tolerance.
        C, a, b = (x if x is None else x.float() for x in (C, a, b))
    return solve(C, a, b, problem, solver, quadratic)


def scale_plan(plan: Array, batch: PairBatch) -> Array:
    """Scale plans (B, N, M) to [0, 1] over each pair; 0 where there is no word."""
    xp, cells = array_namespace(plan), batch.cells
    return xp.where(cells, min_max_scale(plan, cells), xp.zeros_like(plan))


def complete_phrases(links: Array, similarity: Array, weight: float) -> Array:
    """Let words that are still free join the links of their neighbours, (B, N, M).

    A word is free as far as its strongest link is below 1. It takes over the score of its neighbour's link
    in proportion to this, to the weight, and to its own similarity with the linked word. Scores stay in
    [0, 1].

    Args:
        links: Scores of links (B, N, M), 0 where there is no word.
        similarity: Similarities (B, N, M), from 0 to 1, and 0 where there is no word.
        weight: Weight of what is added.
    """
    xp = array_namespace(links)
    added = xp.zeros_like(links)
    for axis, rows, columns in (
        (2, 1, 0),
        (1, 0, 1),
    ):  # source words join links above and below, target beside
        free = 1 - xp.max(links, axis=axis, keepdims=True)
        before, after = shift_cells(xp, links, rows, columns), shift_cells(xp, links, -rows, -columns)
        added = added + free * xp.maximum(before, after)
    return xp.clip(links + weight * xp.astype(similarity, links.dtype, copy=False) * added, max=1.0)
