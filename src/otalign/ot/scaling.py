"""Entropic transport: one scaling loop for all problems.

It minimises ⟨C, P⟩ + eps · Σ P (log P − 1), subject to the problem's conditions on the marginals of P. The
solution is P = diag(u) K diag(v) with K = exp(−C/eps); the loop updates u, v and a number s in turn:

    problem       u, from x = K v                v, from y = Kᵀ u        s
    balanced      a / x                          b / y
    partial       min(a / (level · x), 1)        min(b / y, level)       the mass to move
    unbalanced    (a / (s^q x))^λ                (b s^p / y)^μ           s · Σux / Σvy

with λ = tau_source/(tau_source + eps), μ = tau_target/(tau_target + eps) and
p = tau_source/(tau_source + tau_target) = 1 − q. A level is chosen so that its side moves exactly the mass s.
docs/ot.md derives the updates.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

from otalign.arrays import Array, device, is_torch_array
from otalign.ot.arithmetic import Arithmetic, Linear, Log
from otalign.ot.batch import ProblemBatch
from otalign.ot.problem import Problem, check_stopping_rule
from otalign.ot.transport import Transport
from otalign.ot.updates import Updates

# Iterations before the first check of convergence. A check costs one or two iterations, so checks become
# rarer as the loop gets longer: at most a quarter of the iterations is superfluous.
CHECK_AFTER = 5
# Size of the kernels above which an operation on a GPU takes longer than its launch.
GPU_ENTRIES = 1 << 20


@dataclass(frozen=True)
class Entropic:
    """Solver for entropic transport, by a scaling loop (Sinkhorn). It is differentiable in torch.

    Small `eps` are computed in the log domain where necessary.

    Args:
        eps: Weight of the entropy. Smaller values give sharper plans and need more iterations.
        tol: Tolerance: share of the mass that the last iteration may still have moved.
        max_iterations: Maximum number of iterations.

    Raises:
        ValueError: If an argument is out of range.

    Example:
        >>> import numpy as np
        >>> from otalign.ot import Balanced, Entropic, solve
        >>> C = np.array([[0.0, 1.0], [1.0, 0.0]])
        >>> for eps in (1.0, 0.1):
        ...     print(solve(C, np.ones(2), np.ones(2), Balanced(), Entropic(eps)).plan.round(2).tolist())
        [[0.73, 0.27], [0.27, 0.73]]
        [[1.0, 0.0], [0.0, 1.0]]
    """

    eps: float = 0.1
    tol: float = 1e-6
    max_iterations: int = 1000

    def __post_init__(self) -> None:
        if not 0 < self.eps < float("inf"):
            raise ValueError(f"eps must be positive and finite, got {self.eps}; for no entropy use Exact()")
        check_stopping_rule(self.tol, self.max_iterations)

    def solve(self, batch: ProblemBatch, problem: Problem) -> Transport:
        """Solve every problem of a batch.

        Args:
            batch: The problems, of one size.
            problem: Constraints on the plans.

        Returns:
            The plans, differentiable if the batch is.
        """
        detached = batch.detach()
        with _disable_autocast(detached.C):
            parts = [
                (index, *self._scale(part, problem, ops))
                for index, part, ops in self._split_by_arithmetic(detached)
            ]
        plan, top_u, top_v, converged, iterations = _join_parts(batch.xp, parts)
        plan = batch.xp.astype(plan, batch.C.dtype, copy=False)
        if batch is not detached:
            from otalign.ot.gradient import make_differentiable

            tops = top_u[:, 0], top_v[:, 0]
            plan = make_differentiable(batch.C, batch.a, batch.b, plan, tops, problem, self.eps)
        return Transport(plan, converged, iterations, batch.C, batch.a, batch.b, problem, self.eps)

    def _split_by_arithmetic(self, batch: ProblemBatch) -> Iterator[tuple[Array, ProblemBatch, Arithmetic]]:
        """Yield the indices of problems with the dtype and arithmetic that their own costs require."""
        xp = batch.xp
        reach = xp.max(xp.abs(batch.C), axis=(-2, -1)) / self.eps  # linearised costs may be negative
        bounds = [Linear.reach(xp, batch.C.dtype), Linear.reach(xp, xp.float64), math.inf]
        arithmetics = [(batch.C.dtype, Linear(xp)), (xp.float64, Linear(xp)), (xp.float64, Log(xp))]
        below, count = -math.inf, 0
        for bound, (dtype, arithmetic) in zip(bounds, arithmetics, strict=True):
            if count == len(batch):
                break
            index = xp.nonzero((below < reach) & (reach <= bound))[0]
            if index.shape[0]:
                part = batch if index.shape[0] == len(batch) else batch.take(index)
                yield index, part.astype(dtype), arithmetic
            below, count = bound, count + index.shape[0]

    def _scale(self, batch: ProblemBatch, problem: Problem, ops: Arithmetic) -> tuple[Array, ...]:
        """Run the loop.

        Returns:
            The plans, masks of each side's words with the highest factor, whether each problem converged, and
            its number of iterations.
        """
        xp = batch.xp
        updates = problem.make_updates(self.eps, ops)
        a, b = batch.a[:, None, :], batch.b[:, None, :]
        # A problem without mass on one side has an empty plan: solve another and set its plan to zero.
        nonempty = xp.any(a > 0, axis=-1, keepdims=True) & xp.any(b > 0, axis=-1, keepdims=True)
        a, b, s = updates.start(xp.where(nonempty, a, 1), xp.where(nonempty, b, 1))
        K = ops.kernel(batch.C, self.eps)
        # Factors start at 1, but those of absent words at 0, so that padding has no influence.
        u, v = (ops.represent(xp.astype(x > 0, x.dtype)) for x in (a, b))
        # Below this tolerance, rounding alone would keep the factors changing.
        tol = xp.maximum(8 * float(xp.finfo(K.dtype).eps) * ops.magnitude(K), xp.full_like(s, self.tol))
        factors = Factors(K, ops.represent(a), ops.represent(b), u, v, ops.represent(s), tol)
        u, v, converged, iterations = self._iterate(factors, updates)
        u = ops.multiply(u, ops.represent(xp.astype(nonempty, a.dtype)))
        tops = (x == xp.max(x, axis=-1, keepdims=True) for x in (u, v))
        return ops.plan(u, K, v), *tops, converged, iterations

    def _iterate(self, factors: "Factors", updates: Updates) -> list[Array]:
        """Return u and v at convergence, whether each problem converged, and its number of iterations.

        The factors of a problem are kept from the check at which it converged, whatever the others do.
        Converged problems leave the batch once they are the larger part of it; not on a GPU with a small
        batch, where the launch of an operation takes longer than the operation.
        """
        if iterate := _find_fused_loop(factors, updates):
            return iterate(factors, updates, self.max_iterations)
        xp = updates.ops.xp
        on_cpu = str(device(factors.K)) == "cpu"
        active = xp.arange(factors.K.shape[0], device=device(factors.K))
        converged = active < 0
        u, v, iterations = factors.u, factors.v, active
        parts, done = [], 0
        while done < self.max_iterations:
            before = factors
            steps = min(max(CHECK_AFTER, done // 4), self.max_iterations - done)
            for _ in range(steps):
                before, factors = factors, factors.update(updates)
            done += steps
            u, v = (xp.where(converged[:, None, None], x, y) for x, y in ((u, factors.u), (v, factors.v)))
            iterations = xp.where(converged, iterations, xp.full_like(active, done))
            converged = converged | factors.have_converged(before, updates)
            count = int(xp.count_nonzero(converged))
            if count == converged.shape[0]:
                break
            entries = math.prod(factors.K.shape)
            if (on_cpu or entries > GPU_ENTRIES) and 2 * count > converged.shape[0]:
                state = (active, u, v, converged, iterations)
                finished, others = xp.nonzero(converged)[0], xp.nonzero(~converged)[0]
                parts.append(tuple(x[finished] for x in state))
                active, u, v, converged, iterations, *remaining = (x[others] for x in (*state, *factors))
                factors = Factors(*remaining)
        return _join_parts(xp, [*parts, (active, u, v, converged, iterations)])


class Factors(NamedTuple):
    """State of the loop, represented by one arithmetic; masses are as the updates need them."""

    K: Array  # (B, n, m)
    a: Array  # (B, 1, n)
    b: Array  # (B, 1, m)
    u: Array  # (B, 1, n)
    v: Array  # (B, 1, m)
    s: Array  # (B, 1, 1)
    tol: Array  # (B, 1, 1), a plain number

    def update(self, updates: Updates) -> "Factors":
        """Return the state after one iteration."""
        K, a, b, u, v, s, tol = self
        # K v as a row times Kᵀ: torch is several times slower with a matrix times a column.
        x = updates.ops.vecmat(v, K.mT)
        u = updates.update_source(a, x, s, u)
        y = updates.ops.vecmat(u, K)
        v = updates.update_target(b, y, s, v)
        return Factors(K, a, b, u, v, updates.update_s(s, u, x, v, y), tol)

    def have_converged(self, before: "Factors", updates: Updates) -> Array:
        """Return which problems moved at most `tol` of their mass in the last iteration, (B,).

        They must not have more than that left to move, either. The mass that reaches the target words is
        enough to decide: u is computed from v, so a change of u would have changed v.
        """
        ops = updates.ops
        y = ops.vecmat(self.u, self.K)
        now, previous = ops.as_plain(ops.multiply(self.v, y)), ops.as_plain(ops.multiply(before.v, y))
        moved, total = (ops.xp.sum(z, axis=-1, keepdims=True) for z in (ops.xp.abs(now - previous), now))
        return (moved + updates.compute_shortfall(self.s, total) <= self.tol * total)[:, 0, 0]


def _find_fused_loop(factors: Factors, updates: Updates) -> Callable[..., list[Array]] | None:
    """Return the loop in a single kernel if the factors are on a GPU and it can run them, otherwise None."""
    if not getattr(factors.K, "is_cuda", False):
        return None
    try:
        from otalign.ot import fused
    except ImportError:  # torch comes with Triton on Linux only
        return None
    return fused.iterate if fused.can_iterate(factors, updates) else None


def _disable_autocast(x: Array) -> AbstractContextManager:
    """Keep torch's autocast from computing the loop's products in half precision."""
    if not is_torch_array(x):
        return nullcontext()
    import torch

    return torch.autocast(x.device.type, enabled=False)


def _join_parts(xp: Any, parts: list[tuple[Array, ...]]) -> list[Array]:
    """Join the arrays of the parts, in the order of the indices in each part's first array."""
    if len(parts) == 1:
        return list(parts[0][1:])
    columns = [xp.concat(column) for column in zip(*parts, strict=True)]
    order = xp.argsort(columns[0])
    return [column[order] for column in columns[1:]]
