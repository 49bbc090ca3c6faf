"""The scaling loop fused into a single GPU kernel, one Triton program for each problem.

The loop of `scaling` launches ten or more operations in each iteration, which on a GPU take longer to launch
than to run. Here a program loads the matrix K of its problem once, keeps it in registers, and iterates until
that problem has converged. The updates, their order and the rule for stopping are those of `scaling`, so both
loops give the same plans up to rounding.
"""

import functools
import math

import torch
import triton  # pyright: ignore[reportMissingImports]
import triton.language as tl  # pyright: ignore[reportMissingImports]
from torch import Tensor

from otalign.ot.arithmetic import Linear
from otalign.ot.balanced import BalancedUpdates
from otalign.ot.partial import PartialUpdates
from otalign.ot.scaling import CHECK_AFTER, Factors
from otalign.ot.unbalanced import UnbalancedUpdates
from otalign.ot.updates import Updates

PROBLEMS = {BalancedUpdates: "balanced", PartialUpdates: "partial", UnbalancedUpdates: "unbalanced"}
# Lengths are rounded up to a power of two, at least this one. Triton compiles the loop for each.
MIN_LENGTH = 32
# Maximum number of entries of K in one program: they must fit its registers.
MAX_ENTRIES = 1 << 14
# Number of entries of K in one warp: 32 registers of each thread.
ENTRIES_PER_WARP = 1 << 10

FIRST_CHECK = tl.constexpr(CHECK_AFTER)
ROUNDING = tl.constexpr(torch.finfo(torch.float32).eps)


def can_iterate(factors: Factors, updates: Updates) -> bool:
    """Return whether the fused loop supports these updates, dtypes and sizes, and compiles on this machine.

    Args:
        factors: State of the loop.
        updates: The problem's updates.
    """
    K = factors.K
    return (
        type(updates) in PROBLEMS
        and isinstance(updates.ops, Linear)
        and K.dtype == torch.float32
        and math.prod(_round_up(K)) <= MAX_ENTRIES
        and _can_compile(K.device, PROBLEMS[type(updates)])
    )


def iterate(factors: Factors, updates: Updates, max_iterations: int) -> list[Tensor]:
    """Iterate until every problem has converged.

    Args:
        factors: First state of the loop.
        updates: The problem's updates.
        max_iterations: Maximum number of iterations.

    Returns:
        u and v at convergence, whether each problem converged, and its number of iterations.
    """
    return _launch(factors, PROBLEMS[type(updates)], updates.exponents, max_iterations)


