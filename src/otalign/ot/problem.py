"""The interface of a transport problem: the constraints that a plan P meets for the masses a and b.

Each problem is a module of its own (`balanced`, `partial`, `unbalanced`) with everything that is particular
to it: its parameters, its updates in the scaling loop, its reduction to POT's exact solvers, its penalty and
its gradient. The solvers treat all problems alike. A new problem is a new module, a line in `otalign.ot` and
an entry in the registry `otalign.problems`.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from otalign.arrays import Array
from otalign.ot.arithmetic import Arithmetic
from otalign.ot.updates import Updates

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Problem(ABC):
    """Base class of transport problems: frozen values that check their parameters.

    Attributes:
        needs_equal_totals: Whether both sides must have the same total mass.
        limits_marginals: Whether the masses are upper bounds of the marginals.

    Example:
        >>> from otalign.ot import Balanced, Problem, Unbalanced
        >>> isinstance(Balanced(), Problem), Balanced().needs_equal_totals, Unbalanced(0.4).needs_equal_totals
        (True, True, False)
    """

    needs_equal_totals: ClassVar[bool] = False
    limits_marginals: ClassVar[bool] = False

    @abstractmethod
    def make_updates(self, eps: float, ops: Arithmetic) -> Updates:
        """Return the updates of the scaling factors for the entropic problem.

        Args:
            eps: Weight of the entropy.
            ops: Arithmetic of the loop.
        """

    @abstractmethod
    def solve_exactly(
        self, C: np.ndarray, a: np.ndarray, b: np.ndarray, unit: float, tol: float, max_iterations: int
    ) -> tuple[np.ndarray, bool, int]:
        """Solve a single problem without entropy.

        Args:
            C: Costs (n, m).
            a: Positive masses (n,), divided by `unit`.
            b: Positive masses (m,), divided by `unit`.
            unit: Mean of the two totals before the division.
            tol: Tolerance of iterative methods.
            max_iterations: Maximum number of iterations.

        Returns:
            The plan (n, m) in the same unit, whether the solver converged, and the number of iterations (0 if
            the solver does not count them).
        """

    @abstractmethod
    def compute_mass_gradients(
        self,
        P: "Tensor",
        masses: tuple["Tensor", "Tensor"],
        duals: tuple["Tensor", "Tensor"],
        tops: tuple["Tensor", "Tensor"],
    ) -> tuple["Tensor", "Tensor"]:
        """Return the gradients with respect to a (B, n) and b (B, m).

        Args:
            P: Plans (B, n, m).
            masses: a and b.
            duals: μ and ν, the solution of the linear system in `gradient`.
            tops: Masks of the words with the highest scaling factor of their side.
        """

    def penalty(self, xp: Any, marginals: tuple[Array, Array], masses: tuple[Array, Array]) -> Array | float:
        """Return the penalty for marginals that differ from the masses, (…); 0 where they may not differ.

        Args:
            xp: Array library.
            marginals: Marginals of the plan, (…, n) and (…, m).
            masses: a (…, n) and b (…, m).
        """
        return 0.0

    def diagonal_factors(self, eps: float) -> tuple[float, float]:
        """Return ρ and σ of the linear system in `gradient`.

        Args:
            eps: Weight of the entropy.
        """
        return 1.0, 1.0


def check_stopping_rule(tol: float, max_iterations: int) -> None:
    """Raise ValueError if a solver would never stop, or not start."""
    if not 0 <= tol < 1:
        raise ValueError(f"tol must be at least 0 and below 1, got {tol}")
    if not isinstance(max_iterations, int) or max_iterations < 1:
        raise ValueError(f"max_iterations must be at least 1, got {max_iterations}")
