"""Gradients of an entropic plan, from the plan alone: the solution is differentiated, not the loop.

Writing P = exp((f ⊕ g − C)/eps) and moving C, a and b a little, the plan's marginals must go on
meeting the problem's conditions. That is one symmetric linear system in the changes of f and g,

    [ diag(ρ r)   P         ]
    [ Pᵀ          diag(σ c) ]     r = P 1, c = Pᵀ 1,

with ρ = 1 + eps/tau_source and σ likewise if unbalanced, else 1. For a loss with slope G in P, let (μ, ν)
solve it for the right side ((G∘P) 1, (G∘P)ᵀ 1). Then the slope in C is P∘(μ ⊕ ν − G)/eps, and those in a
and b are read off μ and ν. docs/ot.md derives it. So memory and time do not grow with the iterations.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from otalign.ot.problem import Balanced, Partial, Problem, Unbalanced


def differentiable(
    C: Tensor, a: Tensor, b: Tensor, plan: Tensor, tops: tuple[Tensor, Tensor], problem: Problem, eps: float
) -> Tensor:
    """The plan (B, n, m) that solves C, a and b, as a function of them.

    `tops` marks the words with the highest factor of their side: in a partial problem those that are
    not full.
    """
    return _Plan.apply(C, a, b, plan, *tops, problem, eps)


class _Plan(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, C, a, b, plan, top_source, top_target, problem, eps):
        ctx.save_for_backward(a, b, plan, top_source, top_target)
        ctx.problem, ctx.eps = problem, eps
        return plan.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *slopes):  # pyright: ignore[reportIncompatibleMethodOverride]
        a, b, plan, top_source, top_target = ctx.saved_tensors
        wide = torch.float32 if plan.device.type == "mps" else torch.float64  # which has no other
        P, G = plan.to(wide), slopes[0].to(wide)
        GP = G * P
        rho, sigma = (1 + ctx.eps / tau for tau in (ctx.problem.tau_source, ctx.problem.tau_target))
        if ctx.problem.limits_marginals:  # words below the level rise and fall together
            S, T = _merge_matrix(top_source, wide), _merge_matrix(top_target, wide)  # (B, n, n), (B, m, m)
            mu, nu = _solution(S.mT @ P @ T, (S.mT @ GP @ T).sum(-1), (S.mT @ GP @ T).sum(-2), rho, sigma)
            mu, nu = (S @ mu[..., None])[..., 0], (T @ nu[..., None])[..., 0]
        else:
            mu, nu = _solution(P, GP.sum(-1), GP.sum(-2), rho, sigma)
        slope_C = (P * (mu[:, :, None] + nu[:, None, :]) - GP) / ctx.eps
        slope_a, slope_b = _mass_slopes(
            ctx.problem, P, a.to(wide), b.to(wide), mu, nu, top_source, top_target
        )
        slope_a, slope_b = torch.where(a > 0, slope_a, 0), torch.where(b > 0, slope_b, 0)
        return *(x.to(plan.dtype) for x in (slope_C, slope_a, slope_b)), None, None, None, None, None


def _merge_matrix(top: Tensor, dtype: torch.dtype) -> Tensor:
    """The matrix (B, n, n) that adds all words of `top` (B, n) into the first of them."""
    n = top.shape[-1]
    each = torch.arange(n, device=top.device)
    place = torch.where(top, top.to(torch.int8).argmax(-1, keepdim=True), each)
    return (place[..., None] == each).to(dtype)


def _solution(P: Tensor, p: Tensor, q: Tensor, rho: float, sigma: float) -> tuple[Tensor, Tensor]:
    """(μ, ν) of the system above for the right side (p, q), by the Schur complement of its first block."""
    r, c = P.sum(-1), P.sum(-2)
    rows = torch.where(r > 0, rho * r, 1)  # an absent word has a row of zeros: μ is 0 there
    columns = torch.where(c > 0, sigma * c, 1)
    rest = torch.diag_embed(columns) - P.mT @ (P / rows[..., None])
    total = c.sum(-1, keepdim=True)[..., None]
    if rho == sigma == 1:  # f + t, g − t is the same plan: choose the t with cᵀν = 0
        rest = rest + c[..., :, None] * c[..., None, :] / torch.where(total > 0, total, 1)
    # Words that meet no others, as at small eps, leave more such choices: keep to the smallest ν.
    rest = rest + torch.diag_embed(columns * 64 * torch.finfo(P.dtype).eps)
    side = q - (P.mT @ (p / rows)[..., None])[..., 0]
    nu = torch.linalg.solve(rest, side)
    return (p - (P @ nu[..., None])[..., 0]) / rows, nu


def _mass_slopes(problem: Problem, P, a, b, mu, nu, top_source, top_target) -> tuple[Tensor, Tensor]:
    match problem:
        case Balanced():  # both sides are brought to the middle of their totals
            shift = ((mu * a).sum(-1) - (nu * b).sum(-1)) / (a.sum(-1) + b.sum(-1)).clamp(min=1e-300)
            return mu - shift[:, None], nu + shift[:, None]
        case Unbalanced():
            return mu * P.sum(-1) / torch.where(a > 0, a, 1), nu * P.sum(-2) / torch.where(b > 0, b, 1)
        case Partial(fraction):
            level_mu, level_nu = (
                x.gather(-1, top.to(torch.int8).argmax(-1, keepdim=True))
                for x, top in ((mu, top_source), (nu, top_target))
            )
            # The mass to move follows the smaller side, and both where they are equal.
            total_a, total_b = a.sum(-1, keepdim=True), b.sum(-1, keepdim=True)
            follows_a = torch.heaviside(total_b - total_a, torch.full_like(total_a, 0.5))
            moved = fraction * (level_mu + level_nu)
            return mu - level_mu + follows_a * moved, nu - level_nu + (1 - follows_a) * moved
