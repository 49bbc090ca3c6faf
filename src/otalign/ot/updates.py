"""The interface between a transport problem and the scaling loop: updates of the scaling factors.

An update receives x = K v or y = Kᵀ u, represented by an `Arithmetic`, and returns the factor that is optimal
while the other is fixed. Beside u and v each problem has a single number s. docs/ot.md derives the updates.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from otalign.arrays import Array
from otalign.ot.arithmetic import Arithmetic


@dataclass(frozen=True)
class Updates(ABC):
    """Updates of u, v and s, written in the operations of an arithmetic."""

    ops: Arithmetic

    @property
    def exponents(self) -> tuple[float, float, float, float]:
        """Powers of u and v, and the shares of both sides in s; 0 where a problem has none."""
        return 0.0, 0.0, 0.0, 0.0

    @abstractmethod
    def start(self, a: Array, b: Array) -> tuple[Array, Array, Array]:
        """Return a (B, 1, n) and b (B, 1, m) as the updates need them, and the first s, as plain numbers."""

    @abstractmethod
    def update_source(self, a: Array, x: Array, s: Array, u: Array) -> Array:
        """Return the next u, given the previous one."""

    @abstractmethod
    def update_target(self, b: Array, y: Array, s: Array, v: Array) -> Array:
        """Return the next v, given the previous one."""

    def update_s(self, s: Array, u: Array, x: Array, v: Array, y: Array) -> Array:
        """Return the next s, given the x and y from which u and v were computed."""
        return s

    def compute_shortfall(self, s: Array, total: Array) -> Array | float:
        """Return the mass (B, 1, 1) that is still to be moved, given the `total` moved so far."""
        return 0.0

    def sum_masses(self, x: Array) -> Array:
        """Return the total of plain masses, (B, 1, n) to (B, 1, 1)."""
        return self.ops.xp.sum(x, axis=-1, keepdims=True)
