"""Costs of word pairs: the contract of every similarity, and what scaling does."""

import tracemalloc
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign.scoring.batches import PairBatch
from otalign.scoring.cost import SIMILARITIES, compute_costs, min_max_scale
from otalign.settings import Cost

each_cost = pytest.mark.parametrize("cost", get_args(Cost))


def draw_batch(seed: int, padding: float = 0.0) -> PairBatch:
    """Draw vectors of float32 for pairs of 1 to 4 and of 1 to 5 words, with a value for the padding."""
    random = np.random.default_rng(seed)
    X, Y = (random.normal(size=(3, length, 6)).astype(np.float32) for length in (4, 5))
    is_source, is_target = (
        np.arange(length) < random.integers(1, length + 1, size=(3, 1)) for length in (4, 5)
    )
    X[~is_source], Y[~is_target] = padding, padding
    return PairBatch(X, Y, is_source, is_target)


def test_every_cost_has_a_similarity():
    assert SIMILARITIES.keys() == set(get_args(Cost))


@each_cost
@given(seed=st.integers(0, 2**32))
def test_similarities_are_float64_from_0_to_1_where_there_are_words(cost, seed):
    batch = draw_batch(seed)
    S = SIMILARITIES[cost](np, batch)
    assert S.shape == batch.cells.shape
    assert S.dtype == np.float64
    assert S[batch.cells].min() >= 0
    assert S[batch.cells].max() <= 1 + 1e-6  # rounding of float32


@each_cost
def test_no_array_has_an_entry_for_each_dimension_of_each_pair_of_words(cost):
    random, words = np.random.default_rng(0), np.ones((1, 100), dtype=bool)
    X, Y = (random.normal(size=(1, 100, 768)).astype(np.float32) for _ in range(2))
    tracemalloc.start()
    try:
        SIMILARITIES[cost](np, PairBatch(X, Y, words, words))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20e6  # 100 · 100 · 768 entries of 8 bytes are 61 MB


@each_cost
def test_a_vector_is_at_least_as_similar_to_itself_as_to_any_other(cost):
    batch = draw_batch(0)
    batch = batch._replace(Y=batch.X, is_target=batch.is_source)
    for S, words in zip(SIMILARITIES[cost](np, batch), batch.is_source, strict=True):
        count = words.sum()
        assert (S[:count, :count] <= S.diagonal()[:count, None] + 1e-6).all()


@each_cost
@given(seed=st.integers(0, 2**32), distortion=st.floats(0, 1), smoothing=st.floats(0, 1))
def test_costs_are_from_0_to_1_and_1_where_there_is_no_word(cost, seed, distortion, smoothing):
    batch = draw_batch(seed)
    C = compute_costs(batch, cost, distortion, smoothing)
    assert ((C >= 0) & (C <= 1)).all()
    assert (C[~batch.cells] == 1).all()


@each_cost
def test_padding_changes_no_cost(cost):
    found = [compute_costs(draw_batch(1, padding), cost, 0.2, 0.15) for padding in (0.0, 1e3)]
    np.testing.assert_array_equal(*found)


def test_cells_that_differ_by_rounding_alone_are_scaled_to_1():
    A = np.array([[[0.3, 0.3 + 1e-12]], [[0.0, 2.0]]])
    np.testing.assert_array_equal(min_max_scale(A, np.ones_like(A, dtype=bool)), [[[1, 1]], [[0, 1]]])
