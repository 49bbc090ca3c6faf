"""Partial transport: a fraction of the smaller side's mass is moved."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from otalign.arrays import Array
from otalign.ot import pot
from otalign.ot.arithmetic import Arithmetic
from otalign.ot.problem import Problem
from otalign.ot.updates import Updates

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Partial(Problem):
    """Transport of part of the mass: P 1 ≤ a, Pᵀ 1 ≤ b, and P moves fraction · min(Σa, Σb).

    Args:
        fraction: Share of the smaller side's mass that is moved, above 0 and at most 1.

    Raises:
        ValueError: If the fraction is out of range.

    Example:
        >>> import numpy as np
        >>> from otalign.ot import Partial, solve
        >>> C = np.array([[0.0, 1.0], [1.0, 0.0], [0.8, 0.8]])
        >>> round(float(solve(C, np.ones(3), np.ones(2), Partial(0.5)).mass), 3)
        1.0
    """

    fraction: float

    limits_marginals: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 < self.fraction <= 1:
            raise ValueError(
                f"fraction must be above 0 and at most 1, got {self.fraction}; "
                "it is the share of the smaller side's mass that is moved"
            )

    def make_updates(self, eps: float, ops: Arithmetic) -> Updates:
        """Return updates that move the fraction of the mass."""
        return PartialUpdates(ops, self.fraction)

    def solve_exactly(
        self, C: np.ndarray, a: np.ndarray, b: np.ndarray, unit: float, tol: float, max_iterations: int
    ) -> tuple[np.ndarray, bool, int]:
        """Solve a single problem by POT's network simplex, with one more word on each side."""
        # The simplex solves balanced problems only, so one more word on each side takes what is not moved, at
        # no cost. A positive cost between these two words keeps mass from passing between them.
        moved = self.fraction * min(a.sum(), b.sum())
        C = np.pad(C, (0, 1))
        C[-1, -1] = 1 + np.abs(C).max()
        a, b = np.append(a, b.sum() - moved), np.append(b, a.sum() - moved)
        plan, converged = pot.run_network_simplex(C, a, b, max_iterations)
        return plan[:-1, :-1], converged, 0

    def compute_mass_gradients(
        self,
        P: "Tensor",
        masses: tuple["Tensor", "Tensor"],
        duals: tuple["Tensor", "Tensor"],
        tops: tuple["Tensor", "Tensor"],
    ) -> tuple["Tensor", "Tensor"]:
        """Return the gradients with respect to a (B, n) and b (B, m)."""
        (a, b), (mu, nu) = masses, duals
        level_mu, level_nu = (
            x.gather(-1, top.char().argmax(-1, keepdim=True)) for x, top in zip(duals, tops, strict=True)
        )
        # The mass to move follows the smaller side, and both where they are equal.
        total_a, total_b = a.sum(-1, keepdim=True), b.sum(-1, keepdim=True)
        follows_a = (total_b - total_a).heaviside(total_a.new_full(total_a.shape, 0.5))
        moved = self.fraction * (level_mu + level_nu)
        return mu - level_mu + follows_a * moved, nu - level_nu + (1 - follows_a) * moved


@dataclass(frozen=True)
class PartialUpdates(Updates):
    """Balanced updates in which a side is filled only up to a level: min(a, level · x) leaves each word.

    s is the mass to move. u is counted in levels, so that v alone carries the plan's scale and rounding
    cannot make the two drift apart.
    """

    fraction: float

    def start(self, a: Array, b: Array) -> tuple[Array, Array, Array]:
        """Return the masses unchanged, and the mass to move as s."""
        return a, b, self.fraction * self.ops.xp.minimum(self.sum_masses(a), self.sum_masses(b))

    def update_source(self, a: Array, x: Array, s: Array, u: Array) -> Array:
        """Return min(a / (level · x), 1)."""
        ops = self.ops
        return ops.divide(a, ops.multiply(self._find_level(a, x, s, u), x)).clip(max=ops.one)

    def update_target(self, b: Array, y: Array, s: Array, v: Array) -> Array:
        """Return min(b / y, level)."""
        return self.ops.xp.minimum(self.ops.divide(b, y), self._find_level(b, y, s, v))

    def compute_shortfall(self, s: Array, total: Array) -> Array:
        """Return s less the total moved so far."""
        return self.ops.as_plain(s) - total

    def _find_level(self, a: Array, x: Array, s: Array, u: Array) -> Array:
        """Return the level (B, 1, 1) at which Σ min(a, level · x) = s, or a Newton step towards it.

        If the full words were known, it would be (s − Σ_full a) / Σ_open x. The words that were full before,
        whose factor u is not the highest, are used instead: the level is then too low by the words that have
        become full since, and right once the loop has converged.
        """
        ops, xp = self.ops, self.ops.xp
        full = xp.astype(u < xp.max(u, axis=-1, keepdims=True), a.dtype).mT
        mass = ops.as_plain(s)
        rest = mass - ops.as_plain(a) @ full
        rest = xp.maximum(rest, mass * float(xp.finfo(a.dtype).eps))  # rounding may make it negative
        return ops.divide(ops.represent(rest), ops.vecmat(x, ops.represent(1 - full)))
