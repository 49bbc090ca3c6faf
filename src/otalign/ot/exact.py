"""Transport without entropy, through POT (`pip install otalign[exact]`).

Balanced and partial problems go to POT's network simplex, unbalanced ones to its
majorisation-minimisation. What POT sees and what we mean differ in these points, all met here:

- POT takes one problem at a time in float64; plans come back in the caller's array type and dtype.
- Its stopping rules are absolute, so masses are brought to a mean total of one and back.
- The simplex knows balanced problems only. A partial one becomes balanced by one more word on each
  side that takes what is not moved, at no cost; between these two words nothing may pass.
- Its logs hold every iterate of a run, so majorisation-minimisation runs in short stretches.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from otalign.arrays import device
from otalign.ot.batch import ProblemBatch
from otalign.ot.problem import Balanced, Partial, Problem, Unbalanced
from otalign.ot.transport import Transport

STRETCH = 100  # iterations of majorisation-minimisation whose iterates are held at once


@dataclass(frozen=True)
class Exact:
    """The unregularised optimum. `tol` is for unbalanced problems: the plan's change in one
    iteration, relative to the masses. Nothing here is differentiable."""

    tol: float = 1e-9
    max_iterations: int = 100_000

    def __post_init__(self):
        if not 0 <= self.tol < 1:
            raise ValueError(f"tol must be at least 0 and below 1, got {self.tol}")
        if self.max_iterations < 1:
            raise ValueError(f"max_iterations must be at least 1, got {self.max_iterations}")

    def solve(self, batch: ProblemBatch, problem: Problem) -> Transport:
        xp = batch.xp
        arrays = {"C": batch.C, "a": batch.a, "b": batch.b}
        for name, x in arrays.items():
            if getattr(x, "requires_grad", False):
                raise ValueError(
                    f"{name} must not require gradients for Exact(), which has none; "
                    "detach it, or use Entropic()"
                )
        C, a, b = (np.asarray(x.cpu() if hasattr(x, "cpu") else x, np.float64) for x in arrays.values())
        answers = [self._solve_one(*one, problem) for one in zip(C, a, b, strict=True)]
        plan, converged, iterations = (np.array(column) for column in zip(*answers, strict=True))
        at = device(batch.C)
        return Transport(
            xp.asarray(plan, dtype=batch.C.dtype, device=at),
            xp.asarray(converged, device=at),
            xp.asarray(iterations, device=at),
            batch.C,
            batch.a,
            batch.b,
            problem,
            0.0,
        )

    def _solve_one(self, C, a, b, problem: Problem) -> tuple[np.ndarray, bool, int]:
        plan = np.zeros_like(C)
        present = np.ix_(a > 0, b > 0)
        if 0 in C[present].shape:
            return plan, True, 0
        unit = (a.sum() + b.sum()) / 2
        moved, converged, iterations = self._solve_unit(
            C[present], a[a > 0] / unit, b[b > 0] / unit, unit, problem
        )
        plan[present] = moved * unit
        return plan, converged, iterations

    def _solve_unit(self, C, a, b, unit: float, problem: Problem) -> tuple[np.ndarray, bool, int]:
        """The plan for masses that were divided by `unit`."""
        match problem:
            case Balanced():
                return *self._simplex(C, a, b), 0
            case Partial(fraction):
                plan, converged = self._simplex(*_with_outside(C, a, b, fraction))
                return plan[:-1, :-1], converged, 0
            case Unbalanced(tau_source=tau_source, tau_target=tau_target, divergence="kl"):
                return self._majorise(C, a, b, (tau_source, tau_target), "kl")
            case Unbalanced(tau_source=tau_source, tau_target=tau_target, divergence="l2"):
                # All else grows with the unit, a squared distance with its square.
                return self._majorise(C, a, b, (tau_source * unit, tau_target * unit), "l2")
        raise TypeError(f"problem must be Balanced, Partial or Unbalanced, got {problem!r}")

    def _simplex(self, C, a, b) -> tuple[np.ndarray, bool]:
        with warnings.catch_warnings():  # the log says the same, and we pass it on
            warnings.simplefilter("ignore")
            plan, log = _pot().emd(a, b, C, numItermax=self.max_iterations, log=True)
        return plan, log["warning"] is None

    def _majorise(self, C, a, b, tau: tuple[float, float], divergence: str) -> tuple[np.ndarray, bool, int]:
        minimise, plan, done, change = _pot().unbalanced.mm_unbalanced, None, 0, np.inf
        while change >= self.tol and done < self.max_iterations:
            steps = min(STRETCH, self.max_iterations - done)
            plan, log = minimise(
                a, b, C, tau, div=divergence, G0=plan, numItermax=steps, stopThr=self.tol, log=True
            )
            done += len(log["err"])
            change = log["err"][-1]
        assert plan is not None  # max_iterations is at least 1
        return plan, bool(change < self.tol), done


def _with_outside(C, a, b, fraction: float):
    """The balanced problem whose last word on each side takes what a partial one leaves."""
    moved = fraction * min(a.sum(), b.sum())
    C = np.pad(C, (0, 1))
    C[-1, -1] = 1 + C.max()  # any price above zero keeps the two apart
    return C, np.append(a, b.sum() - moved), np.append(b, a.sum() - moved)


def _pot() -> Any:
    try:
        import ot
    except ImportError as error:
        raise ImportError("Exact() needs POT: pip install 'otalign[exact]'") from error
    return ot
