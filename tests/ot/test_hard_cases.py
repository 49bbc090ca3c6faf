"""Extreme numbers: plans are finite and correct, and converged or reported as not converged."""

import numpy as np
import pytest

from otalign.ot import Balanced, Entropic, Exact, Partial, Unbalanced, solve
from tests.ot.random_problems import PROBLEMS, draw

each_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=repr)
each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def check(transport, a, b):
    """Check that a plan is finite and has the required mass, whether it has converged or not."""
    assert np.all(np.isfinite(transport.plan))
    assert np.all(transport.plan >= 0)
    exact = 1e-5 if transport.plan.dtype == np.float32 else 1e-10
    match transport.problem:
        case Balanced():
            assert transport.mass == pytest.approx((a.sum() + b.sum()) / 2, rel=exact)
        case Partial(fraction):
            assert transport.mass == pytest.approx(fraction * min(a.sum(), b.sum()), rel=exact)
    if transport.converged and not isinstance(transport.problem, Unbalanced):
        slack = 1e-3 if transport.plan.dtype == np.float32 else 1e-4
        assert np.all(transport.source_marginal <= a * (1 + slack))
        assert np.all(transport.target_marginal <= b * (1 + slack))


@each_problem
@each_dtype
def test_eps_from_one_to_a_thousandth_loses_nothing(problem, dtype):
    for seed in range(3):
        C, a, b, _ = draw(np.random.default_rng(seed), problem, 14, 9, absent=0.2)
        C, a, b = C.astype(dtype), a.astype(dtype), b.astype(dtype)
        for eps in (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001):
            transport = solve(C, a, b, problem, Entropic(eps))
            assert transport.plan.dtype == dtype
            check(transport, a, b)
            if eps >= 0.1:
                assert transport.converged
            if not transport.converged:
                assert transport.iterations == 1000


@each_problem
@each_dtype
@pytest.mark.parametrize(
    ("low", "high"), [(1e-6, 1e-6), (1e6, 1e6), (1e-6, 1e6)], ids=["small", "large", "mixed"]
)
def test_masses_from_a_millionth_to_a_million(problem, dtype, low, high):
    rng = np.random.default_rng(5)
    for n, m in [(12, 9), (1, 7), (30, 30)]:
        C = rng.random((n, m)).astype(dtype)
        a, b = (np.exp(rng.uniform(np.log(low), np.log(high), size)) for size in (n, m))
        if problem == Balanced():
            b *= a.sum() / b.sum()
        a, b = a.astype(dtype), b.astype(dtype)
        transport = solve(C, a, b, problem)
        assert transport.converged
        check(transport, a, b)
        assert np.any(transport.plan > 0)
        if dtype == np.float32:
            wide = solve(*(x.astype(np.float64) for x in (C, a, b)), problem)
            np.testing.assert_allclose(transport.plan, wide.plan, rtol=1e-3, atol=1e-5 * wide.plan.max())


@each_dtype
@pytest.mark.parametrize("fraction", [0.3, 1.0])
def test_a_part_that_rests_is_moved_whole_however_far_apart_the_masses_are(fraction, dtype):
    rng = np.random.default_rng(1)
    C = rng.random((200, 6, 9)).astype(dtype)
    a, b = ((10 ** rng.uniform(-12, 0, (200, size))).astype(dtype) for size in (6, 9))
    for eps in (0.1, 0.01, 0.001):
        transport = solve(C, a, b, Partial(fraction), Entropic(eps, tol=1e-4))
        assert np.all(np.isfinite(transport.plan))
        assert np.all(transport.plan >= 0)
        part = fraction * np.minimum(a.sum(axis=1), b.sum(axis=1))
        rests = transport.converged
        assert np.count_nonzero(rests) > 190
        np.testing.assert_allclose(transport.mass[rests], part[rests], rtol=2e-4)
        assert np.all(transport.mass <= part * 1.001)


@each_dtype
@pytest.mark.parametrize("tau", [1e-3, 1e-2, 0.1, 1.0, 10.0, 1e2, 1e3])
def test_tau_from_a_thousandth_to_a_thousand_converges_within_a_few_iterations(tau, dtype):
    C, a, b, _ = draw(np.random.default_rng(1), Unbalanced(tau), 12, 30)
    transport = solve(C.astype(dtype), a.astype(dtype), b.astype(dtype), Unbalanced(tau))
    assert transport.converged
    assert transport.iterations <= 60
    check(transport, a, b)
    # The optimum's total, by moving all of the plan up or down together.
    x = np.linspace(0.5, 1.5, 101)
    scaled = [
        type(transport)(transport.plan * k, True, 0, C, a, b, transport.problem, 0.1).objective for k in x
    ]
    assert np.argmin(scaled) == 50


