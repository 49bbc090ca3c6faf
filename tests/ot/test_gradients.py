"""Gradients through the plan compared with finite differences, with absent words and padding."""

import numpy as np
import pytest

from otalign.ot import Balanced, Entropic, Exact, Partial, Unbalanced, solve
from tests.ot.random_problems import PROBLEMS, draw

torch = pytest.importorskip("torch")

TIGHT = Entropic(eps=0.1, tol=1e-13, max_iterations=2000)


def leaves(problem, n, m, seed=0):
    C, a, b, _ = draw(np.random.default_rng(seed), problem, n, m)
    return [torch.tensor(x, requires_grad=True) for x in (C, a, b)]


def with_absent_words(C, a, b):
    """Add an absent word on each side, with arbitrary costs."""
    C = torch.nn.functional.pad(C, (0, 1, 0, 1), value=0.3)
    return C, torch.nn.functional.pad(a, (0, 1)), torch.nn.functional.pad(b, (0, 1))


@pytest.mark.parametrize("problem", [*PROBLEMS, Partial(1.0)], ids=repr)
@pytest.mark.parametrize("solver", [TIGHT, Entropic(0.002, 1e-13, 20_000)], ids=["kernel", "log"])
def test_gradients_are_finite_differences(problem, solver):
    def plan(C, a, b):
        return solve(*with_absent_words(C, a, b), problem, solver).plan

    # Costs well apart, so that for the small eps no step of the difference changes the solution's shape.
    C, a, b = leaves(problem, 3, 2)
    assert torch.autograd.gradcheck(plan, (C, a, b), eps=1e-7, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("problem", PROBLEMS, ids=repr)
def test_gradients_pass_through_a_ragged_list_in_which_problems_end_apart(problem):
    inputs = [leaves(problem, n, m, seed) for seed, (n, m) in enumerate([(3, 4), (1, 2), (9, 3), (2, 2)])]
    scales = [1.0, 0.3, 2.0, 36.0]  # the last one goes by logarithms

    def losses(*flat):
        groups = [flat[i : i + 3] for i in range(0, 12, 3)]
        C = [g[0] * scale for g, scale in zip(groups, scales, strict=True)]
        listed = solve(
            C, [g[1] for g in groups], [g[2] for g in groups], problem, Entropic(0.1, 1e-13, 20_000)
        )
        return torch.stack([(t.plan * t.plan).sum() + t.objective for t in listed])

    flat = [x for one in inputs for x in one]
    assert torch.autograd.gradcheck(losses, flat, eps=1e-7, atol=1e-4, rtol=1e-3, fast_mode=True)


@pytest.mark.parametrize("problem", PROBLEMS, ids=repr)
def test_absent_words_and_empty_problems_have_zero_gradients(problem):
    C = torch.rand(3, 4, 5, dtype=torch.float32, requires_grad=True)
    a = torch.tensor([[0.5, 0.5, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]], requires_grad=True)
    b = torch.tensor([[0.2, 0.4, 0.4, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 1]], requires_grad=True)
    transport = solve(C, a, b, problem)
    (transport.plan.sum() + transport.plan.square().sum() + transport.objective.sum()).backward()
    for x in (C, a, b):
        assert torch.all(torch.isfinite(x.grad))
    assert torch.all(C.grad[1] == 0)
    assert torch.all(C.grad[0, 2:] == 0)
    assert torch.all(C.grad[0, :, 3:] == 0)


def test_the_envelope_theorem_holds():
    """At the optimum the objective changes with a cost as much as that link moves."""
    for problem in (Balanced(), Partial(0.6), Unbalanced(0.5)):
        C, a, b = leaves(problem, 5, 4)
        transport = solve(C, a, b, problem, TIGHT)
        transport.objective.backward()
        torch.testing.assert_close(C.grad, transport.plan.detach(), atol=1e-9, rtol=1e-7)


def test_autocast_leaves_the_solver_its_precision():
    C, a, b = leaves(Unbalanced(0.5), 6, 5)
    expected = torch.autograd.grad(solve(C, a, b, Unbalanced(0.5)).plan.square().sum(), (C, a, b))
    narrow = [x.detach().float().requires_grad_() for x in (C, a, b)]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        plan = solve(*narrow, Unbalanced(0.5)).plan
        slopes = torch.autograd.grad(plan.square().sum(), narrow)
    assert plan.dtype == torch.float32
    for slope, wanted in zip(slopes, expected, strict=True):
        torch.testing.assert_close(slope.double(), wanted, atol=1e-4, rtol=1e-4)


def test_the_exact_solver_says_that_it_has_no_gradients():
    C, a, b = leaves(Balanced(), 2, 2)
    with pytest.raises(ValueError, match=r"C must not require gradients for Exact\(\).*Entropic"):
        solve(C, a, b, Balanced(), Exact())
