"""The exact solvers of POT (`pip install 'otalign[exact]'`), for one NumPy problem at a time."""

import warnings
from typing import Any

import numpy as np

# Iterations of majorisation-minimisation in one call: POT's log keeps every iterate of a call in memory.
ITERATIONS_PER_CALL = 100


def run_network_simplex(
    C: np.ndarray, a: np.ndarray, b: np.ndarray, max_iterations: int
) -> tuple[np.ndarray, bool]:
    """Solve a balanced problem; return the plan, and whether the simplex finished."""
    with warnings.catch_warnings():  # the log has the same warning, and we pass it on
        warnings.simplefilter("ignore")
        plan, log = _import_pot().emd(a, b, C, numItermax=max_iterations, log=True)
    return plan, log["warning"] is None


def run_majorisation(
    C: np.ndarray,
    a: np.ndarray,
    b: np.ndarray,
    tau: tuple[float, float],
    divergence: str,
    tol: float,
    max_iterations: int,
) -> tuple[np.ndarray, bool, int]:
    """Solve an unbalanced problem; return the plan, whether it converged, and the number of iterations."""
    minimise, plan, iterations, change = _import_pot().unbalanced.mm_unbalanced, None, 0, np.inf
    while change >= tol and iterations < max_iterations:
        steps = min(ITERATIONS_PER_CALL, max_iterations - iterations)
        plan, log = minimise(a, b, C, tau, div=divergence, G0=plan, numItermax=steps, stopThr=tol, log=True)
        iterations += len(log["err"])
        change = log["err"][-1]
    assert plan is not None  # max_iterations is at least 1
    return plan, bool(change < tol), iterations


def _import_pot() -> Any:
    try:
        import ot
    except ImportError as error:
        raise ImportError("Exact() needs POT: pip install 'otalign[exact]'") from error
    return ot
