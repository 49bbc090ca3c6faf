"""Unbalanced transport: mass may be created or lost, at a penalty."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from otalign.arrays import Array
from otalign.ot import pot
from otalign.ot.arithmetic import Arithmetic
from otalign.ot.problem import Problem
from otalign.ot.updates import Updates

if TYPE_CHECKING:
    from torch import Tensor

Divergence = Literal["kl", "l2"]


@dataclass(frozen=True, init=False)
class Unbalanced(Problem):
    """Transport that may create or lose mass, penalised by tau_source · D(P 1, a) + tau_target · D(Pᵀ 1, b).

    Args:
        tau: Weight of the penalty of both sides.
        tau_target: Weight for the target side, if it differs.
        tau_source: Weight for the source side, instead of `tau`.
        divergence: D: `kl` is the Kullback-Leibler divergence Σ p log(p/a) − p + a; `l2` is half the squared
            distance (exact solver only).

    Raises:
        ValueError: If a weight is missing, not positive or not finite, or the divergence is unknown.

    Example:
        >>> from otalign.ot import Unbalanced
        >>> Unbalanced(0.4)
        Unbalanced(tau=0.4)
        >>> Unbalanced(tau_source=0.1, tau_target=2)
        Unbalanced(tau_source=0.1, tau_target=2.0)
    """

    tau_source: float
    tau_target: float
    divergence: Divergence = "kl"

    def __init__(
        self,
        tau: float | None = None,
        tau_target: float | None = None,
        *,
        tau_source: float | None = None,
        divergence: Divergence = "kl",
    ) -> None:
        source = tau_source if tau is None else tau
        if source is None or (tau is not None and tau_source is not None):
            raise ValueError(
                f"give tau, or tau_source with tau_target; got tau={tau}, tau_source={tau_source}"
            )
        target = source if tau_target is None else tau_target
        for name, value in (("tau_source", source), ("tau_target", target)):
            shown = "tau" if source == target else name
            if not 0 < value < math.inf:
                raise ValueError(
                    f"{shown} must be positive and finite, got {value}; for exact marginals use Balanced()"
                )
        if divergence not in ("kl", "l2"):
            raise ValueError(f"divergence must be 'kl' or 'l2', got {divergence!r}")
        # A frozen dataclass is filled through object.__setattr__.
        object.__setattr__(self, "tau_source", float(source))
        object.__setattr__(self, "tau_target", float(target))
        object.__setattr__(self, "divergence", divergence)

    def __repr__(self) -> str:
        if self.tau_source == self.tau_target:
            tau = f"tau={self.tau_source}"
        else:
            tau = f"tau_source={self.tau_source}, tau_target={self.tau_target}"
        return f"Unbalanced({tau})" if self.divergence == "kl" else f"Unbalanced({tau}, divergence='l2')"

    def make_updates(self, eps: float, ops: Arithmetic) -> Updates:
        """Return updates whose factors are raised to a power.

        Raises:
            ValueError: If the divergence is not `kl`.
        """
        if self.divergence != "kl":
            raise ValueError(
                "divergence must be 'kl' for the entropic solver, got 'l2'; use Exact() for 'l2'"
            )
        return UnbalancedUpdates(ops, eps, self.tau_source, self.tau_target)

    def solve_exactly(
        self, C: np.ndarray, a: np.ndarray, b: np.ndarray, unit: float, tol: float, max_iterations: int
    ) -> tuple[np.ndarray, bool, int]:
        """Solve a single problem by POT's majorisation-minimisation."""
        # Cost and KL divergence grow with the unit of mass, but a squared distance with its square.
        scale = unit if self.divergence == "l2" else 1.0
        tau = self.tau_source * scale, self.tau_target * scale
        return pot.run_majorisation(C, a, b, tau, self.divergence, tol, max_iterations)

    def compute_mass_gradients(
        self,
        P: "Tensor",
        masses: tuple["Tensor", "Tensor"],
        duals: tuple["Tensor", "Tensor"],
        tops: tuple["Tensor", "Tensor"],
    ) -> tuple["Tensor", "Tensor"]:
        """Return the gradients with respect to a (B, n) and b (B, m)."""
        (a, b), (mu, nu) = masses, duals
        return mu * P.sum(-1) / a.where(a > 0, 1), nu * P.sum(-2) / b.where(b > 0, 1)

    def penalty(self, xp: Any, marginals: tuple[Array, Array], masses: tuple[Array, Array]) -> Array:
        """Return the penalty for the mass that is created or lost, (…)."""
        distance = {"kl": _compute_kl, "l2": _compute_half_square}[self.divergence]
        source, target = (distance(xp, p, a) for p, a in zip(marginals, masses, strict=True))
        return self.tau_source * source + self.tau_target * target

    def diagonal_factors(self, eps: float) -> tuple[float, float]:
        """Return 1 + eps / tau of each side."""
        return 1 + eps / self.tau_source, 1 + eps / self.tau_target


