"""Entropic transport, all three problems by one loop.

Minimises ⟨C, P⟩ + eps · Σ P (log P − 1), with the problem's word on P's marginals. The solution is
P = diag(u) K diag(v) with K = exp(−C/eps); the loop improves u, v and one number s in turn:

    problem       u, from x = K v                v, from y = Kᵀ u        s
    balanced      a / x                          b / y
    partial       min(a / (level · x), 1)        min(b / y, level)       the mass to move
    unbalanced    (a / (s^q x))^λ                (b s^p / y)^μ           s · Σux / Σvy

with λ = tau_source/(tau_source + eps), μ likewise, p = tau_source/(tau_source + tau_target) = 1 − q;
a level is where its side holds just the mass s. docs/ot.md derives it.
"""

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

from otalign.arrays import device, is_torch_array
from otalign.ot.arithmetic import Arithmetic, Linear, Log
from otalign.ot.batch import Array, ProblemBatch
from otalign.ot.problem import Problem
from otalign.ot.transport import Transport
from otalign.ot.updates import Updates, updates

# After how many more iterations convergence is looked at. A look costs about as much as one or two of
# them, so it comes rarer as the loop gets longer: at most a quarter of the iterations are for nothing.
LOOK_AFTER = 5
# Entries of the kernels over which a GPU needs longer for an operation than its host to start one.
GPU_ENTRIES = 1 << 20


