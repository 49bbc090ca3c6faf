"""Transport without entropy, through POT (`pip install 'otalign[exact]'`).

Balanced and partial problems are solved by POT's network simplex, unbalanced ones by its
majorisation-minimisation; each problem reduces itself to one of them (`Problem.solve_exactly`). Two
differences from POT are handled here: POT solves one problem at a time in float64, whereas plans are returned
in the caller's array type and dtype; and its stopping rules are absolute, so masses are scaled to a mean
total of one and back.
"""

from dataclasses import dataclass

import numpy as np

from otalign.arrays import device
from otalign.ot.batch import ProblemBatch
from otalign.ot.problem import Problem, check_stopping_rule
from otalign.ot.transport import Transport


@dataclass(frozen=True)
class Exact:
    """Solver for the optimum without entropy. It has no gradients.

    Args:
        tol: Tolerance for unbalanced problems: change of the plan in one iteration, relative to the masses.
        max_iterations: Maximum number of iterations.

    Raises:
        ValueError: If an argument is out of range.

    Example:
        >>> import numpy as np
        >>> from otalign.ot import Exact, Partial, solve
        >>> C = np.array([[0.0, 1.0], [1.0, 0.2]])
        >>> solve(C, np.ones(2), np.ones(2), Partial(0.5), Exact()).plan.tolist()
        [[1.0, 0.0], [0.0, 0.0]]
    """

    tol: float = 1e-9
    max_iterations: int = 100_000

    def __post_init__(self) -> None:
        check_stopping_rule(self.tol, self.max_iterations)

    def solve(self, batch: ProblemBatch, problem: Problem) -> Transport:
        """Solve every problem of a batch.

        Args:
            batch: The problems, of one size.
            problem: Constraints on the plans.

        Returns:
            The plans.

        Raises:
            ValueError: If an array requires gradients.
            ImportError: If POT is not installed.
        """
        xp = batch.xp
        arrays = {"C": batch.C, "a": batch.a, "b": batch.b}
        for name, x in arrays.items():
            if getattr(x, "requires_grad", False):
                raise ValueError(
                    f"{name} must not require gradients for Exact(), which has none; "
                    "detach it, or use Entropic()"
                )
        C, a, b = (np.asarray(x.cpu() if hasattr(x, "cpu") else x, np.float64) for x in arrays.values())
        solutions = [
            self._solve_single(C_k, a_k, b_k, problem) for C_k, a_k, b_k in zip(C, a, b, strict=True)
        ]
        plan, converged, iterations = (np.array(column) for column in zip(*solutions, strict=True))
        batch_device = device(batch.C)
        return Transport(
            xp.asarray(plan, dtype=batch.C.dtype, device=batch_device),
            xp.asarray(converged, device=batch_device),
            xp.asarray(iterations, device=batch_device),
            batch.C,
            batch.a,
            batch.b,
            problem,
            0.0,
        )

    def _solve_single(
        self, C: np.ndarray, a: np.ndarray, b: np.ndarray, problem: Problem
    ) -> tuple[np.ndarray, bool, int]:
        plan = np.zeros_like(C)
        present = np.ix_(a > 0, b > 0)
        if 0 in C[present].shape:
            return plan, True, 0
        unit = (a.sum() + b.sum()) / 2
        scaled, converged, iterations = problem.solve_exactly(
            C[present], a[a > 0] / unit, b[b > 0] / unit, unit, self.tol, self.max_iterations
        )
        plan[present] = scaled * unit
        return plan, converged, iterations
