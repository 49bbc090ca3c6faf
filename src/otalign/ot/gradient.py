"""Gradients of an entropic plan by implicit differentiation: of the solution, not of the loop.

Write P = exp((f ⊕ g − C)/eps). When C, a and b change a little, the plan's marginals must still meet the
conditions of the problem. That is one symmetric linear system in the changes of f and g,

    [ diag(ρ r)   P         ]
    [ Pᵀ          diag(σ c) ]     r = P 1, c = Pᵀ 1,

with ρ and σ from `Problem.diagonal_factors`. For a loss with gradient G in P, let (μ, ν) solve it for the
right side ((G∘P) 1, (G∘P)ᵀ 1). Then the gradient in C is P∘(μ ⊕ ν − G)/eps, and
`Problem.compute_mass_gradients` derives those in a and b from μ and ν. docs/ot.md derives it. Memory and time
do not grow with the iterations.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from otalign.ot.problem import Problem


def make_differentiable(
    C: Tensor, a: Tensor, b: Tensor, plan: Tensor, tops: tuple[Tensor, Tensor], problem: Problem, eps: float
) -> Tensor:
    """Return a plan with gradients in C, a and b.

    Args:
        C: Costs (B, n, m).
        a: Masses of the source words (B, n).
        b: Masses of the target words (B, m).
        plan: The solution (B, n, m).
        tops: Masks of the words with the highest scaling factor of their side. In a partial problem these are
            the words that are not full.
        problem: The transport problem.
        eps: Weight of the entropy.
    """
    return _Plan.apply(C, a, b, plan, *tops, problem, eps)


class _Plan(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        C: Tensor,
        a: Tensor,
        b: Tensor,
        plan: Tensor,
        top_source: Tensor,
        top_target: Tensor,
        problem: Problem,
        eps: float,
    ) -> Tensor:
        ctx.save_for_backward(a, b, plan, top_source, top_target)
        ctx.problem, ctx.eps = problem, eps
        return plan.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        a, b, plan, top_source, top_target = ctx.saved_tensors
        wide = torch.float32 if plan.device.type == "mps" else torch.float64  # mps has no float64
        P, G = plan.to(wide), gradients[0].to(wide)
        GP = G * P
        rho, sigma = ctx.problem.diagonal_factors(ctx.eps)
        if ctx.problem.limits_marginals:  # words that are not full share one level
            S, T = _merge_matrix(top_source, wide), _merge_matrix(top_target, wide)  # (B, n, n), (B, m, m)
            mu, nu = _solve_system(S.mT @ P @ T, (S.mT @ GP @ T).sum(-1), (S.mT @ GP @ T).sum(-2), rho, sigma)
            mu, nu = (S @ mu[..., None])[..., 0], (T @ nu[..., None])[..., 0]
        else:
            mu, nu = _solve_system(P, GP.sum(-1), GP.sum(-2), rho, sigma)
        grad_C = (P * (mu[:, :, None] + nu[:, None, :]) - GP) / ctx.eps
        grad_a, grad_b = ctx.problem.compute_mass_gradients(
            P, (a.to(wide), b.to(wide)), (mu, nu), (top_source, top_target)
        )
        grad_a, grad_b = torch.where(a > 0, grad_a, 0), torch.where(b > 0, grad_b, 0)
        return *(x.to(plan.dtype) for x in (grad_C, grad_a, grad_b)), None, None, None, None, None


def _merge_matrix(top: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the matrix (B, n, n) that adds all words of `top` (B, n) into the first of them."""
    n = top.shape[-1]
    each = torch.arange(n, device=top.device)
    place = torch.where(top, top.to(torch.int8).argmax(-1, keepdim=True), each)
    return (place[..., None] == each).to(dtype)


def _solve_system(P: Tensor, p: Tensor, q: Tensor, rho: float, sigma: float) -> tuple[Tensor, Tensor]:
    """Solve the system above for the right side (p, q), by the Schur complement of its first block."""
    r, c = P.sum(-1), P.sum(-2)
    rows = torch.where(r > 0, rho * r, 1)  # the row of an absent word is zero, and so is its μ
    columns = torch.where(c > 0, sigma * c, 1)
    rest = torch.diag_embed(columns) - P.mT @ (P / rows[..., None])
    total = c.sum(-1, keepdim=True)[..., None]
    if rho == sigma == 1:  # f + t and g − t give the same plan: choose t so that cᵀν = 0
        rest = rest + c[..., :, None] * c[..., None, :] / torch.where(total > 0, total, 1)
    # At small eps, words that exchange no mass leave more such freedom: prefer the smallest ν.
    rest = rest + torch.diag_embed(columns * 64 * torch.finfo(P.dtype).eps)
    side = q - (P.mT @ (p / rows)[..., None])[..., 0]
    nu = torch.linalg.solve(rest, side)
    return (p - (P @ nu[..., None])[..., 0]) / rows, nu