def count_warps(entries: int) -> int:
    """Return the number of warps of a program.

    Args:
        entries: Number of entries of K in the program, a power of two.
    """
    return max(1, entries // ENTRIES_PER_WARP)


@functools.cache
def _can_compile(device: torch.device, problem: str) -> bool:
    """Return whether a problem of one word can be solved: Triton needs a C compiler and Python's headers."""
    one = torch.ones((1, 1, 1), device=device)
    try:
        _launch(Factors(one, one, one, one, one, one, one), problem, (1.0, 1.0, 0.5, 0.5), max_iterations=1)
    except Exception:  # whatever is missing, the plain loop remains
        return False
    return True


def _launch(
    factors: Factors, problem: str, exponents: tuple[float, float, float, float], max_iterations: int
) -> list[Tensor]:
    K, a, b, u, v, s, tol = (x.contiguous() for x in factors)
    u, v = u.clone(), v.clone()  # the program overwrites them
    iterations = torch.empty(len(K), dtype=torch.int64, device=K.device)
    converged = torch.empty_like(iterations)
    (n, m), (N, M) = K.shape[1:], _round_up(K)
    quads = triton.cdiv(m, 4)
    if m % 4:  # where rows begin at multiples of four, each thread holds four neighbours: fewer exchanges
        K = torch.nn.functional.pad(K, (0, 4 * quads - m))
    with torch.cuda.device_of(K):
        _iterate_one[(len(K),)](  # pyright: ignore[reportIndexIssue]
            *(K, a, b, u, v, s, tol, converged, iterations),
            *(n, m, quads, max_iterations, *exponents),
            PROBLEM=problem,
            N=N,
            M=M,
            num_warps=count_warps(N * M),
            # With fused multiply-adds, the threads of a program would round the same sum differently, and
            # might not agree whether it has converged.
            enable_fp_fusion=False,
        )
    return [u, v, converged > 0, iterations]


def _round_up(K: Tensor) -> tuple[int, int]:
    N, M = (max(MIN_LENGTH, triton.next_power_of_2(size)) for size in K.shape[1:])
    return N, M


@triton.jit(do_not_specialize=["n", "m", "quads", "max_iterations"])
def _iterate_one(
    K_ptr: tl.tensor,  # (B, n, m)
    a_ptr: tl.tensor,  # (B, n), as u
    b_ptr: tl.tensor,  # (B, m), as v
    u_ptr: tl.tensor,
    v_ptr: tl.tensor,
    s_ptr: tl.tensor,  # (B,), as all others
    tol_ptr: tl.tensor,
    converged_ptr: tl.tensor,
    iterations_ptr: tl.tensor,
    n: int,
    m: int,
    quads: int,
    max_iterations: int,
    source_power: float,
    target_power: float,
    source_share: float,
    target_share: float,
    PROBLEM: tl.constexpr,
    N: tl.constexpr,
    M: tl.constexpr,
) -> None:
    """Iterate for one problem; write u, v, whether it converged and the number of iterations."""
    problem = tl.program_id(0).to(tl.int64)
    i, j = tl.arange(0, N), tl.arange(0, M)
    rows, columns = problem * n + i, problem * m + j
    # Entries beyond the problem are those of absent words at cost 0: nothing is divided by zero.
    inside = (i < n)[:, None] & (j < m)[None, :]
    K = tl.load(K_ptr + rows[:, None] * (4 * quads) + j[None, :], mask=inside, other=1.0)
    a = tl.load(a_ptr + rows, mask=i < n, other=0.0)
    b = tl.load(b_ptr + columns, mask=j < m, other=0.0)
    u = tl.load(u_ptr + rows, mask=i < n, other=0.0)
    v = tl.load(v_ptr + columns, mask=j < m, other=0.0)
    s = tl.load(s_ptr + problem)
    tol = tl.load(tol_ptr + problem)
    check = tl.minimum(FIRST_CHECK, max_iterations)
    done = 0
    converged = 0
    while (done < max_iterations) & (converged == 0):
        before = v
        x = tl.sum(K * v[None, :], axis=1)
        u = _update_source(a, x, s, u, source_power, target_share, PROBLEM)
        y = tl.sum(K * u[:, None], axis=0)
        v = _update_target(b, y, s, v, target_power, source_share, PROBLEM)
        if PROBLEM == "unbalanced":
            s = s * tl.sum(u * x, axis=0) / tl.sum(v * y, axis=0)
        done += 1
        if done == check:
            moved = tl.sum(tl.abs(v * y - before * y), axis=0)
            total = tl.sum(v * y, axis=0)
            if PROBLEM == "partial":
                moved += s - total
            converged = (moved <= tol * total).to(tl.int32)
            check = tl.minimum(done + tl.maximum(FIRST_CHECK, done // 4), max_iterations)
    tl.store(u_ptr + rows, u, mask=i < n)
    tl.store(v_ptr + columns, v, mask=j < m)
    tl.store(converged_ptr + problem, converged)
    tl.store(iterations_ptr + problem, done)


@triton.jit
def _update_source(
    a: tl.tensor,
    x: tl.tensor,
    s: tl.tensor,
    u: tl.tensor,
    power: tl.tensor,
    share: tl.tensor,
    PROBLEM: tl.constexpr,
) -> tl.tensor:
    """Return the next u, as `Updates.update_source` of the problem does."""
    if PROBLEM == "balanced":
        u = a / x
    elif PROBLEM == "partial":
        u = tl.minimum(a / (_find_level(a, x, s, u) * x), 1.0)
    else:
        u = a / _power(x * _power(s, share), power)
    return u


@triton.jit
def _update_target(
    b: tl.tensor,
    y: tl.tensor,
    s: tl.tensor,
    v: tl.tensor,
    power: tl.tensor,
    share: tl.tensor,
    PROBLEM: tl.constexpr,
) -> tl.tensor:
    """Return the next v, as `Updates.update_target` of the problem does."""
    if PROBLEM == "balanced":
        v = b / y
    elif PROBLEM == "partial":
        v = tl.minimum(b / y, _find_level(b, y, s, v))
    else:
        v = b / _power(y / _power(s, share), power)
    return v


@triton.jit
def _find_level(a: tl.tensor, x: tl.tensor, s: tl.tensor, u: tl.tensor) -> tl.tensor:
    """Return the level of `PartialUpdates`."""
    full = u < tl.max(u, axis=0)
    rest = tl.maximum(s - tl.sum(tl.where(full, a, 0.0), axis=0), s * ROUNDING)
    return rest / tl.sum(tl.where(full, 0.0, x), axis=0)


@triton.jit
def _power(x: tl.tensor, p: tl.tensor) -> tl.tensor:
    return tl.exp2(p * tl.log2(x))
