"""The transport problems: what a plan P may do with the masses a and b.

Each is a value that checks itself; a solver reads it and decides how.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

Divergence = Literal["kl", "l2"]


@dataclass(frozen=True)
class Balanced:
    """All mass is moved: P 1 = a and Pᵀ 1 = b, so both sides must hold the same total."""

    needs_equal_totals: ClassVar[bool] = True
    limits_marginals: ClassVar[bool] = False
    tau_source: ClassVar[float] = math.inf  # penalty of a marginal that differs from the mass
    tau_target: ClassVar[float] = math.inf


@dataclass(frozen=True)
class Partial:
    """Only part of the mass is moved: P 1 ≤ a, Pᵀ 1 ≤ b, and P holds fraction · min(Σa, Σb)."""

    fraction: float

    needs_equal_totals: ClassVar[bool] = False
    limits_marginals: ClassVar[bool] = True  # the marginals are at most the masses
    tau_source: ClassVar[float] = math.inf
    tau_target: ClassVar[float] = math.inf

    def __post_init__(self):
        if not 0 < self.fraction <= 1:
            raise ValueError(
                f"fraction must be above 0 and at most 1, got {self.fraction}; "
                "it is the share of the smaller side's mass that is moved"
            )


@dataclass(frozen=True, init=False)
class Unbalanced:
    """Mass may be made or lost, at the price tau_source · D(P 1, a) + tau_target · D(Pᵀ 1, b).

    `Unbalanced(tau)` prices both sides alike. D is the Kullback-Leibler divergence
    Σ p log(p/a) − p + a, or with "l2" half the squared distance (exact solver only).
    """

    tau_source: float
    tau_target: float
    divergence: Divergence = "kl"

    needs_equal_totals: ClassVar[bool] = False
    limits_marginals: ClassVar[bool] = False

    def __init__(
        self,
        tau: float | None = None,
        tau_target: float | None = None,
        *,
        tau_source: float | None = None,
        divergence: Divergence = "kl",
    ):
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


Problem = Balanced | Partial | Unbalanced
