"""Balanced transport: all mass is moved."""

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
class Balanced(Problem):
    """Transport of all mass: P 1 = a and Pᵀ 1 = b, so both sides must have the same total.

    Example:
        >>> import numpy as np
        >>> from otalign.ot import Balanced, solve
        >>> C = np.array([[0.0, 1.0], [1.0, 0.0]])
        >>> solve(C, np.ones(2), np.ones(2), Balanced()).plan.round(2).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """

    needs_equal_totals: ClassVar[bool] = True

    def make_updates(self, eps: float, ops: Arithmetic) -> Updates:
        """Return Sinkhorn's updates."""
        return BalancedUpdates(ops)

    def solve_exactly(
        self, C: np.ndarray, a: np.ndarray, b: np.ndarray, unit: float, tol: float, max_iterations: int
    ) -> tuple[np.ndarray, bool, int]:
        """Solve a single problem by POT's network simplex."""
        return *pot.run_network_simplex(C, a, b, max_iterations), 0

    def compute_mass_gradients(
        self,
        P: "Tensor",
        masses: tuple["Tensor", "Tensor"],
        duals: tuple["Tensor", "Tensor"],
        tops: tuple["Tensor", "Tensor"],
    ) -> tuple["Tensor", "Tensor"]:
        """Return the gradients with respect to a (B, n) and b (B, m)."""
        # Both sides are scaled to the mean of their totals, so each mass also moves the other side.
        (a, b), (mu, nu) = masses, duals
        shift = ((mu * a).sum(-1) - (nu * b).sum(-1)) / (a.sum(-1) + b.sum(-1)).clamp(min=1e-300)
        return mu - shift[:, None], nu + shift[:, None]


@dataclass(frozen=True)
class BalancedUpdates(Updates):
    """Sinkhorn's updates: u = a / x and v = b / y."""

    def start(self, a: Array, b: Array) -> tuple[Array, Array, Array]:
        """Scale both sides to the mean of their totals, which is s."""
        # Totals that differ in the last digits would let u and v drift apart forever.
        total_a, total_b = self.sum_masses(a), self.sum_masses(b)
        middle = (total_a + total_b) / 2
        return a * (middle / total_a), b * (middle / total_b), middle

    def update_source(self, a: Array, x: Array, s: Array, u: Array) -> Array:
        """Return a / x."""
        return self.ops.divide(a, x)

    def update_target(self, b: Array, y: Array, s: Array, v: Array) -> Array:
        """Return b / y."""
        return self.ops.divide(b, y)
