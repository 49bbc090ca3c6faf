"""The three problems as updates of the scaling factors: the rows of the table in scaling.py.

An update sees x = K v or y = Kᵀ u, held by an `Arithmetic`, and gives the factor that is best
while the others stand still. Beside u and v each problem keeps one number s of its own. The
derivations are in docs/ot.md.
"""

from dataclasses import dataclass
from typing import Protocol

from otalign.ot.arithmetic import Arithmetic
from otalign.ot.batch import Array
from otalign.ot.problem import Balanced, Partial, Problem, Unbalanced


class Updates(Protocol):
    @property
    def of(self) -> Arithmetic: ...

    def start(self, a: Array, b: Array) -> tuple[Array, Array, Array]:
        """a (B, 1, n) and b (B, 1, m) as the updates want them, and the first s; plain numbers."""
        ...

    def source(self, a: Array, x: Array, s: Array, u: Array) -> Array:
        """The next u; `u` is the one before."""
        ...

    def target(self, b: Array, y: Array, s: Array, v: Array) -> Array: ...

    def next_s(self, s: Array, u: Array, x: Array, v: Array, y: Array) -> Array:
        """x and y are those that u and v were made from."""
        ...

    def missing(self, s: Array, total: Array) -> Array | float:
        """How much less is moved than is to be, both (B, 1, 1)."""
        ...


def updates(problem: Problem, eps: float, of: Arithmetic) -> Updates:
    match problem:
        case Balanced():
            return BalancedUpdates(of)
        case Partial(fraction):
            return PartialUpdates(of, fraction)
        case Unbalanced(tau_source=tau_source, tau_target=tau_target, divergence="kl"):
            return UnbalancedUpdates(of, eps, tau_source, tau_target)
        case Unbalanced():
            raise ValueError(
                "divergence must be 'kl' for the entropic solver, got 'l2'; use Exact() for 'l2'"
            )
    raise TypeError(f"problem must be Balanced, Partial or Unbalanced, got {problem!r}")


@dataclass(frozen=True)
class BalancedUpdates:
    of: Arithmetic

    def start(self, a, b):
        # Totals that differ in the last digits would let u and v drift apart for ever.
        total_a, total_b = self._sum(a), self._sum(b)
        middle = (total_a + total_b) / 2
        return a * (middle / total_a), b * (middle / total_b), middle

    def source(self, a, x, s, u):
        return self.of.over(a, x)

    def target(self, b, y, s, v):
        return self.source(b, y, s, v)

    def next_s(self, s, u, x, v, y):
        return s

    def missing(self, s, total):
        return 0.0

    def _sum(self, x: Array) -> Array:
        return self.of.xp.sum(x, axis=-1, keepdims=True)


@dataclass(frozen=True)
class PartialUpdates(BalancedUpdates):
    """As if balanced, but a side is filled only up to a level: min(a, level · x) leaves each word.
    s is the mass to move. u is counted in levels, so that v alone holds the plan's scale and
    rounding cannot make the two drift apart."""

    fraction: float

    def start(self, a, b):
        return a, b, self.fraction * self.of.xp.minimum(self._sum(a), self._sum(b))

    def source(self, a, x, s, u):
        of = self.of
        return of.over(a, of.times(self._level(a, x, s, u), x)).clip(max=of.one)

    def target(self, b, y, s, v):
        return self.of.xp.minimum(self.of.over(b, y), self._level(b, y, s, v))

    def missing(self, s, total):
        return self.of.plain(s) - total

    def _level(self, a: Array, x: Array, s: Array, u: Array) -> Array:
        """The level, (B, 1, 1), at which Σ min(a, level · x) = s; or a Newton step towards it.

        If we knew which words are full it would be (s − Σ_full a) / Σ_open x. We take those that were full
        before, whose factor u is not the highest: then it is too low by as much as other words are full now,
        and right when the loop rests.
        """
        of, xp = self.of, self.of.xp
        full = xp.astype(u < xp.max(u, axis=-1, keepdims=True), a.dtype).mT
        mass = of.plain(s)
        rest = xp.maximum(mass - of.plain(a) @ full, mass * float(xp.finfo(a.dtype).eps))  # rounding aside
        return of.over(of.represent(rest), of.product(x, of.represent(1 - full)))


@dataclass(frozen=True)
class UnbalancedUpdates:
    """s is what the masses were multiplied by, a by s^−q and b by s^p, so that both sides ask for
    the same total. It stands for shifting the dual potentials against each other, the one direction
    in which u and v alone only creep, the slower the larger tau is."""

    of: Arithmetic
    eps: float
    tau_source: float
    tau_target: float

    def start(self, a, b):
        powers = a ** self._exponent(self.tau_source), b ** self._exponent(self.tau_target)
        return *powers, self.of.xp.ones_like(a[..., :1])

    def source(self, a, x, s, u):
        of, q = self.of, self.tau_target / (self.tau_source + self.tau_target)
        return of.over(a, of.power(of.times(x, of.power(s, q)), self._exponent(self.tau_source)))

    def target(self, b, y, s, v):
        of, p = self.of, self.tau_source / (self.tau_source + self.tau_target)
        return of.over(b, of.power(of.over(y, of.power(s, p)), self._exponent(self.tau_target)))

    def next_s(self, s, u, x, v, y):
        of = self.of
        return of.times(s, of.over(of.total(of.times(u, x)), of.total(of.times(v, y))))

    def missing(self, s, total):
        return 0.0

    def _exponent(self, tau: float) -> float:
        return tau / (tau + self.eps)