@each_problem
@each_dtype
def test_one_word_on_a_side_and_a_hundred_on_the_other(problem, dtype):
    for n, m in [(1, 1), (1, 100), (100, 1), (3, 300)]:
        C, a, b, _ = draw(np.random.default_rng(3), problem, n, m)
        transport = solve(C.astype(dtype), a.astype(dtype), b.astype(dtype), problem)
        assert transport.converged
        check(transport, a, b)
        if problem == Balanced() and 1 in (n, m):
            np.testing.assert_allclose(transport.plan, np.outer(a, b), rtol=1e-5)


@each_problem
@each_dtype
@pytest.mark.parametrize("cost", [0.0, 0.5, 1.0, 1000.0])
def test_equal_costs_spread_the_mass_evenly(problem, dtype, cost):
    a, b = np.full(6, 1 / 6, dtype), np.full(4, 1 / 4, dtype)
    transport = solve(np.full((6, 4), cost, dtype), a, b, problem)
    assert transport.converged
    check(transport, a, b)
    np.testing.assert_allclose(transport.plan, transport.plan[0, 0], rtol=1e-5)


@each_problem
@pytest.mark.parametrize("solver", [Entropic(), Entropic(0.001), Exact()], ids=repr)
def test_a_side_without_mass_or_without_words_moves_nothing(problem, solver):
    if isinstance(solver, Exact):
        pytest.importorskip("ot")
    nothing = solve(np.ones((2, 3)), np.zeros(2), np.zeros(3), problem, solver)
    assert nothing.converged
    assert np.all(nothing.plan == 0)
    empty = solve(np.ones((0, 3)), np.zeros(0), np.zeros(3), problem, solver)
    assert empty.plan.shape == (0, 3)
    assert empty.mass == 0
    assert solve([], [], [], problem, solver) == []
    listed = solve([np.ones((0, 3)), np.ones((1, 1))], [np.zeros(0), np.ones(1)], [np.zeros(3), np.ones(1)],
                   problem, solver)  # fmt: skip
    assert [t.plan.shape for t in listed] == [(0, 3), (1, 1)]
    assert listed[1].mass > 0
    if problem != Balanced():
        one_sided = solve(np.ones((2, 3)), np.ones(2), np.zeros(3), problem, solver)
        assert np.all(one_sided.plan == 0)
        if isinstance(problem, Unbalanced):
            assert one_sided.objective == pytest.approx(2 * problem.tau_source)


@each_dtype
def test_moving_all_of_the_smaller_side_leaves_none_of_it(dtype):
    C, a, b, _ = draw(np.random.default_rng(4), Partial(1.0), 8, 15)
    transport = solve(C.astype(dtype), a.astype(dtype), b.astype(dtype), Partial(1.0))
    assert transport.converged
    np.testing.assert_allclose(transport.source_marginal, a, rtol=1e-5)


def test_an_unfinished_answer_says_so():
    C, a, b, _ = draw(np.random.default_rng(0), Balanced(), 20, 20)
    transport = solve(C, a, b, Balanced(), Entropic(0.01, max_iterations=7))
    assert transport.converged is False
    assert transport.iterations == 7
    assert repr(transport) == "Transport(20×20, Balanced(), not converged, 7 iterations)"


@pytest.mark.parametrize("problem", PROBLEMS, ids=repr)
def test_one_hard_problem_neither_slows_nor_changes_its_batch(problem):
    rng = np.random.default_rng(9)
    several = [draw(rng, problem, 10, 10) for _ in range(5)]
    C, a, b = (np.stack([one[side] for one in several]).astype(np.float32) for side in range(3))
    C[2] *= 200  # beyond what float32 can scale, and beyond float64 as well
    C[3] *= 20  # beyond float32 alone
    batch = solve(C, a, b, problem)
    for k in range(5):
        alone = solve(C[k], a[k], b[k], problem)
        np.testing.assert_array_equal(batch.plan[k], alone.plan)
        assert batch.iterations[k] == alone.iterations
    assert batch.iterations[2] > batch.iterations[0]
    assert repr(batch).startswith(f"Transport(5 of 10×10, {problem!r}, ")
