"""Links beside others need less: a threshold with hysteresis, compared with a reference in plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign.scoring.extraction import complete_phrases

THRESHOLD = 0.5


def complete(scores: np.ndarray, completion: float) -> np.ndarray:
    return complete_phrases(scores[None], completion)[0]


def select_by_hand(scores: np.ndarray, completion: float) -> set[tuple[int, int]]:
    """Return the cells above the threshold, and those above a share of it beside one of them."""
    cells = {(i, j): score for (i, j), score in np.ndenumerate(scores)}
    strong = {cell for cell, score in cells.items() if score > THRESHOLD}

    def has_neighbour(i: int, j: int) -> bool:
        return not strong.isdisjoint({(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)})

    weak = {cell for cell, score in cells.items() if score / (1 - completion) > THRESHOLD}
    return strong | {cell for cell in weak if has_neighbour(*cell)}


scores = st.builds(
    lambda seed, n, m: np.random.default_rng(seed).random((n, m)),
    st.integers(0, 2**32),
    st.integers(1, 7),
    st.integers(1, 7),
)
completions = st.floats(0, 0.9)


@given(scores, completions)
def test_links_are_strong_ones_and_weaker_ones_beside_them(scores, completion):
    found = {(int(i), int(j)) for i, j in np.argwhere(complete(scores, completion) > THRESHOLD)}
    assert found == select_by_hand(scores, completion)


@given(scores, completions)
def test_no_score_falls_and_none_rises_above_its_neighbours(scores, completion):
    raised = complete(scores, completion)
    assert (raised >= scores).all()
    assert raised.max() == scores.max()
    np.testing.assert_array_equal(complete(scores, 0.0), scores)
    np.testing.assert_array_equal(complete(scores.T, completion).T, raised)


@given(scores, completions)
def test_padding_changes_nothing(scores, completion):
    n, m = scores.shape
    padded = np.zeros((2, n + 2, m + 1))
    padded[1, :n, :m] = scores
    raised = complete_phrases(padded, completion)[1]
    np.testing.assert_array_equal(raised[:n, :m], complete(scores, completion))
    assert not raised[n:].any()
    assert not raised[:, m:].any()


def test_torch_gives_the_same():
    torch = pytest.importorskip("torch")
    scores = np.random.default_rng(0).random((3, 5, 6), dtype=np.float32)
    found = complete_phrases(torch.tensor(scores), 0.4)
    np.testing.assert_allclose(found.numpy(), complete_phrases(scores, 0.4), atol=1e-6)
