"""Quadratic terms of the objective, and the outer loop that solves problems with them.

A quadratic term Q(P) penalises or rewards two masses for moving together. The outer loop replaces it by its
linearisation at the current plan: it solves the problem without the term, adds the gradient of Q at the plan
to the costs, and solves again. Each solve is the scaling loop (or the exact solver), so that batches, both
domains and gradients are the same with and without a term. docs/ot.md derives the gradients.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Self

from otalign.arrays import Array, array_namespace, is_torch_array, shift_cells
from otalign.ot.batch import ProblemBatch, pad_matrices
from otalign.ot.problem import Problem
from otalign.ot.transport import Transport

if TYPE_CHECKING:
    from otalign.ot.solve import Solver

ASYMMETRY = 1e-5  # relative difference from the transpose that counts as rounding


@dataclass(frozen=True, eq=False)
class Quadratic(ABC):
    """Base class of quadratic terms: a weight, a number of steps, and matrices of each problem.

    Attributes:
        weight: Weight of the term in the objective.
        steps: Number of times the term is linearised and the problem solved again. None continues to a fixed
            point: until a step moves no more than the solver's `tol` of the mass.

    Example:
        >>> from otalign.ot import Order, Quadratic
        >>> isinstance(Order(0.1), Quadratic), Order(0.1).steps
        (True, 1)
    """

    weight: float
    steps: int | None = 1

    def __post_init__(self) -> None:
        if not 0 <= self.weight < math.inf:
            raise ValueError(f"weight must be finite and not negative, got {self.weight}")
        if self.steps is not None and (not isinstance(self.steps, int) or self.steps < 1):
            raise ValueError(f"steps must be at least 1, or None for a fixed point, got {self.steps}")

    @abstractmethod
    def differentiate(self, xp: Any, P: Array) -> Array:
        """Return the gradient of the term in the plans P (B, n, m).

        Args:
            xp: Array library.
            P: Plans.
        """

    @abstractmethod
    def list_shapes(self, n: int, m: int) -> dict[str, tuple[int, int]]:
        """Return the shapes of the matrices of an n × m problem, by field.

        Args:
            n: Number of source words.
            m: Number of target words.
        """

    @property
    def matrices(self) -> dict[str, Any]:
        """Matrices of the problems, by field: an array (…, n, m), or a list of matrices."""
        values = {name: getattr(self, name) for name in self.list_shapes(0, 0)}
        return {name: value for name, value in values.items() if value is not None}

    def map(self, convert: Callable[[Any], Any]) -> Self:
        """Return a copy whose matrices are converted.

        Args:
            convert: Function from an array (…, n, m), or a list of matrices, to another.
        """
        return replace(self, **{name: convert(value) for name, value in self.matrices.items()})

    def select(self, k: int) -> Self:
        """Return the term of problem k of a list.

        Args:
            k: Index of the problem.
        """
        return self.map(lambda listed: listed[k])

    def pad(self, indices: Sequence[int], C: Sequence[Array], batch: ProblemBatch) -> Self:
        """Return the term of a padded batch of problems of a list.

        Args:
            indices: Indices of the problems in the list.
            C: Costs of all problems.
            batch: The batch.

        Raises:
            ValueError: If a matrix does not fit its problem, which the message names.
        """
        for k in indices:
            try:
                self.select(k).check(C[k])
            except ValueError as error:
                raise ValueError(f"problem {k} of the list: {error}") from None
        shapes = self.list_shapes(*batch.C.shape[-2:])
        padded = {
            name: pad_matrices([listed[k] for k in indices], shapes[name])
            for name, listed in self.matrices.items()
        }
        return replace(self, **padded)

    def evaluate(self, P: Array) -> Array:
        """Return the value of the term, (…): half of ⟨gradient, P⟩, as for every quadratic form.

        Args:
            P: Plans (…, n, m).
        """
        xp = array_namespace(P)
        return xp.sum(self.differentiate(xp, P) * P, axis=(-2, -1)) / 2

    def check_length(self, problems: int) -> None:
        """Check that the matrices are lists for this number of problems.

        Args:
            problems: Number of problems.

        Raises:
            ValueError: If one is not.
        """
        for name, listed in self.matrices.items():
            if not isinstance(listed, list | tuple) or len(listed) != problems:
                got = f"{len(listed)}" if isinstance(listed, list | tuple) else type(listed).__name__
                raise ValueError(f"{name} must be a list of {problems} matrices, as C is, got {got}")

    def check(self, C: Array) -> None:
        """Check that the matrices belong to the problems.

        Args:
            C: Costs of the problems (…, n, m).

        Raises:
            ValueError: If a matrix has another shape, or an entry is not finite.
        """
        for name, shape in self.list_shapes(*C.shape[-2:]).items():
            value, expected = getattr(self, name), (*C.shape[:-2], *shape)
            if value is None:
                continue
            if not hasattr(value, "shape") or tuple(value.shape) != expected:
                got = tuple(value.shape) if hasattr(value, "shape") else type(value).__name__
                raise ValueError(f"{name} must be an array of shape {expected}, got {got}")
            if is_torch_array(value) != is_torch_array(C):
                raise ValueError(f"{name} must be of the library of C, got {type(value).__name__}")
            xp = array_namespace(value)
            if not bool(xp.all(xp.isfinite(value))):
                raise ValueError(f"{name} must be finite")


@dataclass(frozen=True, eq=False)
class Order(Quadratic):
    """Reward for neighbours that go to neighbours: −weight/2 · Σ sᵢⱼ Pᵢⱼ (sP)ᵢ₊₁,ⱼ₊₁ and likewise i−1, j−1.

    Args:
        weight: Weight of the reward.
        steps: Number of linearised solves after the first; None for a fixed point.
        support: Weight s of each cell, (…, n, m), or a list of matrices; 1 by default. With similarities,
            neighbours do not raise the mass of dissimilar words.

    Raises:
        ValueError: If a number is out of range.

    Example:
        >>> import numpy as np
        >>> from otalign.ot import Order, Partial, solve
        >>> C = np.array([[0.0, 0.9, 0.9], [0.9, 0.5, 0.5]])  # the second word is like both others
        >>> transport = solve(C, np.ones(2), np.ones(3), Partial(1.0), quadratic=Order(0.2))
        >>> transport.plan.round(1).tolist()
        [[1.0, 0.0, 0.0], [0.0, 0.9, 0.1]]
    """

    support: Any = None

    def list_shapes(self, n: int, m: int) -> dict[str, tuple[int, int]]:
        """Return the shape of the support."""
        return {"support": (n, m)}

    def differentiate(self, xp: Any, P: Array) -> Array:
        """Return −weight · s · (the supported mass of both neighbours on the diagonal)."""
        support = None if self.support is None else xp.astype(self.support, P.dtype, copy=False)
        mass = P if support is None else support * P
        beside = shift_cells(xp, mass, 1, 1) + shift_cells(xp, mass, -1, -1)
        return -self.weight * (beside if support is None else support * beside)


@dataclass(frozen=True, eq=False, init=False)
class Structure(Quadratic):
    """Fused Gromov–Wasserstein: weight · Σ (source_ik − target_jl)² Pᵢⱼ Pₖₗ.

    Pairs of words go to pairs of words at the same distance. With the weight α, and costs multiplied by
    1 − α, it is the objective of POT's `entropic_fused_gromov_wasserstein`.

    Args:
        source: Distances between the source words, (…, n, n), symmetric; or a list of matrices.
        target: Distances between the target words, (…, m, m).
        weight: Weight of the term.
        steps: Number of linearised solves after the first; None for a fixed point.

    Raises:
        ValueError: If a number is out of range.

    Example:
        >>> import numpy as np
        >>> from otalign.ot import Balanced, Entropic, Structure, solve
        >>> D = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]])
        >>> target = D[::-1, ::-1]  # the same shape, in reverse order
        >>> masses = np.ones(3) / 3
        >>> C = 1 - np.eye(3)[::-1] * 0.1  # costs alone hardly tell
        >>> for structure in (None, Structure(D, target, 0.5)):
        ...     plan = solve(C, masses, masses, Balanced(), Entropic(0.05), structure).plan
        ...     print((3 * np.diag(plan[::-1])).round(1).tolist())
        [0.8, 0.8, 0.8]
        [1.0, 1.0, 1.0]
    """

    source: Any = None
    target: Any = None

    def __init__(self, source: Any, target: Any, weight: float = 0.5, steps: int | None = 1) -> None:
        for field, value in zip(fields(self), (weight, steps, source, target), strict=True):
            object.__setattr__(self, field.name, value)  # a frozen dataclass is filled so
        self.__post_init__()

    def list_shapes(self, n: int, m: int) -> dict[str, tuple[int, int]]:
        """Return the shapes of the distances."""
        return {"source": (n, n), "target": (m, m)}

    def check(self, C: Array) -> None:
        """Check also that distances are symmetric."""
        super().check(C)
        for name, D in self.matrices.items():
            xp = array_namespace(D)
            if 0 not in D.shape and bool(xp.any(xp.abs(D - D.mT) > ASYMMETRY * xp.max(xp.abs(D)))):
                raise ValueError(f"{name} must be symmetric, got a matrix that differs from its transpose")

    def differentiate(self, xp: Any, P: Array) -> Array:
        """Return 2 weight · (source² P 1 1ᵀ + 1 1ᵀ P target² − 2 source P target)."""
        A, B = (xp.astype(D, P.dtype, copy=False) for D in (self.source, self.target))
        rows, columns = xp.sum(P, axis=-1, keepdims=True), xp.sum(P, axis=-2, keepdims=True)
        return 2 * self.weight * ((A * A) @ rows + columns @ (B * B) - 2 * (A @ P @ B))


def solve_linearised(batch: ProblemBatch, problem: Problem, solver: "Solver", term: Quadratic) -> Transport:
    """Solve the problems of a batch with a quadratic term.

    Args:
        batch: The problems, of one size.
        problem: Constraints on the plans.
        solver: Solver of each linearised problem.
        term: The quadratic term, with matrices for the batch.

    Returns:
        The plans. Iterations are those of all solves together. With a fixed number of steps the plans have
        converged if each solve has; otherwise they must also have reached the fixed point.
    """
    xp = batch.xp
    present = (batch.a > 0)[:, :, None] & (batch.b > 0)[:, None, :]
    transport = solver.solve(batch, problem)
    plan, converged, iterations = transport.plan, transport.converged, transport.iterations
    done = xp.zeros_like(converged)
    for _ in range(term.steps or solver.max_iterations):
        slope = term.differentiate(xp, plan)
        C = batch.C + xp.where(present, slope, xp.zeros_like(slope))
        moved = solver.solve(ProblemBatch(C, batch.a, batch.b), problem)
        iterations = iterations + xp.where(done, xp.zeros_like(iterations), moved.iterations)
        converged = xp.where(done, converged, moved.converged)
        before, plan = plan, xp.where(done[:, None, None], plan, moved.plan)
        if term.steps is None:
            change = xp.sum(xp.abs(plan - before), axis=(-2, -1))
            done = done | (change <= solver.tol * xp.sum(plan, axis=(-2, -1)))
            if bool(xp.all(done)):
                break
    if term.steps is None:
        converged = converged & done
    return Transport(plan, converged, iterations, batch.C, batch.a, batch.b, problem, transport.eps, term)
