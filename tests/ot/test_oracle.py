"""Comparison with POT, which solves the same problems one at a time by other methods."""

import warnings

import numpy as np
import pytest

from otalign.ot import Balanced, Entropic, Exact, Partial, Problem, Unbalanced, solve
from tests.ot.random_problems import TIGHT, RandomProblem, draw

pot = pytest.importorskip("ot", reason="the oracle needs POT")
torch = pytest.importorskip("torch")


def pot_plan(drawn: RandomProblem, eps: float) -> np.ndarray:
    """Compute POT's entropic plan, iterated to convergence."""
    present = np.ix_(drawn.a > 0, drawn.b > 0)
    C, a, b = drawn.C[present], drawn.a[drawn.a > 0], drawn.b[drawn.b > 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of a rule for stopping that it cannot meet
        match drawn.problem:
            case Balanced():
                plan = pot.sinkhorn(a, b, C, eps, stopThr=1e-15, numItermax=20_000)
            case Partial(fraction):
                mass = fraction * min(a.sum(), b.sum())
                plan = pot.partial.entropic_partial_wasserstein(
                    a, b, C, eps, m=mass, stopThr=1e-15, numItermax=20_000
                )
            case Unbalanced(tau_source=tau_source, tau_target=tau_target):
                plan = pot.unbalanced.sinkhorn_unbalanced(
                    a,
                    b,
                    C,
                    eps,
                    (tau_source, tau_target),
                    reg_type="entropy",
                    stopThr=1e-15,
                    numItermax=20_000,
                )
    whole = np.zeros_like(drawn.C)
    whole[present] = plan
    return whole


SEVERAL: list[Problem] = [
    Balanced(),
    Partial(0.2),
    Partial(0.7),
    Partial(0.95),
    Unbalanced(0.05),
    Unbalanced(0.4),
    Unbalanced(0.1, 2.0),
]


@pytest.mark.parametrize("problem", SEVERAL, ids=repr)
@pytest.mark.parametrize("eps", [1.0, 0.1, 0.05])
def test_entropic_plans_are_those_of_pot(problem, eps):
    rng = np.random.default_rng(11)
    several = [draw(rng, problem, *rng.integers(1, 25, 2), absent=0.15) for _ in range(12)]
    expected = [pot_plan(one, eps) for one in several]

    def largest_gap(convert, solver):
        C, a, b = ([convert(one[side]) for one in several] for side in range(3))
        plans = [np.asarray(t.plan) for t in solve(C, a, b, problem, solver)]
        return max(np.abs(p - e).max() for p, e in zip(plans, expected, strict=True))

    assert largest_gap(np.float64, Entropic(eps, **TIGHT)) < 1e-6
    assert largest_gap(torch.from_numpy, Entropic(eps, **TIGHT)) < 1e-6
    assert largest_gap(lambda x: x.astype(np.float32), Entropic(eps)) < 1e-4
    assert largest_gap(lambda x: torch.tensor(x, dtype=torch.float32), Entropic(eps)) < 1e-4


@pytest.mark.parametrize("seed", range(6))
def test_exact_balanced_and_partial_plans_cost_what_a_linear_programme_says(seed):
    linprog = pytest.importorskip("scipy.optimize").linprog
    rng = np.random.default_rng(seed)
    for problem in (Balanced(), Partial(0.3), Partial(0.8), Partial(1.0)):
        C, a, b, _ = draw(rng, problem, 6, 8, absent=0.2)
        rows, columns = np.kron(np.eye(6), np.ones(8)), np.kron(np.ones(6), np.eye(8))
        bounds = {"A_ub": np.vstack([rows, columns]), "b_ub": np.concatenate([a, b])}
        mass = a.sum() if isinstance(problem, Balanced) else problem.fraction * min(a.sum(), b.sum())
        best = linprog(C.ravel(), **bounds, A_eq=np.ones((1, 48)), b_eq=[mass])
        transport = solve(C, a, b, problem, Exact())
        assert transport.converged
        assert transport.cost == pytest.approx(best.fun, abs=1e-9)
        assert transport.objective == transport.cost
        assert transport.mass == pytest.approx(mass)
        assert np.all(transport.source_marginal <= a + 1e-12)
        assert np.all(transport.target_marginal <= b + 1e-12)


@pytest.mark.parametrize("divergence", ["kl", "l2"])
@pytest.mark.parametrize("unit", [0.1, 1.0, 10.0])
def test_exact_unbalanced_plans_are_where_the_objective_has_no_way_down(divergence, unit):
    problem = Unbalanced(0.3, 0.9, divergence=divergence)
    C, a, b, _ = draw(np.random.default_rng(2), problem, 6, 5, absent=0.2)
    a, b = a * unit, b * unit
    transport = solve(C, a, b, problem, Exact(tol=1e-12))
    assert transport.converged
    assert transport.iterations > 1
    assert np.all(transport.plan[a == 0] == 0)
    rows, columns = transport.source_marginal, transport.target_marginal
    i, j = np.flatnonzero(a), np.flatnonzero(b)
    if divergence == "kl":
        row_slope, column_slope = np.log(rows[i] / a[i]), np.log(columns[j] / b[j])
    else:
        row_slope, column_slope = rows[i] - a[i], columns[j] - b[j]
    slope = C[np.ix_(i, j)] + 0.3 * row_slope[:, None] + 0.9 * column_slope
    used = transport.plan[np.ix_(i, j)] > 1e-5 * unit
    # Optimal: no entry gains by growing, and none that is in use by shrinking.
    assert slope.min() > -1e-3
    assert np.abs(slope[used]).max(initial=0) < 1e-3


def test_exact_returns_what_it_was_given():
    C, a, b, problem = draw(np.random.default_rng(0), Partial(0.5), 4, 5)
    expected = solve(C, a, b, problem, Exact()).plan
    tensors = [torch.tensor(np.stack([x, x]), dtype=torch.float32) for x in (C, a, b)]
    batch = solve(*tensors, problem, Exact())
    assert batch.plan.dtype == torch.float32
    assert batch.converged.tolist() == [True, True]
    np.testing.assert_allclose(batch.plan[1], expected, atol=1e-6)
    (listed,) = solve([C], [a], [b], problem, Exact())
    np.testing.assert_array_equal(listed.plan, expected)
    assert listed.converged is True
