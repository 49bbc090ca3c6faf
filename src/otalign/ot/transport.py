"""What a solver returns: the plan, how it was reached, and what follows from it."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from otalign.arrays import array_namespace
from otalign.ot.batch import Array
from otalign.ot.problem import Problem


@dataclass(frozen=True, eq=False, repr=False)
class Transport:
    """One solved problem, or a batch of them along the leading axes (…)."""

    plan: Array  # P (…, n, m)
    converged: Array  # (…); a plain bool for a single problem
    iterations: Array  # (…); a plain int for a single problem, 0 if the solver does not count
    C: Array  # (…, n, m)
    a: Array  # (…, n)
    b: Array  # (…, m)
    problem: Problem
    eps: float  # weight of the entropy in the objective; 0 for the exact solver

    @property
    def source_marginal(self) -> Array:
        """The mass that leaves each source word, (…, n)."""
        return self._xp.sum(self.plan, axis=-1)

    @property
    def target_marginal(self) -> Array:
        """The mass that reaches each target word, (…, m)."""
        return self._xp.sum(self.plan, axis=-2)

    @property
    def mass(self) -> Array:
        """The mass moved in all, (…)."""
        return self._total(self.plan)

    @property
    def cost(self) -> Array:
        """⟨C, P⟩, (…)."""
        return self._total(self.C * self.plan)

    @property
    def objective(self) -> Array:
        """What the solver minimised, (…): cost, entropy and the price of unmet marginals."""
        xp = self._xp
        value = self.cost
        if self.eps:
            value = value + self.eps * self._total(_xlogx(xp, self.plan) - self.plan)
        if math.isfinite(self.problem.tau_source):
            distance = {"kl": _kl, "l2": _half_square}[getattr(self.problem, "divergence", "kl")]
            value = value + self.problem.tau_source * distance(xp, self.source_marginal, self.a)
            value = value + self.problem.tau_target * distance(xp, self.target_marginal, self.b)
        return value

    def reshape(self, leading: tuple[int, ...]) -> "Transport":
        """The same batch with its one axis laid out as `leading`; () for a single problem."""
        xp, (n, m) = self._xp, self.plan.shape[-2:]
        converged, iterations = (xp.reshape(x, leading) for x in (self.converged, self.iterations))
        if not leading:
            converged, iterations = bool(converged), int(iterations)
        plan, C = (xp.reshape(x, (*leading, n, m)) for x in (self.plan, self.C))
        a, b = xp.reshape(self.a, (*leading, n)), xp.reshape(self.b, (*leading, m))
        return Transport(plan, converged, iterations, C, a, b, self.problem, self.eps)

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


def _kl(xp: Any, p: Array, a: Array) -> Array:
    """KL(p ‖ a) = Σ p log(p/a) − p + a, with 0 where a word is absent from both, (…)."""
    present = a > 0
    ratio = xp.where(present & (p > 0), p, 1) / xp.where(present & (p > 0), a, 1)
    return xp.sum(p * xp.log(ratio) - p + a, axis=-1)


def _half_square(xp: Any, p: Array, a: Array) -> Array:
    return xp.sum((p - a) ** 2, axis=-1) / 2
