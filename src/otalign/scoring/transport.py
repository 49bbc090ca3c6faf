"""Scores from optimal transport: plans scaled to [0, 1] over each pair, in which phrases are then completed.

A plan says how much mass two words share, not how likely their link is. Unless scores depend on mutuality,
the strongest link of a pair therefore always scores 1. The score of a null is 1 minus the score of the word's
strongest link.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from otalign.arrays import Array, array_namespace, device, get_gpu_memory
from otalign.ot import Order, Problem, Quadratic, Solver, Structure, Transport, solve
from otalign.scoring.batches import BatchBudget, PairBatch, PairRows
from otalign.scoring.completion import SpanCosines, complete_phrases, compute_span_cosines
from otalign.scoring.cost import compute_costs, min_max_scale
from otalign.scoring.fertility import compute_masses
from otalign.scoring.heads import ProjectionHead
from otalign.scoring.mutuality import scale_by_mutuality
from otalign.scoring.scorer import LinkScores
from otalign.settings import Settings
from otalign.text.spelling import LENGTHS, WordFeatures

# Solvers run many small operations in a loop, whose overhead pays off only with many cells.
BUDGET = BatchBudget(cells=1 << 17, cell_bytes=1 << 7, step=24)
REACH = 5  # words further apart count as this far apart: a phrase that moves as a whole keeps its structure


class TransportInputs(NamedTuple):
    """Costs, masses, quadratic term and cosines of a batch, whatever the parameter of the problem."""

    C: Array  # (B, N, M)
    a: Array | None = None  # (B, N); None without a transport problem
    b: Array | None = None  # (B, M)
    quadratic: Quadratic | None = None
    cosines: SpanCosines | None = None  # for completion and mutuality


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
    splits_paragraphs: bool = False

    @property
    def word_features(self) -> WordFeatures | None:
        """The lengths of words, if masses depend on them."""
        return LENGTHS if self.settings.fertility == "length" else None

    def to_device(self, vectors: Array) -> "TransportScorer":
        """Return the scorer with its projection in the library, and on the device, of the vectors."""
        projection = self.projection and self.projection.to_device(vectors)
        return TransportScorer(self.settings, projection)

    def score(self, batch: PairBatch) -> LinkScores:
        """Solve the transport problems of a batch and scale their plans."""
        lengths = None
        if self.word_features:
            lengths = batch.X[..., -1], batch.Y[..., -1]
            batch = batch._replace(X=batch.X[..., :-1], Y=batch.Y[..., :-1])
        if self.projection:
            batch = self.projection.project(batch)
        inputs = compute_inputs(batch, self.settings, lengths)
        links, converged = score_links(inputs, batch, self.settings)
        xp = array_namespace(links)
        return LinkScores(links, 1 - xp.max(links, axis=2), 1 - xp.max(links, axis=1), converged)

    def score_rows(self, rows: PairRows) -> LinkScores:
        """Score all links and nulls of a batch, given as rows of embeddings."""
        return self.score(rows.pad())


def compute_inputs(
    batch: PairBatch, settings: Settings, lengths: tuple[Array, Array] | None = None
) -> TransportInputs:
    """Compute the costs, masses and cosines of a batch.

    Args:
        batch: The batch.
        settings: Settings of the transport.
        lengths: Numbers of letters of the words (B, N) and (B, M), if masses depend on them.
    """
    C = compute_costs(batch, settings.cost, settings.distortion, settings.smoothing)
    cosines = compute_span_cosines(batch) if settings.completion or settings.mutuality else None
    if settings.problem is None:
        return TransportInputs(C, cosines=cosines)
    sides = zip((batch.X, batch.Y), (batch.is_source, batch.is_target), lengths or (None, None), strict=True)
    a, b = (compute_masses(*side, settings.fertility, settings.problem) for side in sides)
    return TransportInputs(C, a, b, build_quadratic(batch, C, a, b, settings), cosines)


def build_quadratic(batch: PairBatch, C: Array, a: Array, b: Array, settings: Settings) -> Quadratic | None:
    """Build the quadratic term of a batch, from similarities (order) or positions (structure).

    Weights apply to masses of 1 per word (order) and of 1 per sentence (structure), whatever the fertility.
    """
    if not (settings.order or settings.structure):
        return None
    xp = array_namespace(C)
    mass, words = (
        xp.minimum(xp.sum(xp.astype(x, xp.float64), axis=-1), xp.sum(xp.astype(y, xp.float64), axis=-1))
        for x, y in ((a, b), (batch.is_source, batch.is_target))
    )
    unit = xp.sqrt(xp.where(mass > 0, mass, 1.0))[:, None, None]
    if settings.order:  # cells without words have cost 1, and so no support
        return Order(settings.order, support=(1 - C) * xp.sqrt(words)[:, None, None] / unit)
    return Structure(*(compute_distances(xp, side) / unit for side in (C.mT, C)), weight=settings.structure)


def compute_distances(xp: Any, words: Array) -> Array:
    """Compute the distances of the positions of words, for an array whose last axis is that of the words.

    Returns:
        Distances (N, N): the words between two positions as a share of `REACH`, at most 1.
    """
    positions = xp.arange(words.shape[-1], dtype=xp.float64, device=device(words))
    return xp.clip(xp.abs(positions[:, None] - positions) / REACH, max=1.0)


def score_links(inputs: TransportInputs, batch: PairBatch, settings: Settings) -> TransportOutput:
    """Solve the transport problem, scale its plans, and complete phrases.

    Args:
        inputs: What was computed for these settings; tau or fraction may be another.
        batch: The batch.
        settings: Problem, solver, mutuality and completion.
    """
    if settings.problem is None:
        plan, converged = 1 - inputs.C, None
    else:
        transport = _solve(inputs, settings.problem, settings.solver)
        plan, converged = transport.plan, transport.converged
    links = scale_plan(plan, batch)
    if inputs.cosines is not None:
        if settings.mutuality:
            links = scale_by_mutuality(links, inputs.cosines.source[0], batch, settings.mutuality)
        if settings.completion:
            masses = None if inputs.a is None else (inputs.a, inputs.b)
            links = complete_phrases(links, 1 - inputs.C, inputs.cosines, masses, settings.completion)
    return TransportOutput(links, converged)


def _solve(inputs: TransportInputs, problem: Problem, solver: Solver) -> Transport:
    C, a, b, quadratic, _ = inputs
    if get_gpu_memory(C) is not None and not C.requires_grad:
        # A GPU is twice as fast in float32, whose precision is far below the solver's tolerance.
        C, a, b = (x if x is None else x.float() for x in (C, a, b))
    return solve(C, a, b, problem, solver, quadratic)


def scale_plan(plan: Array, batch: PairBatch) -> Array:
    """Scale plans (B, N, M) to [0, 1] over each pair; 0 where there is no word."""
    xp, cells = array_namespace(plan), batch.cells
    return xp.where(cells, min_max_scale(plan, cells), xp.zeros_like(plan))
