"""Invalid input raises a ValueError with the argument, the value and the remedy."""

import numpy as np
import pytest

from otalign.ot import Balanced, Entropic, Exact, Partial, Unbalanced, solve

C, A, B = np.full((2, 3), 0.5), np.full(2, 0.5), np.full(3, 1 / 3)


def replace_entry(array, place, value):
    array = array.copy()
    array[place] = value
    return array


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ((replace_entry(C, (1, 2), np.nan), A, B), r"C must be finite and not negative, got nan at \[1, 2\]"),
        ((replace_entry(C, (0, 0), -0.5), A, B), r"C must be .*got -0.5 at \[0, 0\]; scale costs"),
        ((replace_entry(C, (0, 0), np.inf), A, B), r"C must be .*got inf .*large cost"),
        ((C, replace_entry(A, 1, -1), B), r"a must be .*got -1.0 at \[1\]; give absent words zero mass"),
        ((C, A, replace_entry(B, 2, np.nan)), r"b must be .*got nan at \[2\]"),
        ((C, B, A), r"shapes .*got \(2, 3\), \(3,\), \(2,\)"),
        ((C[0], A, B), r"shapes .*got \(3,\)"),
        ((C[None], A, B), r"shapes .*got \(1, 2, 3\), \(2,\), \(3,\)"),
        ((C, A, 2 * B), r"a and b must have equal totals for Balanced\(\), got 1 and 2; divide each"),
        (
            (C.tolist(), A, B),
            r"must list the same problems, got 2, 2 and 3; for a single problem pass arrays",
        ),
        ((C.tolist(), A.tolist(), A.tolist()), r"problem 0 of the list: .*got list, float, float"),
        ((C, A.tolist(), B), r"shapes .*got \(2, 3\), list, \(3,\)"),
    ],
)
@pytest.mark.parametrize("solver", [Entropic(), Exact()], ids=["entropic", "exact"])
def test_bad_arrays_are_named(arrays, message, solver):
    with pytest.raises(ValueError, match=message):
        solve(*arrays, Balanced(), solver)


def test_a_bad_problem_of_a_list_is_named():
    with pytest.raises(ValueError, match=r"problem 2 of the list: C must be .*got -1.0 at \[0, 1\]"):
        solve([C, C, replace_entry(C, (0, 1), -1), C], [A] * 4, [B] * 4, Unbalanced(1))
    with pytest.raises(ValueError, match=r"problem 1 of the list: a and b must have equal totals"):
        solve([C, C], [A, 3 * A], [B, B], Balanced())
    with pytest.raises(ValueError, match=r"problem 1 of the list: .*got \(2, 3\), \(3,\), \(3,\)"):
        solve([C, C], [A, B], [B, B], Balanced())
    with pytest.raises(ValueError, match=r"must list the same problems, got 2, 1 and 2; "):
        solve([C, C], [A], [B, B], Balanced())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Partial(0), "fraction must be above 0 and at most 1, got 0"),
        (lambda: Partial(1.1), "got 1.1; it is the share"),
        (lambda: Partial(float("nan")), "got nan"),
        (lambda: Unbalanced(0), r"tau must be positive and finite, got 0; .*Balanced\(\)"),
        (lambda: Unbalanced(float("inf")), r"tau must be .*got inf"),
        (lambda: Unbalanced(1, -2), r"tau_target must be .*got -2"),
        (lambda: Unbalanced(), "give tau, or tau_source with tau_target"),
        (lambda: Unbalanced(1, tau_source=2), "give tau, or tau_source"),
        (lambda: Unbalanced(1, divergence="tv"), "divergence must be 'kl' or 'l2', got 'tv'"),  # type: ignore
        (lambda: Entropic(eps=0), r"eps must be positive and finite, got 0; .*Exact\(\)"),
        (lambda: Entropic(tol=-1), "tol must be at least 0 and below 1, got -1"),
        (lambda: Entropic(max_iterations=0), "max_iterations must be at least 1, got 0"),
        (lambda: Exact(max_iterations=0), "max_iterations must be at least 1, got 0"),
        (lambda: solve(C, A, B, Unbalanced(1, divergence="l2")), r"divergence must be 'kl' .*Exact\(\)"),
    ],
)
def test_bad_options_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_what_is_no_problem_at_all_is_a_type_error():
    for solver in (Entropic(), Exact()):
        with pytest.raises(TypeError, match="problem must be Balanced, Partial or Unbalanced, got 'uot'"):
            solve(C, A, B, "uot", solver)  # type: ignore


def test_arrays_of_two_libraries_are_refused():
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match="Multiple namespaces"):
        solve(torch.tensor(C), A, B, Balanced())


def test_options_are_values_that_read_as_they_are_written():
    for text in (
        "Balanced()",
        "Partial(fraction=0.7)",
        "Unbalanced(tau=0.4)",
        "Unbalanced(tau_source=0.1, tau_target=2.0)",
        "Unbalanced(tau=1.0, divergence='l2')",
        "Entropic(eps=0.1, tol=1e-06, max_iterations=1000)",
        "Exact(tol=1e-09, max_iterations=100000)",
    ):
        value = eval(text)
        assert repr(value) == text
        assert value == eval(text)
        assert hash(value) == hash(eval(text))
    assert Unbalanced(0.4) == Unbalanced(0.4, 0.4) == Unbalanced(tau_source=0.4, tau_target=0.4)


@pytest.mark.parametrize(("given", "worked"), [("int64", "float64"), ("float16", "float32")])
def test_other_number_types_are_worked_in_the_nearest_wide_one(given, worked):
    transport = solve(*(x.astype(given) for x in (2 * C, 2 * A, 3 * B)), Unbalanced(1))
    assert transport.plan.dtype == worked
    torch = pytest.importorskip("torch")
    half = solve(*(torch.tensor(x, dtype=torch.bfloat16) for x in (C, A, B)), Unbalanced(1))
    assert half.plan.dtype == torch.float32
    (listed,) = solve(*([torch.tensor(x, dtype=torch.bfloat16)] for x in (C, A, B)), Unbalanced(1))
    assert listed.plan.dtype == torch.float32
