"""Random transport problems: Hypothesis strategies, and a function that takes a random generator."""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from otalign.ot import Balanced, Partial, Problem, Unbalanced

PROBLEMS = [Balanced(), Partial(0.7), Unbalanced(0.4), Unbalanced(0.2, 1.5)]
TIGHT = {"tol": 1e-13, "max_iterations": 100_000}


class RandomProblem(NamedTuple):
    C: np.ndarray
    a: np.ndarray
    b: np.ndarray
    problem: Problem


def draw(rng: np.random.Generator, problem: Problem, n: int, m: int, absent: float = 0.0) -> RandomProblem:
    """Draw costs in [0, 1] and masses in [0.1, 1.1]; words may be absent, but not all of a side."""
    C, a, b = rng.random((n, m)), rng.random(n) + 0.1, rng.random(m) + 0.1
    for x in (a, b):
        x[1:][rng.random(len(x) - 1) < absent] = 0
    if problem == Balanced():
        a, b = a / a.sum(), b / b.sum()
    return RandomProblem(C, a, b, problem)


problems = st.one_of(
    st.just(Balanced()),
    st.builds(Partial, st.floats(0.05, 1.0)),
    st.builds(Unbalanced, st.floats(1e-2, 1e2), st.floats(1e-2, 1e2)),
)


@st.composite
def random_problems(draw_from, problem: st.SearchStrategy[Problem] = problems) -> RandomProblem:
    """A problem of up to 12 × 12 words, about one in four of them absent."""
    size = st.integers(1, 12)
    rng = np.random.default_rng(draw_from(st.integers(0, 2**32)))
    return draw(rng, draw_from(problem), draw_from(size), draw_from(size), absent=0.25)
