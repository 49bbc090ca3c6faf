"""Order and structure: laws of quadratic terms, POT as the oracle, gradients, and errors."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign.ot import Balanced, Entropic, Exact, Order, Partial, Quadratic, Structure, Unbalanced, solve
from tests.ot.random_problems import TIGHT, draw

torch = pytest.importorskip("torch")

PROBLEMS = [Balanced(), Partial(0.7), Unbalanced(0.4), Unbalanced(0.2, 1.5)]
SIZES = [(5, 7), (20, 3), (1, 4), (17, 18)]
SOLVER = Entropic(0.1, **TIGHT)
each_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=repr)
each_term = pytest.mark.parametrize("kind", ["order", "supported order", "structure"])
each_steps = pytest.mark.parametrize("steps", [1, 3, None])


def draw_distances(rng, n):
    points = rng.random((n, 2))
    return np.linalg.norm(points[:, None] - points, axis=-1)


def draw_several(problem, sizes=SIZES, seed=0, absent=0.0):
    """Draw problems of several sizes, as three lists."""
    rng = np.random.default_rng(seed)
    drawn = [draw(rng, problem, n, m, absent) for n, m in sizes]
    return tuple([one[side] for one in drawn] for side in range(3))


def make_term(kind, sizes=SIZES, steps=1, seed=0, weight=0.1) -> Quadratic:
    """Make a term for problems of several sizes, with lists of matrices."""
    rng = np.random.default_rng(seed)
    if kind == "structure":
        source, target = ([draw_distances(rng, size[side]) for size in sizes] for side in (0, 1))
        return Structure(source, target, weight, steps)
    return Order(weight, steps, support=[rng.random(size) for size in sizes] if "supported" in kind else None)


def sum_over_cells(kind, term, P):
    """The value of a term by its definition, one pair of cells after the other."""
    cells, value = list(np.ndindex(P.shape)), 0.0
    for i, j in cells:
        for k, m in cells:
            if kind == "structure":
                value += term.weight * (term.source[i, k] - term.target[j, m]) ** 2 * P[i, j] * P[k, m]
            elif (k - i, m - j) in ((1, 1), (-1, -1)):
                s = np.ones(P.shape) if term.support is None else term.support
                value -= term.weight / 2 * s[i, j] * P[i, j] * s[k, m] * P[k, m]
    return value


@each_term
@given(seed=st.integers(0, 2**32), n=st.integers(1, 5), m=st.integers(1, 5))
def test_a_value_is_the_sum_of_its_definition_and_its_gradient_the_slope(kind, seed, n, m):
    P = np.random.default_rng(seed).random((n, m))
    term = make_term(kind, [(n, m)], seed=seed).select(0)
    assert term.evaluate(P) == pytest.approx(sum_over_cells(kind, term, P))
    way = np.random.default_rng(seed + 1).normal(size=(n, m))
    slope = (term.evaluate(P + 1e-4 * way) - term.evaluate(P - 1e-4 * way)) / 2e-4
    assert (term.differentiate(np, P) * way).sum() == pytest.approx(slope, abs=1e-9)


@each_problem
@each_term
@each_steps
def test_a_plan_is_the_same_alone_in_a_list_in_a_batch_and_in_torch(problem, kind, steps):
    C, a, b = draw_several(problem, absent=0.2)
    term = make_term(kind, steps=steps)
    listed = solve(C, a, b, problem, SOLVER, term)
    tensors = [[torch.tensor(x) for x in side] for side in (C, a, b)]
    leaf = tensors[0][0].clone().requires_grad_()  # which keeps the list in torch
    in_torch = solve(
        [leaf, *tensors[0][1:]], *tensors[1:], problem, SOLVER, term.map(lambda x: [*map(torch.tensor, x)])
    )
    for k, found in enumerate(listed):
        alone = solve(C[k], a[k], b[k], problem, SOLVER, term.select(k))
        stacked = [np.stack([x[k]] * 2) for x in (C, a, b)]
        batch = solve(*stacked, problem, SOLVER, term.select(k).map(lambda D: np.stack([D, D])))
        single = solve([C[k]], [a[k]], [b[k]], problem, SOLVER, term.map(lambda x, k=k: [x[k]]))[0]
        np.testing.assert_array_equal(single.plan, found.plan)
        np.testing.assert_allclose(alone.plan, found.plan, atol=1e-9)
        np.testing.assert_allclose(batch.plan[1], found.plan, atol=1e-9)
        np.testing.assert_allclose(in_torch[k].plan.detach(), found.plan, atol=1e-9)
        assert alone.objective == pytest.approx(found.objective, abs=1e-9)
        assert batch.objective[0] == pytest.approx(found.objective, abs=1e-9)
        assert found.converged
        assert np.all(found.plan[a[k] == 0] == 0)


@each_problem
@each_term
def test_one_step_adds_the_gradient_at_the_plan_to_the_costs(problem, kind):
    C, a, b = (side[0] for side in draw_several(problem))
    term = make_term(kind).select(0)
    first = solve(C, a, b, problem, SOLVER)
    slope = term.differentiate(np, first.plan)
    constant = max(0.0, -(C + slope).min())  # costs must not be negative
    found = solve(C, a, b, problem, SOLVER, term)
    if not isinstance(problem, Unbalanced):  # a constant changes no plan of given mass
        expected = solve(C + slope + constant, a, b, problem, SOLVER)
        np.testing.assert_allclose(found.plan, expected.plan, atol=1e-9)
    elif not constant:
        np.testing.assert_allclose(found.plan, solve(C + slope, a, b, problem, SOLVER).plan, atol=1e-9)
    assert solve(C, a, b, problem, SOLVER, make_term(kind, weight=0.0).select(0)).plan == pytest.approx(
        first.plan
    )


@each_term
def test_a_fixed_point_is_where_the_objective_is_flat(kind):
    problem = Unbalanced(0.4, 0.9)
    C, a, b = (side[0] for side in draw_several(problem))
    found = solve(C, a, b, problem, SOLVER, make_term(kind, steps=None).select(0))
    assert found.converged
    rows, columns = found.source_marginal, found.target_marginal
    slope = 0.1 * np.log(found.plan) + C + found.quadratic.differentiate(np, found.plan)
    slope += 0.4 * np.log(rows / a)[:, None] + 0.9 * np.log(columns / b)
    np.testing.assert_allclose(slope, 0, atol=1e-8)
    for seed in range(5):  # and a small change of the plan raises it
        changed = found.plan * (1 + 0.01 * np.random.default_rng(seed).normal(size=C.shape))
        assert found.objective < _replace_plan(found, changed).objective


def _replace_plan(transport, plan):
    from dataclasses import replace

    return replace(transport, plan=plan)


def test_order_makes_ambiguous_words_follow_their_neighbours():
    C = np.array([[0.0, 0.9, 0.9, 0.9], [0.9, 0.5, 0.9, 0.5], [0.9, 0.9, 0.0, 0.9]])
    plain, ordered = (
        solve(C, np.ones(3), np.ones(4), Partial(1.0), quadratic=term).plan for term in (None, Order(0.2))
    )
    assert plain[1, 1] == pytest.approx(plain[1, 3])
    assert ordered[1, 1] > 0.9


@pytest.mark.parametrize("seed", range(4))
def test_balanced_structure_is_the_fused_gromov_wasserstein_of_pot(seed):
    pot = pytest.importorskip("ot", reason="the oracle needs POT")
    C, a, b = draw_several(Balanced(), seed=seed)
    alpha = 0.3
    term = make_term("structure", steps=None, seed=seed, weight=alpha)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, found in enumerate(solve([(1 - alpha) * x for x in C], a, b, Balanced(), SOLVER, term)):
            plan, log = pot.gromov.entropic_fused_gromov_wasserstein(
                *(C[k], term.source[k], term.target[k], a[k], b[k]),
                epsilon=0.1,
                alpha=alpha,
                tol=1e-14,
                stopThr=1e-15,
                numItermax=20_000,
                log=True,
            )
            np.testing.assert_allclose(found.plan, plan, atol=1e-8)
            assert found.cost + found.quadratic.evaluate(found.plan) == pytest.approx(log["fgw_dist"])


@pytest.mark.parametrize("fraction", [0.4, 0.8])
def test_partial_structure_is_the_partial_gromov_wasserstein_of_pot(fraction):
    pot = pytest.importorskip("ot", reason="the oracle needs POT")
    rng = np.random.default_rng(3)
    for n, m in ((5, 7), (8, 4)):
        D, E = draw_distances(rng, n), draw_distances(rng, m)
        a, b = np.ones(n) / n, np.ones(m) / m
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Without costs: POT's fused version adds the sum ⟨C, P⟩ to each cost, which changes nothing.
            plan = pot.gromov.entropic_partial_gromov_wasserstein(
                *(D, E, a, b), reg=0.1, m=fraction, tol=1e-14, numItermax=5000
            )
        found = solve(np.zeros((n, m)), a, b, Partial(fraction), SOLVER, Structure(D, E, 1.0, None))
        # POT's inner loop stops at 1e-100, and its outer one tests every tenth step.
        np.testing.assert_allclose(found.plan, plan, atol=1e-6)


def test_unbalanced_structure_is_the_fixed_point_of_the_solver_of_pot():
    """POT's own unbalanced version prices products of marginals, so its solver of a step is the oracle."""
    pot = pytest.importorskip("ot", reason="the oracle needs POT")
    problem = Unbalanced(0.4, 0.9)
    C, a, b = (side[0] for side in draw_several(problem))
    term = make_term("structure", steps=None).select(0)
    found = solve(C, a, b, problem, SOLVER, term)
    plan = np.outer(a, b)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(60):
            loss, A, B = pot.gromov.init_matrix(term.source, term.target, plan.sum(1), plan.sum(0))
            costs = C + term.weight * pot.gromov.gwggrad(loss, A, B, plan)
            plan = pot.unbalanced.sinkhorn_unbalanced(
                *(a, b, costs, 0.1, (0.4, 0.9)), reg_type="entropy", stopThr=1e-14, numItermax=20_000
            )
    np.testing.assert_allclose(found.plan, plan, atol=1e-8)


