"""Two representations of the positive numbers in the scaling loop: plain, or as logarithms.

The loop is written once, in these operations; its vectors are rows, (B, 1, n), and its single numbers
(B, 1, 1). `Linear` needs a vector-matrix product where `Log` needs an exponential of the whole matrix, but
`Log` never overflows or underflows.
"""

import math
from dataclasses import dataclass
from typing import Any, Protocol

from otalign.arrays import Array

# The logarithm of an absent word's mass: its exponential is zero, and yet it is finite, so that the
# difference of two of them is zero and not NaN.
LOG_ABSENT = -1e30


class Arithmetic(Protocol):
    """Operations on positive numbers. Arrays are in its representation, floats are plain numbers."""

    xp: Any
    one: float  # the number 1 in this representation

    def kernel(self, C: Array, eps: float) -> Array:
        """Return K = exp(−C/eps)."""
        ...

    def represent(self, x: Array) -> Array:
        """Return plain numbers in this representation."""
        ...

    def as_plain(self, x: Array) -> Array:
        """Return plain numbers for those of this representation."""
        ...

    def vecmat(self, u: Array, K: Array) -> Array:
        """Return uᵀ K, (B, 1, m)."""
        ...

    def multiply(self, x: Array, y: Array) -> Array:
        """Return x y."""
        ...

    def divide(self, x: Array, y: Array) -> Array:
        """Return x / y."""
        ...

    def power(self, x: Array, p: float) -> Array:
        """Return x to the power p."""
        ...

    def sum(self, x: Array) -> Array:
        """Return Σ x, (B, 1, n) to (B, 1, 1)."""
        ...

    def magnitude(self, K: Array) -> Array:
        """Return the largest magnitude of the represented numbers, at least 1, (B, 1, 1)."""
        ...

    def plan(self, u: Array, K: Array, v: Array) -> Array:
        """Return diag(u) K diag(v) as plain numbers."""
        ...


@dataclass(frozen=True)
class Linear:
    """Positive numbers, represented by themselves."""

    xp: Any
    one: float = 1.0

    @staticmethod
    def reach(xp: Any, dtype: Any) -> float:
        """Return the largest C/eps for which no product overflows.

        Factors reach its exponential, a product has two of them, and masses may span twelve orders of
        magnitude on top.
        """
        return (math.log(float(xp.finfo(dtype).max)) - math.log(1e12)) / 2

    def kernel(self, C: Array, eps: float) -> Array:
        """Return exp(−C/eps)."""
        return self.xp.exp(C * (-1 / eps))

    def represent(self, x: Array) -> Array:
        """Return x itself."""
        return x

    def as_plain(self, x: Array) -> Array:
        """Return x itself."""
        return x

    def vecmat(self, u: Array, K: Array) -> Array:
        """Return the product of vector and matrix."""
        return u @ K

    def multiply(self, x: Array, y: Array) -> Array:
        """Return the product."""
        return x * y

    def divide(self, x: Array, y: Array) -> Array:
        """Return the quotient."""
        return x / y

    def power(self, x: Array, p: float) -> Array:
        """Return the power."""
        return self.xp.exp(p * self.xp.log(x))  # faster than x ** p

    def sum(self, x: Array) -> Array:
        """Return the sum along the last axis."""
        return self.xp.sum(x, axis=-1, keepdims=True)

    def magnitude(self, K: Array) -> Array:
        """Return 1: no entry of a kernel is larger."""
        return self.xp.ones_like(K[:, :1, :1])

    def plan(self, u: Array, K: Array, v: Array) -> Array:
        """Return the product of the three."""
        return u.mT * K * v


@dataclass(frozen=True)
class Log:
    """Positive numbers as their logarithms."""

    xp: Any
    one: float = 0.0

    def kernel(self, C: Array, eps: float) -> Array:
        """Return −C/eps."""
        return C * (-1 / eps)

    def represent(self, x: Array) -> Array:
        """Return the logarithm; that of 0 is `LOG_ABSENT`."""
        present = x > 0
        return self.xp.where(present, self.xp.log(self.xp.where(present, x, 1)), LOG_ABSENT)

    def as_plain(self, x: Array) -> Array:
        """Return the exponential."""
        return self.xp.exp(x)

    def vecmat(self, u: Array, K: Array) -> Array:
        """Return log Σ exp(u + K) along the first axis of K."""
        return self._log_sum_exp(u.mT + K, -2)

    def multiply(self, x: Array, y: Array) -> Array:
        """Return the sum of the logarithms."""
        return x + y

    def divide(self, x: Array, y: Array) -> Array:
        """Return the difference of the logarithms."""
        return x - y

    def power(self, x: Array, p: float) -> Array:
        """Return the logarithm times p."""
        return p * x

    def sum(self, x: Array) -> Array:
        """Return log Σ exp x along the last axis."""
        return self._log_sum_exp(x, -1)

    def magnitude(self, K: Array) -> Array:
        """Return the largest |log K|, at least 1."""
        peak = self.xp.max(self.xp.abs(K), axis=(-2, -1), keepdims=True)
        return self.xp.maximum(peak, self.xp.ones_like(peak))

    def plan(self, u: Array, K: Array, v: Array) -> Array:
        """Return the exponential of the sum of the logarithms."""
        return self.xp.exp(u.mT + K + v)

    def _log_sum_exp(self, x: Array, axis: int) -> Array:
        peak = self.xp.max(x, axis=axis, keepdims=True)
        return peak + self.xp.log(self.xp.sum(self.xp.exp(x - peak), axis=axis, keepdims=True))
