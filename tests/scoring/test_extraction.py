"""Hysteresis, a lower threshold beside links, compared with a reference in plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign.scoring.extraction import apply_hysteresis

THRESHOLD = 0.5


def complete(scores: np.ndarray, hysteresis: float) -> np.ndarray:
    return apply_hysteresis(scores[None], hysteresis)[0]


def select_by_hand(scores: np.ndarray, hysteresis: float) -> set[tuple[int, int]]:
    """Return the cells above the threshold, and those above a share of it beside one of them."""
    cells = {(i, j): score for (i, j), score in np.ndenumerate(scores)}
    strong = {cell for cell, score in cells.items() if score > THRESHOLD}

    def has_neighbour(i: int, j: int) -> bool:
        return not strong.isdisjoint({(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)})

    weak = {cell for cell, score in cells.items() if score / (1 - hysteresis) > THRESHOLD}
    return strong | {cell for cell in weak if has_neighbour(*cell)}


scores = st.builds(
    lambda seed, n, m: np.random.default_rng(seed).random((n, m)),
    st.integers(0, 2**32),
    st.integers(1, 7),
    st.integers(1, 7),
)
below_one = st.floats(0, 0.9)


@given(scores, below_one)
def test_links_are_strong_ones_and_weaker_ones_beside_them(scores, hysteresis):
    found = {(int(i), int(j)) for i, j in np.argwhere(complete(scores, hysteresis) > THRESHOLD)}
    assert found == select_by_hand(scores, hysteresis)


@given(scores, below_one)
def test_no_score_falls_and_none_rises_above_its_neighbours(scores, hysteresis):
    raised = complete(scores, hysteresis)
    assert (raised >= scores).all()
    assert raised.max() == scores.max()
    np.testing.assert_array_equal(complete(scores, 0.0), scores)
    np.testing.assert_array_equal(complete(scores.T, hysteresis).T, raised)


@given(scores, below_one)
def test_padding_changes_nothing(scores, hysteresis):
    n, m = scores.shape
    padded = np.zeros((2, n + 2, m + 1))
    padded[1, :n, :m] = scores
    raised = apply_hysteresis(padded, hysteresis)[1]
    np.testing.assert_array_equal(raised[:n, :m], complete(scores, hysteresis))
    assert not raised[n:].any()
    assert not raised[:, m:].any()


def test_torch_gives_the_same():
    torch = pytest.importorskip("torch")
    scores = np.random.default_rng(0).random((3, 5, 6), dtype=np.float32)
    found = apply_hysteresis(torch.tensor(scores), 0.4)
    np.testing.assert_allclose(found.numpy(), apply_hysteresis(scores, 0.4), atol=1e-6)