@dataclass(frozen=True)
class UnbalancedUpdates(Updates):
    """Updates of factors that are raised to the powers λ and μ.

    s multiplies the masses, a by s^−q and b by s^p, so that both sides require the same total. It represents
    a shift of the dual potentials against each other, the one direction in which u and v alone converge
    slowly, the slower the larger tau is.
    """

    eps: float
    tau_source: float
    tau_target: float

    @property
    def source_power(self) -> float:
        """λ, the power of u."""
        return self.tau_source / (self.tau_source + self.eps)

    @property
    def target_power(self) -> float:
        """μ, the power of v."""
        return self.tau_target / (self.tau_target + self.eps)

    @property
    def source_share(self) -> float:
        """p, the share of the source side in the sum of both weights."""
        return self.tau_source / (self.tau_source + self.tau_target)

    @property
    def target_share(self) -> float:
        """The share of the target side, q = 1 − p."""
        return self.tau_target / (self.tau_source + self.tau_target)

    @property
    def exponents(self) -> tuple[float, float, float, float]:
        """Powers of u and v, and the shares of both sides in s."""
        return self.source_power, self.target_power, self.source_share, self.target_share

    def start(self, a: Array, b: Array) -> tuple[Array, Array, Array]:
        """Return the masses to the powers of their factors, and s = 1."""
        return a**self.source_power, b**self.target_power, self.ops.xp.ones_like(a[..., :1])

    def update_source(self, a: Array, x: Array, s: Array, u: Array) -> Array:
        """Return (a / (s^q x))^λ, of an a that was raised to λ at the start."""
        ops, q = self.ops, self.target_share
        return ops.divide(a, ops.power(ops.multiply(x, ops.power(s, q)), self.source_power))

    def update_target(self, b: Array, y: Array, s: Array, v: Array) -> Array:
        """Return (b s^p / y)^μ, of a b that was raised to μ at the start."""
        ops, p = self.ops, self.source_share
        return ops.divide(b, ops.power(ops.divide(y, ops.power(s, p)), self.target_power))

    def update_s(self, s: Array, u: Array, x: Array, v: Array, y: Array) -> Array:
        """Return s · Σux / Σvy."""
        ops = self.ops
        return ops.multiply(s, ops.divide(ops.sum(ops.multiply(u, x)), ops.sum(ops.multiply(v, y))))


def _compute_kl(xp: Any, p: Array, a: Array) -> Array:
    """Return KL(p ‖ a) = Σ p log(p/a) − p + a, (…), with 0 where a word is absent from both."""
    present = a > 0
    ratio = xp.where(present & (p > 0), p, 1) / xp.where(present & (p > 0), a, 1)
    return xp.sum(p * xp.log(ratio) - p + a, axis=-1)


def _compute_half_square(xp: Any, p: Array, a: Array) -> Array:
    return xp.sum((p - a) ** 2, axis=-1) / 2
