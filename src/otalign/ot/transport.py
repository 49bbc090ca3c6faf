"""The result of a solver: the plan, its convergence, and what can be computed from them."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from otalign.arrays import Array, array_namespace
from otalign.ot.problem import Problem

if TYPE_CHECKING:
    from otalign.ot.quadratic import Quadratic


@dataclass(frozen=True, eq=False, repr=False)
class Transport:
    """A solved problem, or a batch of them along the leading axes (…).

    Attributes:
        plan: Mass moved between each two words, (…, n, m).
        converged: Whether the solver converged, (…); a bool for a single problem.
        iterations: Number of iterations, (…); an int for a single problem, 0 if the solver does not count.
        C: Costs (…, n, m).
        a: Masses of the source words (…, n).
        b: Masses of the target words (…, m).
        problem: The transport problem.
        eps: Weight of the entropy in the objective; 0 for the exact solver.
        quadratic: The quadratic term, if there was one.

    Example:
        >>> import numpy as np
        >>> from otalign.ot import Unbalanced, solve
        >>> transport = solve(np.array([[0.0, 0.9], [0.9, 0.9]]), np.ones(2), np.ones(2), Unbalanced(0.2))
        >>> transport.source_marginal.round(1).tolist()  # the second word loses most of its mass
        [1.0, 0.2]
    """

    plan: Array
    converged: Array
    iterations: Array
    C: Array
    a: Array
    b: Array
    problem: Problem
    eps: float
    quadratic: "Quadratic | None" = None

    @property
    def source_marginal(self) -> Array:
        """Mass that leaves each source word, (…, n)."""
        return self._xp.sum(self.plan, axis=-1)

    @property
    def target_marginal(self) -> Array:
        """Mass that reaches each target word, (…, m)."""
        return self._xp.sum(self.plan, axis=-2)

    @property
    def mass(self) -> Array:
        """Total mass moved, (…)."""
        return self._total(self.plan)

    @property
    def cost(self) -> Array:
        """Transport cost ⟨C, P⟩, (…)."""
        return self._total(self.C * self.plan)

    @property
    def objective(self) -> Array:
        """Objective of the solver, (…): cost, entropy, the problem's penalty and the quadratic term."""
        xp = self._xp
        value = self.cost
        if self.eps:
            value = value + self.eps * self._total(_xlogx(xp, self.plan) - self.plan)
        if self.quadratic:
            value = value + self.quadratic.evaluate(self.plan)
        marginals = self.source_marginal, self.target_marginal
        return value + self.problem.penalty(xp, marginals, (self.a, self.b))

    def reshape(self, leading: tuple[int, ...]) -> "Transport":
        """Return the batch with other leading axes; () makes a single problem of a batch of one.

        Args:
            leading: The leading axes, whose product is the size of the batch.
        """
        xp, (n, m) = self._xp, self.plan.shape[-2:]
        converged, iterations = (xp.reshape(x, leading) for x in (self.converged, self.iterations))
        if not leading:
            converged, iterations = bool(converged), int(iterations)
        plan, C = (xp.reshape(x, (*leading, n, m)) for x in (self.plan, self.C))
        a, b = xp.reshape(self.a, (*leading, n)), xp.reshape(self.b, (*leading, m))
        quadratic = self.quadratic and self.quadratic.map(lambda D: xp.reshape(D, (*leading, *D.shape[-2:])))
        return Transport(plan, converged, iterations, C, a, b, self.problem, self.eps, quadratic)

    def __repr__(self) -> str:
        *batch, n, m = self.plan.shape
        if not batch:
            state = "converged" if self.converged else "not converged"
            return f"Transport({n}×{m}, {self.problem}, {state}, {self.iterations} iterations)"
        count, converged = math.prod(batch), np.count_nonzero(self.converged.tolist())
        return f"Transport({count} of {n}×{m}, {self.problem}, {converged} converged)"

    @cached_property
    def _xp(self) -> Any:
        return array_namespace(self.plan)

    def _total(self, X: Array) -> Array:
        return self._xp.sum(X, axis=(-2, -1))


def _xlogx(xp: Any, x: Array) -> Array:
    return x * xp.log(xp.where(x > 0, x, 1))