@each_problem
@each_term
@pytest.mark.parametrize("steps", [1, 2])
def test_gradients_are_finite_differences(problem, kind, steps):
    C, a, b = (torch.tensor(side[0], requires_grad=True) for side in draw_several(problem, [(3, 4)]))
    term = make_term(kind, [(3, 4)], steps).select(0)
    names = list(term.matrices)
    leaves = [torch.tensor(D, requires_grad=True) for D in term.matrices.values()]

    def plan(C, a, b, *matrices):
        if kind == "structure":  # stays symmetric while one entry changes
            matrices = [(D + D.T) / 2 for D in matrices]
        values = iter(matrices)
        return solve(C, a, b, problem, SOLVER, term.map(lambda _: next(values))).plan

    assert len(names) == len(leaves)
    assert torch.autograd.gradcheck(plan, (C, a, b, *leaves), eps=1e-7, atol=1e-4, rtol=1e-3)


def test_gradients_pass_through_a_ragged_list():
    sizes = [(3, 4), (2, 2)]
    C, a, b = draw_several(Partial(0.7), sizes)
    leaves = [torch.tensor(x, requires_grad=True) for x in C]
    term = make_term("structure", sizes).map(lambda listed: [torch.tensor(D) for D in listed])
    rest = [[torch.tensor(x) for x in side] for side in (a, b)]

    def losses(*C):
        return torch.stack([t.objective for t in solve(list(C), *rest, Partial(0.7), SOLVER, term)])

    assert torch.autograd.gradcheck(losses, leaves, eps=1e-7, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("problem", [Balanced(), Partial(0.6), Unbalanced(0.4)], ids=repr)
def test_the_exact_solver_takes_quadratic_terms_too(problem):
    pytest.importorskip("ot", reason="the exact solver needs POT")
    C, a, b = (side[0] for side in draw_several(problem))
    found = solve(C, a, b, problem, Exact(), Order(0.5))
    near = solve(C, a, b, problem, Entropic(1e-3, max_iterations=20_000), Order(0.5))
    assert found.cost == pytest.approx(near.cost, abs=0.02)
    assert found.eps == 0


def test_float32_stays_float32_and_padding_may_hold_anything():
    C, a, b = (side[0].astype(np.float32) for side in draw_several(Partial(0.7)))
    term = make_term("structure").select(0)
    expected = solve(C, a, b, Partial(0.7), quadratic=term).plan
    assert expected.dtype == np.float32
    wide = [np.pad(x, (0, 1), constant_values=value) for x, value in ((C, 0.5), (a, 0), (b, 0))]
    padded = term.map(lambda D: np.pad(D, (0, 1), constant_values=9.0))
    np.testing.assert_allclose(
        solve(*wide, Partial(0.7), quadratic=padded).plan[:-1, :-1], expected, atol=1e-6
    )


def test_empty_problems_have_empty_plans():
    term = Structure(np.zeros((0, 0)), np.zeros((3, 3)))
    assert solve(np.zeros((0, 3)), np.zeros(0), np.ones(3), Partial(1.0), quadratic=term).plan.shape == (0, 3)
    assert solve([], [], [], Partial(1.0), quadratic=Order(0.1, support=[])) == []


BAD = [
    (lambda: Order(-0.1), "weight must be finite and not negative, got -0.1"),
    (lambda: Order(0.1, 0), "steps must be at least 1, or None for a fixed point, got 0"),
    (lambda: solve_with(Order(0.1, support=np.ones((2, 3)))), r"support must be an array of shape \(2, 2\)"),
    (lambda: solve_with(Order(0.1, support=[np.ones((2, 2))])), "got list"),
    (
        lambda: solve_with(Structure(np.ones((2, 2)), np.ones((3, 3)))),
        r"target must be .* \(2, 2\), got \(3, 3\)",
    ),
    (lambda: solve_with(Structure(np.ones((2, 2)), np.array([[0, 1], [2, 0]]))), "target must be symmetric"),
    (lambda: solve_with(Structure(np.ones((2, 2)), np.full((2, 2), np.nan))), "target must be finite"),
    (lambda: solve_with(Structure(torch.ones(2, 2), np.ones((2, 2)))), "source must be of the library of C"),
    (lambda: solve_listed(Order(0.1, support=np.ones((2, 2)))), "support must be a list of 2 matrices"),
    (lambda: solve_listed(Order(0.1, support=[np.ones((2, 2))])), "list of 2 matrices, as C is, got 1"),
    (
        lambda: solve_listed(Order(0.1, support=[np.ones((2, 2)), np.ones((1, 2))])),
        "problem 1 of the list: support",
    ),
]


def solve_with(term):
    return solve(np.ones((2, 2)), np.ones(2), np.ones(2), Partial(1.0), quadratic=term)


def solve_listed(term):
    sides = [np.ones((2, 2))] * 2, [np.ones(2)] * 2, [np.ones(2)] * 2
    return solve(*sides, Partial(1.0), quadratic=term)


@pytest.mark.parametrize(("act", "message"), BAD)
def test_errors_name_the_argument_and_its_value(act, message):
    with pytest.raises(ValueError, match=message) as raised:
        act()
    assert "\n" not in str(raised.value)


def test_an_object_that_is_not_a_term_is_refused():
    with pytest.raises(TypeError, match=r"quadratic must be Order, Structure or None, got 0\.1"):
        solve(np.ones((2, 2)), np.ones(2), np.ones(2), Partial(1.0), quadratic=0.1)
