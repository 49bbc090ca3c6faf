"""Laws of transport plans, for all problems and numbers."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign.ot import Balanced, Entropic, Exact, Partial, Unbalanced, solve
from tests.fuzz import share_of_examples
from tests.ot.random_problems import PROBLEMS, TIGHT, draw, random_problems

each_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=repr)


@given(random_problems())
def test_marginals_are_what_the_problem_allows(given_problem):
    C, a, b, problem = given_problem
    transport = solve(C, a, b, problem, Entropic(**TIGHT))
    assert transport.converged
    assert np.all(transport.plan >= 0)
    rows, columns = transport.source_marginal, transport.target_marginal
    match problem:
        case Balanced():
            np.testing.assert_allclose(rows, a, rtol=1e-9)
            np.testing.assert_allclose(columns, b, rtol=1e-9)
        case Partial(fraction):
            assert np.all(rows <= a * (1 + 1e-9))
            assert np.all(columns <= b * (1 + 1e-9))
            assert transport.mass == pytest.approx(fraction * min(a.sum(), b.sum()), rel=1e-12)
        case Unbalanced(tau_source=tau_source, tau_target=tau_target):
            # Where the objective is flat: eps log P + C + tau log(marginal/mass) on both sides is 0.
            i, j = np.flatnonzero(a), np.flatnonzero(b)
            slope = (
                0.1 * np.log(transport.plan[np.ix_(i, j)])
                + C[np.ix_(i, j)]
                + tau_source * np.log(rows[i] / a[i])[:, None]
                + tau_target * np.log(columns[j] / b[j])
            )
            np.testing.assert_allclose(slope, 0, atol=1e-8)


@given(random_problems())
def test_absent_words_move_nothing_and_change_nothing(given_problem):
    C, a, b, problem = given_problem
    whole = solve(C, a, b, problem, Entropic(**TIGHT)).plan
    assert np.all(whole[a == 0] == 0)
    assert np.all(whole[:, b == 0] == 0)
    present = np.ix_(a > 0, b > 0)
    alone = solve(C[present], a[a > 0], b[b > 0], problem, Entropic(**TIGHT)).plan
    np.testing.assert_allclose(whole[present], alone, rtol=1e-9)


@given(random_problems())
def test_swapping_the_sides_transposes_the_plan(given_problem):
    C, a, b, problem = given_problem
    swapped = (
        Unbalanced(problem.tau_target, problem.tau_source) if isinstance(problem, Unbalanced) else problem
    )
    there = solve(C, a, b, problem, Entropic(**TIGHT))
    back = solve(C.T, b, a, swapped, Entropic(**TIGHT))
    np.testing.assert_allclose(back.plan.T, there.plan, rtol=1e-7, atol=1e-12)
    assert back.objective == pytest.approx(there.objective, rel=1e-9)


@given(random_problems(), st.floats(1e-6, 1e6))
def test_scaling_both_masses_scales_the_plan(given_problem, factor):
    C, a, b, problem = given_problem
    once = solve(C, a, b, problem, Entropic(**TIGHT)).plan
    scaled = solve(factor * C / factor, factor * a, factor * b, problem, Entropic(**TIGHT)).plan
    growth = factor
    if isinstance(problem, Unbalanced):
        # Entropy pulls the plan towards size one, the marginals towards size `factor`.
        pull = problem.tau_source + problem.tau_target
        growth = factor ** (pull / (pull + 0.1))
    np.testing.assert_allclose(scaled, growth * once, rtol=1e-7, atol=1e-300)


@given(random_problems(st.sampled_from([Balanced(), Partial(0.6)])), st.floats(0, 5))
def test_a_constant_added_to_all_costs_changes_no_plan_of_given_mass(given_problem, constant):
    C, a, b, problem = given_problem
    plain = solve(C, a, b, problem, Entropic(**TIGHT)).plan
    raised = solve(C + constant, a, b, problem, Entropic(**TIGHT)).plan
    np.testing.assert_allclose(raised, plain, rtol=1e-7, atol=1e-12)


@given(random_problems(), st.integers(0, 2**32))
def test_no_neighbour_of_the_plan_has_a_lower_objective(given_problem, seed):
    C, a, b, problem = given_problem
    best = solve(C, a, b, problem, Entropic(**TIGHT))
    rng = np.random.default_rng(seed)
    (i, k), (j, o) = rng.integers(len(a), size=2), rng.integers(len(b), size=2)
    step = rng.uniform(0, 1) * min(best.plan[i, j], best.plan[k, o])
    other = best.plan.copy()
    other[[i, k], [j, o]] -= step  # a cycle: it keeps all marginals, so it is allowed everywhere
    other[[i, k], [o, j]] += step
    if i == k or j == o:
        other = best.plan
    moved = type(best)(other, True, 0, C, a, b, problem, best.eps)
    assert moved.objective >= best.objective - 1e-12 * abs(best.objective) - 1e-15


@each_problem
@share_of_examples(0.1)
@given(seed=st.integers(0, 2**32))
def test_an_answer_does_not_depend_on_its_batch(problem, seed):
    rng = np.random.default_rng(seed)
    ragged = [draw(rng, problem, *rng.integers(1, 30, 2), absent=0.2) for _ in range(20)]
    ragged[3] = ragged[3]._replace(C=ragged[3].C * 100)  # this one needs logarithms
    C, a, b = ([one[side] for one in ragged] for side in range(3))
    together = solve(C, a, b, problem)
    for one, transport in zip(ragged, together, strict=True):
        (alone,) = solve([one.C], [one.a], [one.b], problem)
        assert np.array_equal(alone.plan, transport.plan)
        assert alone.iterations == transport.iterations
        assert alone.converged == transport.converged
        single = solve(one.C, one.a, one.b, problem)  # not padded: other sums, same answer
        np.testing.assert_allclose(single.plan, transport.plan, rtol=1e-4, atol=1e-8)


@each_problem
def test_a_batch_is_its_problems(problem):
    rng = np.random.default_rng(7)
    several = [draw(rng, problem, 9, 5, absent=0.2) for _ in range(6)]
    C, a, b = (
        np.stack([one[side] for one in several]).reshape(2, 3, *one_shape)
        for side, one_shape in enumerate([(9, 5), (9,), (5,)])
    )
    batch = solve(C, a, b, problem)
    assert batch.plan.shape == (2, 3, 9, 5)
    assert batch.converged.shape == batch.iterations.shape == batch.objective.shape == (2, 3)
    for k, one in enumerate(several):
        alone = solve(one.C, one.a, one.b, problem)
        np.testing.assert_allclose(batch.plan[divmod(k, 3)], alone.plan, rtol=1e-12)
        assert batch.iterations[divmod(k, 3)] == alone.iterations


@share_of_examples(0.5)
@given(random_problems(st.just(Balanced())))
def test_a_large_tau_meets_balanced(given_problem):
    C, a, b, _ = given_problem
    balanced = solve(C, a, b, Balanced(), Entropic(**TIGHT)).plan
    gaps = [
        np.abs(solve(C, a, b, Unbalanced(tau), Entropic(**TIGHT)).plan - balanced).max()
        for tau in (1e1, 1e3, 1e5)
    ]
    assert gaps[0] >= gaps[1] - 1e-9 >= gaps[2] - 2e-9
    assert gaps[2] < 1e-5


@share_of_examples(0.5)
@given(random_problems(st.just(Balanced())))
def test_all_of_equal_masses_moved_in_part_meets_balanced(given_problem):
    C, a, b, _ = given_problem
    balanced = solve(C, a, b, Balanced(), Entropic(**TIGHT)).plan
    partial = solve(C, a, b, Partial(1.0), Entropic(**TIGHT)).plan
    np.testing.assert_allclose(partial, balanced, atol=1e-9)


@each_problem
@pytest.mark.parametrize("seed", range(3))
def test_a_small_eps_meets_the_exact_solver(problem, seed):
    pytest.importorskip("ot")
    C, a, b, _ = draw(np.random.default_rng(seed), problem, 7, 9, absent=0.1)
    exact = solve(C, a, b, problem, Exact(tol=1e-12))
    plans = [solve(C, a, b, problem, Entropic(eps, 1e-9, 200_000)) for eps in (0.1, 0.01, 0.001)]
    free = [  # the entropic plan, priced without its entropy, can only be worse than the optimum
        float(type(p)(p.plan, True, 0, C, a, b, problem, 0.0).objective - exact.objective) for p in plans
    ]
    assert free[0] >= free[1] >= free[2] >= -1e-7
    assert free[2] < 1e-2 * np.log(63)
    assert free[2] < 0.1 * free[0]


@share_of_examples(0.5)
@given(random_problems(st.just(Partial(1.0))))
def test_moving_more_costs_more(given_problem):
    C, a, b, _ = given_problem
    costs = [solve(C, a, b, Partial(f), Entropic(0.02, 1e-12, 100_000)).cost for f in (0.2, 0.5, 0.8, 1.0)]
    assert all(less <= more + 1e-9 for less, more in pairwise(costs))


@share_of_examples(0.5)
@given(random_problems(st.just(Unbalanced(1.0))))
def test_a_higher_price_of_mass_never_lowers_the_objective(given_problem):
    C, a, b, _ = given_problem
    values = [solve(C, a, b, Unbalanced(t), Entropic(**TIGHT)).objective for t in (0.01, 0.1, 1.0, 10.0)]
    assert all(lower <= higher + 1e-9 for lower, higher in pairwise(values))


@given(random_problems())
def test_the_dual_objective_never_falls_and_ends_at_the_primal(given_problem):
    C, a, b, problem = given_problem
    values = []
    for iterations in range(1, 12):
        transport = solve(C, a, b, problem, Entropic(tol=0, max_iterations=iterations))
        values.append(_dual_objective(transport))
    assert all(earlier <= later + 1e-11 * (1 + abs(later)) for earlier, later in pairwise(values))
    best = solve(C, a, b, problem, Entropic(**TIGHT))
    assert values[-1] <= best.objective + 1e-11 * (1 + abs(best.objective))
    assert _dual_objective(best) == pytest.approx(best.objective, rel=1e-9, abs=1e-9)


def _dual_objective(transport):
    """The best dual value over all potentials with f_i + g_j = eps log P_ij + C_ij.

    These are known up to f + t, g − t, and the dual has its best t in closed form.
    """
    eps, problem = transport.eps, transport.problem
    i, j = np.flatnonzero(transport.a), np.flatnonzero(transport.b)
    a, b = transport.a[i], transport.b[j]
    sums = eps * np.log(transport.plan[np.ix_(i, j)]) + transport.C[np.ix_(i, j)]
    f, g = sums[:, 0], sums[0] - sums[0, 0]
    match problem:
        case Balanced():
            linear = a @ f + b @ g
        case Partial(fraction):  # f, g ≤ 0 price the bounds, the rest of the sum the mass to move
            moved = fraction * min(a.sum(), b.sum())
            linear = a @ (f - f.max()) + b @ (g - g.max()) + moved * (f.max() + g.max())
        case Unbalanced(tau_source=tau_source, tau_target=tau_target):
            A, B = a @ np.exp(-f / tau_source), b @ np.exp(-g / tau_target)
            p = tau_source / (tau_source + tau_target)
            linear = tau_source * a.sum() + tau_target * b.sum()
            linear -= (tau_source + tau_target) * A**p * B ** (1 - p)
    return linear - eps * transport.plan.sum()
