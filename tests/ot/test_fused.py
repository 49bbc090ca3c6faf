"""The fused loop compared with the plain one: on a GPU, or without one in Triton's interpreter."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import numpy as np
import pytest

from otalign.ot import Balanced, Entropic, Partial, Problem, Transport, Unbalanced, scaling, solve
from otalign.ot.scaling import Factors
from tests.ot.random_problems import PROBLEMS, draw

torch = pytest.importorskip("torch")

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

COUNT = 200 if DEVICE == "cuda" else 6  # problems in a batch: the interpreter is slow

if find_spec("triton") is None:
    pytest.skip("the fused loop needs Triton", allow_module_level=True)
if DEVICE == "cpu":
    os.environ["TRITON_INTERPRET"] = "1"  # Triton reads it when it is imported, and at the first launch

from otalign.ot import fused  # noqa: E402

each_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=repr)

SEVERAL: list[Problem] = [
    Balanced(),
    *map(Partial, (0.01, 0.3, 0.9, 0.999, 1.0)),
    *map(Unbalanced, (1e-3, 0.05, 0.4, 10.0, 1e3)),
    Unbalanced(1e-3, 1e3),
    Unbalanced(1e3, 0.2),
]


def find_fused(factors: Factors, updates: object) -> Callable:
    assert fused.can_iterate(factors, updates)
    return fused.iterate


@contextmanager
def use_loop(find_loop: Callable) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scaling, "_find_fused_loop", find_loop)
        yield


def solve_by_both(arrays, problem: Problem, solver: Entropic = Entropic()) -> tuple[Transport, Transport]:
    tensors = [torch.tensor(x, dtype=torch.float32, device=DEVICE) for x in arrays]
    with use_loop(find_fused):
        found = solve(*tensors, problem, solver)
    with use_loop(lambda factors, updates: None):
        plain = solve(*tensors, problem, solver)
    return found, plain


def check_equal(found: Transport, plain: Transport, same_iterations: float = 0.8) -> None:
    """Check that plans are equal but for rounding, which now and then decides when a problem stops."""
    scale = plain.plan.amax((-2, -1), keepdim=True).clamp(min=1e-30)
    torch.testing.assert_close(found.plan / scale, plain.plan / scale, atol=2e-5, rtol=1e-3)
    assert torch.equal(found.converged, plain.converged)
    assert found.iterations.dtype == plain.iterations.dtype
    assert (found.iterations == plain.iterations).float().mean() >= same_iterations


def draw_ragged(seed: int, problem: Problem, count: int, n: int, m: int) -> list[np.ndarray]:
    """Draw problems of up to n × m words, some of them absent, padded with arbitrary costs."""
    rng = np.random.default_rng(seed)
    C, a, b = rng.random((count, n, m)), np.zeros((count, n)), np.zeros((count, m))
    for k in range(count):
        rows, columns = (1, m) if k == 0 else (n, 1) if k == 1 else rng.integers(1, (n + 1, m + 1))
        one = draw(rng, problem, rows, columns, absent=0.15)
        C[k, :rows, :columns], a[k, :rows], b[k, :columns] = one.C, one.a, one.b
    return [C, a, b]


@pytest.mark.parametrize("problem", SEVERAL, ids=repr)
def test_plans_are_those_of_the_plain_loop(problem):
    check_equal(*solve_by_both(draw_ragged(0, problem, COUNT, 19, 30), problem))


@each_problem
@pytest.mark.parametrize(
    "size", [(1, 1), (1, 90), (40, 1), (7, 5), (32, 32), (33, 31), (64, 64), (20, 100), (128, 128)], ids=str
)
def test_plans_of_any_size_are_those_of_the_plain_loop(problem, size):
    check_equal(*solve_by_both(draw_ragged(1, problem, 4, *size), problem), same_iterations=0.5)


@each_problem
@pytest.mark.parametrize("eps", [1.0, 0.1, 0.04])
def test_plans_at_any_tolerance_are_those_of_the_plain_loop(problem, eps):
    for tol in (1e-2, 0.0):
        check_equal(*solve_by_both(draw_ragged(2, problem, COUNT, 9, 12), problem, Entropic(eps, tol)))


@each_problem
@pytest.mark.parametrize(("low", "high"), [(1e-6, 1e-6), (1e6, 1e6), (1e-6, 1e6)], ids=str)
def test_masses_from_a_millionth_to_a_million(problem, low, high):
    rng = np.random.default_rng(5)
    for n, m in [(12, 9), (1, 7), (30, 30)]:
        a, b = (np.exp(rng.uniform(np.log(low), np.log(high), (3, size))) for size in (n, m))
        if problem == Balanced():
            b *= a.sum(1, keepdims=True) / b.sum(1, keepdims=True)
        check_equal(*solve_by_both([rng.random((3, n, m)), a, b], problem), same_iterations=0.5)


@each_problem
def test_thousands_of_problems_all_stop_at_their_solution(problem):
    # One in a few thousand stopped elsewhere when the threads of a program rounded the same sum differently.
    C = np.random.default_rng(6).random((100 * COUNT if DEVICE == "cuda" else COUNT, 32, 32))
    masses = np.full(C.shape[:2], 1 / 32 if problem == Balanced() else 1.0)
    check_equal(*solve_by_both([C, masses, masses], problem))


@each_problem
def test_problems_without_mass_move_nothing(problem):
    C, a, b = draw_ragged(3, problem, 5, 6, 8)
    a[2], b[2] = 0, 0
    check_equal(*solve_by_both([C, a, b], problem))


@each_problem
@pytest.mark.parametrize("iterations", [1, 3, 5, 6, 12])
def test_an_unfinished_answer_says_so(problem, iterations):
    one = draw(np.random.default_rng(4), problem, 20, 20)
    found, plain = solve_by_both(one[:3], problem, Entropic(0.04, 0.0, iterations))
    assert found.converged is plain.converged is False
    assert found.iterations == plain.iterations == iterations
    torch.testing.assert_close(found.plan, plain.plan, atol=1e-5, rtol=1e-3)


@each_problem
def test_an_answer_does_not_depend_on_its_batch(problem):
    arrays = draw_ragged(5, problem, 6, 16, 48)
    together, _ = solve_by_both(arrays, problem)
    for k in range(6):
        alone, _ = solve_by_both([x[k] for x in arrays], problem)
        if DEVICE == "cuda":
            assert torch.equal(alone.plan, together.plan[k])
        else:  # on a CPU, torch's own powers depend on their place in memory
            torch.testing.assert_close(alone.plan, together.plan[k])
        assert alone.iterations == together.iterations[k]


@pytest.mark.parametrize("problem", [*PROBLEMS, Partial(1.0)], ids=repr)
def test_gradients_are_those_of_the_plain_loop(problem):
    slopes = []
    for find_loop in (find_fused, lambda factors, updates: None):
        leaves = [
            torch.tensor(x, dtype=torch.float32, device=DEVICE, requires_grad=True)
            for x in draw_ragged(6, problem, 3, 10, 14)
        ]
        with use_loop(find_loop):
            plan = solve(*leaves, problem, Entropic(tol=0)).plan
        slopes.append(torch.autograd.grad((plan * plan).sum(), leaves))
    for slope, expected in zip(*slopes, strict=True):
        torch.testing.assert_close(slope, expected, atol=1e-4, rtol=1e-3)


def test_other_problems_are_left_to_the_plain_loop(monkeypatch):
    asked = []

    def find_loop(factors: Factors, updates: object) -> None:
        asked.append(fused.can_iterate(factors, updates))

    monkeypatch.setattr(scaling, "_find_fused_loop", find_loop)

    def choose(n: int, m: int, dtype: torch.dtype, problem: Problem, eps: float) -> bool:
        C, a, b = (torch.ones(*shape, dtype=dtype, device=DEVICE) for shape in [(n, m), (n,), (m,)])
        solve(C, a, b, problem, Entropic(eps))
        return asked.pop()

    assert choose(128, 128, torch.float32, Partial(0.5), 0.1)
    assert not choose(129, 128, torch.float32, Partial(0.5), 0.1)  # too large for the registers
    assert not choose(4, 4, torch.float64, Partial(0.5), 0.1)
    assert not choose(4, 4, torch.float32, Partial(0.5), 0.01)  # in float64
    assert not choose(4, 4, torch.float32, Partial(0.5), 0.001)  # in the log domain


def test_where_nothing_compiles_the_plain_loop_runs(monkeypatch):
    def fail(*arguments: object) -> None:
        raise RuntimeError("Failed to find C compiler")

    monkeypatch.setattr(fused, "_launch", fail)
    fused._can_compile.cache_clear()
    C, a = torch.ones((3, 3), device=DEVICE), torch.ones(3, device=DEVICE)
    asked = []
    with use_loop(lambda factors, updates: asked.append(fused.can_iterate(factors, updates))):
        solve(C, a, a, Unbalanced(0.4))
    fused._can_compile.cache_clear()
    assert asked == [False]


@pytest.mark.skipif(DEVICE == "cpu", reason="needs a GPU")
@each_problem
def test_a_gpu_runs_the_fused_loop(problem, monkeypatch):
    arrays = draw_ragged(7, problem, 50, 24, 24)
    found, _ = solve_by_both(arrays, problem)
    monkeypatch.setattr(scaling.Factors, "update", None)  # what the plain loop would call
    chosen = solve(*(torch.tensor(x, dtype=torch.float32, device=DEVICE) for x in arrays), problem)
    assert torch.equal(chosen.plan, found.plan)
