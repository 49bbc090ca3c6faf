"""What is solved together: every pair once, in tiles that are neither too large nor too empty."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign.encoders import Embeddings
from otalign.strengths import Together, tiles

lengths = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=60)


def embeddings_of(shapes) -> Embeddings:
    starts = np.concatenate([[0], np.cumsum(np.reshape(shapes, -1))]).astype(int)
    return Embeddings(np.arange(starts[-1], dtype=float)[:, None], starts)


@given(lengths, st.integers(1, 2000), st.sampled_from([0.0, 0.1, 0.5]))
def test_every_pair_with_words_is_in_one_tile_that_is_neither_too_large_nor_too_empty(shapes, cells, share):
    embeddings, seen = embeddings_of(shapes), []
    for places, tile in tiles(embeddings, Together(cells, 1, share)):
        seen += places
        sizes = [shapes[k][0] * shapes[k][1] for k in places]
        whole = tile.is_source.size * tile.is_target.shape[1]
        assert len(places) == 1 or (whole <= cells and whole - sum(sizes) <= share * cells)
        for row, k in enumerate(places):
            n, m = shapes[k]
            assert (tile.is_source[row].sum(), tile.is_target[row].sum()) == (n, m)
            np.testing.assert_array_equal(tile.X[row, :n], embeddings[2 * k])
            np.testing.assert_array_equal(tile.Y[row, :m], embeddings[2 * k + 1])
    assert sorted(seen) == [k for k, (n, m) in enumerate(shapes) if n and m]


@pytest.mark.parametrize("shapes", [[(20, 20)] * 50, [(30, 5)] * 50, [(5, 30)] * 50])
def test_pairs_of_one_shape_fill_their_tiles(shapes):
    n, m = shapes[0]
    sizes = [len(places) for places, _ in tiles(embeddings_of(shapes), Together(10 * n * m, 1, 0.0))]
    assert sizes == [10] * 5
