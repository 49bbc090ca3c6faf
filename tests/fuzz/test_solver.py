"""`solve` on hostile but valid problems: finite plans, correct marginals, and the plans of POT."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from otalign.ot import Balanced, Entropic, Partial, Problem, Unbalanced, solve
from tests.fuzz import share_of_examples
from tests.ot.random_problems import RandomProblem, problems
from tests.ot.test_oracle import pot_plan

sizes = st.integers(1, 9)
eps = st.floats(1e-4, 1e3)


@st.composite
def hostile_problems(draw, problems=problems, least: float = 1e-12, most: float = 1e6) -> RandomProblem:
    """Draw costs with ties, zeros and large values, and masses of many magnitudes, some of them zero."""
    n, m = draw(sizes), draw(sizes)
    problem: Problem = draw(problems)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    high = draw(st.sampled_from([0.0, 1e-300, 1e-3, 1.0, most]))
    C = high * rng.choice([0.0, 0.5, 1.0, rng.random()], size=(n, m))
    a, b = (np.exp(rng.uniform(np.log(least), np.log(draw(st.sampled_from([1.0, most]))), k)) for k in (n, m))
    for masses in (a, b):
        masses[1:][rng.random(len(masses) - 1) < 0.2] = 0
    if isinstance(problem, Balanced):
        b *= a.sum() / b.sum()
    return RandomProblem(C, a, b, problem)


@given(hostile_problems(), eps, st.sampled_from([np.float32, np.float64]))
def test_a_hostile_problem_has_a_finite_plan_that_says_whether_it_converged(given_problem, eps, dtype):
    C, a, b, problem = given_problem
    C, a, b = (x.astype(dtype) for x in (C, a, b))
    assume(min(a.sum(), b.sum()) > 0)
    transport = solve(C, a, b, problem, Entropic(eps))
    assert np.all(np.isfinite(transport.plan))
    assert np.all(transport.plan >= 0)
    assert transport.plan.shape == C.shape
    assert isinstance(transport.converged, bool)
    assert np.all(transport.plan[a == 0] == 0)
    assert np.all(transport.plan[:, b == 0] == 0)
    if transport.converged and isinstance(problem, Balanced | Partial):
        # At convergence at most the share `tol` of the mass still has to move; rounding in float32 adds as
        # much.
        slack = (1e-3 if dtype == np.float32 else 1e-4) * max(a.sum(), b.sum())
        assert np.maximum(transport.source_marginal - a, 0).sum() <= slack
        assert np.maximum(transport.target_marginal - b, 0).sum() <= slack
        part = problem.fraction if isinstance(problem, Partial) else 1
        assert transport.mass == pytest.approx(part * min(a.sum(), b.sum()), rel=1e-3)


# Those that POT solves too: in plain arithmetic, and with at most 20,000 iterations.
solved_by_pot = st.one_of(
    st.just(Balanced()),
    st.builds(Partial, st.floats(0.05, 1.0)),
    st.builds(Unbalanced, st.floats(1e-2, 5), st.floats(1e-2, 5)),
)


@share_of_examples(0.1)
@given(hostile_problems(solved_by_pot, least=1e-2, most=1.0), st.floats(0.05, 1.0))
def test_where_it_converged_the_plan_is_that_of_pot(given_problem, eps):
    transport = solve(*given_problem, Entropic(eps, 1e-12, 20_000))
    assume(transport.converged)
    expected = pot_plan(given_problem, eps)
    assert transport.plan == pytest.approx(expected, abs=1e-6 * max(1, expected.max()))