@dataclass(frozen=True)
class Entropic:
    """The scaling loop, until an iteration moves no more than the share `tol` of the mass elsewhere."""

    eps: float = 0.1
    tol: float = 1e-6
    max_iterations: int = 1000

    def __post_init__(self):
        if not 0 < self.eps < float("inf"):
            raise ValueError(f"eps must be positive and finite, got {self.eps}; for no entropy use Exact()")
        if not 0 <= self.tol < 1:
            raise ValueError(f"tol must be at least 0 and below 1, got {self.tol}")
        if not isinstance(self.max_iterations, int) or self.max_iterations < 1:
            raise ValueError(f"max_iterations must be at least 1, got {self.max_iterations}")

    def solve(self, batch: ProblemBatch, problem: Problem) -> Transport:
        numbers = batch.detach()
        with _full_precision(numbers.C):
            parts = [
                (index, *self._scale(part, problem, of)) for index, part, of in self._arithmetics(numbers)
            ]
        plan, top_u, top_v, converged, iterations = _in_order(batch.xp, parts)
        plan = batch.xp.astype(plan, batch.C.dtype, copy=False)
        if batch is not numbers:
            from otalign.ot.gradient import differentiable

            tops = top_u[:, 0], top_v[:, 0]
            plan = differentiable(batch.C, batch.a, batch.b, plan, tops, problem, self.eps)
        return Transport(plan, converged, iterations, batch.C, batch.a, batch.b, problem, self.eps)

    def _arithmetics(self, batch: ProblemBatch) -> Iterator[tuple[Array, ProblemBatch, Arithmetic]]:
        """Which problems to solve in which arithmetic; each problem's own costs decide."""
        xp = batch.xp
        reach = xp.max(batch.C, axis=(-2, -1)) / self.eps
        bounds = [Linear.reach(xp, batch.C.dtype), Linear.reach(xp, xp.float64), math.inf]
        ways = [(batch.C.dtype, Linear(xp)), (xp.float64, Linear(xp)), (xp.float64, Log(xp))]
        below, found = -math.inf, 0
        for bound, (dtype, arithmetic) in zip(bounds, ways, strict=True):
            if found == len(batch):
                break
            index = xp.nonzero((below < reach) & (reach <= bound))[0]
            if index.shape[0]:
                part = batch if index.shape[0] == len(batch) else batch.take(index)
                yield index, part.astype(dtype), arithmetic
            below, found = bound, found + index.shape[0]

    def _scale(self, batch: ProblemBatch, problem: Problem, of: Arithmetic) -> tuple[Array, ...]:
        """The plans, each side's words with the highest factor, whether each problem converged, and
        after how many iterations."""
        xp = batch.xp
        step = updates(problem, self.eps, of)
        a, b = batch.a[:, None, :], batch.b[:, None, :]
        # A side without any mass has an empty plan: solve another problem and move none of it.
        alive = xp.any(a > 0, axis=-1, keepdims=True) & xp.any(b > 0, axis=-1, keepdims=True)
        a, b, s = step.start(xp.where(alive, a, 1), xp.where(alive, b, 1))
        K = of.kernel(batch.C, self.eps)
        # The factors start at one, but an absent word's at zero: or padding would have a say.
        u, v = (of.represent(xp.astype(x > 0, x.dtype)) for x in (a, b))
        # Below this, rounding alone would keep the factors moving.
        tol = xp.maximum(8 * float(xp.finfo(K.dtype).eps) * of.magnitude(K), xp.full_like(s, self.tol))
        factors = Factors(K, of.represent(a), of.represent(b), u, v, of.represent(s), tol)
        u, v, converged, iterations = self._at_rest(factors, step)
        u = of.times(u, of.represent(xp.astype(alive, a.dtype)))
        tops = (x == xp.max(x, axis=-1, keepdims=True) for x in (u, v))
        return of.plan(u, K, v), *tops, converged, iterations

    def _at_rest(self, factors: "Factors", step: Updates) -> list[Array]:
        """u and v where they no longer move, whether they came to rest, and after how many iterations.

        Each problem is noted down at its own rest, whatever the others do. The loop goes on without those
        that rest as soon as they are the larger part; but a GPU is done sooner with them than without, where
        starting an operation takes longer than the operation.
        """
        xp = step.of.xp
        on_host = str(device(factors.K)) == "cpu"
        going = xp.arange(factors.K.shape[0], device=device(factors.K))
        rests = going < 0
        u, v, iterations = factors.u, factors.v, going
        parts, done = [], 0
        while done < self.max_iterations:
            before = factors
            stretch = min(max(LOOK_AFTER, done // 4), self.max_iterations - done)
            for _ in range(stretch):
                before, factors = factors, factors.improve(step)
            done += stretch
            u, v = (xp.where(rests[:, None, None], x, y) for x, y in ((u, factors.u), (v, factors.v)))
            iterations = xp.where(rests, iterations, xp.full_like(going, done))
            rests = rests | factors.rest_after(before, step)
            count = int(xp.count_nonzero(rests))
            if count == rests.shape[0]:
                break
            entries = math.prod(factors.K.shape)
            if (on_host or entries > GPU_ENTRIES) and 2 * count > rests.shape[0]:
                found = (going, u, v, rests, iterations)
                resting, others = xp.nonzero(rests)[0], xp.nonzero(~rests)[0]
                parts.append(tuple(x[resting] for x in found))
                going, u, v, rests, iterations, *moving = (x[others] for x in (*found, *factors))
                factors = Factors(*moving)
        return _in_order(xp, [*parts, (going, u, v, rests, iterations)])


class Factors(NamedTuple):
    """Where the loop stands, all held by one arithmetic; masses as the updates want them."""

    K: Array  # (B, n, m)
    a: Array  # (B, 1, n)
    b: Array  # (B, 1, m)
    u: Array  # (B, 1, n)
    v: Array  # (B, 1, m)
    s: Array  # (B, 1, 1)
    tol: Array  # (B, 1, 1), a plain number

    def improve(self, step: Updates) -> "Factors":
        K, a, b, u, v, s, tol = self
        # K v as a row times Kᵀ: torch is several times slower at a matrix times a column.
        x = step.of.product(v, K.mT)
        u = step.source(a, x, s, u)
        y = step.of.product(u, K)
        v = step.target(b, y, s, v)
        return Factors(K, a, b, u, v, step.next_s(s, u, x, v, y), tol)

    def rest_after(self, before: "Factors", step: Updates) -> Array:
        """Which problems moved no more than `tol` of their mass in the iteration that led here, (B,), and
        have no more than that to move yet.

        What reaches the target words is enough to look at: u is made from v, and would have moved it.
        """
        of = step.of
        y = of.product(self.u, self.K)
        now, then = of.plain(of.times(self.v, y)), of.plain(of.times(before.v, y))
        moved, total = (of.xp.sum(z, axis=-1, keepdims=True) for z in (of.xp.abs(now - then), now))
        return (moved + step.missing(self.s, total) <= self.tol * total)[:, 0, 0]


def _full_precision(x: Array) -> AbstractContextManager:
    """Where torch's autocast would do the loop's products in half precision, it does not."""
    if not is_torch_array(x):
        return nullcontext()
    import torch

    return torch.autocast(x.device.type, enabled=False)


def _in_order(xp: Any, parts: list[tuple[Array, ...]]) -> list[Array]:
    """The parts' arrays joined, each problem at the place that its part's first array names."""
    if len(parts) == 1:
        return list(parts[0][1:])
    columns = [xp.concat(column) for column in zip(*parts, strict=True)]
    order = xp.argsort(columns[0])
    return [column[order] for column in columns[1:]]
