"""Centring and whitening: means and variances of the resulting embeddings."""

from collections.abc import Iterator

import numpy as np
import pytest

from otalign.encoders import Embeddings
from otalign.encoders.embeddings import STRIP
from otalign.encoders.whitening import WORDS, Centre, centre_chunks


def draw_embeddings(words: int, size: int = 6, seed: int = 0) -> Embeddings:
    draw = np.random.default_rng(seed)
    spread = np.diag(10.0 ** -np.arange(size)) @ draw.standard_normal((size, size))
    vectors = draw.standard_normal((words, size)) @ spread + draw.standard_normal(size)
    return Embeddings(vectors, np.array([0, words // 2, words]))


def variances(embeddings: Embeddings) -> np.ndarray:
    return np.linalg.eigvalsh(np.cov(embeddings.vectors.T, bias=True))


def test_the_mean_is_taken_away_whether_embeddings_are_whitened_or_not():
    embeddings = draw_embeddings(500)
    for whitening in (0, 0.5, 1):
        centred = Centre.fit([embeddings], whitening).apply(embeddings)
        np.testing.assert_allclose(centred.vectors.mean(axis=0), 0, atol=1e-6)


def test_more_whitening_brings_the_variances_closer_together():
    embeddings = draw_embeddings(100_000)
    spreads = [
        variances(Centre.fit([embeddings], whitening).apply(embeddings)) for whitening in (0, 0.25, 0.5, 1)
    ]
    ratios = [spread.max() / spread.min() for spread in spreads]
    assert ratios == sorted(ratios, reverse=True)
    # Variances above what shrinkage adds for few words become v^(1 − whitening).
    largest = variances(embeddings)[-2:]
    half = spreads[2][-2:]
    assert half[1] / half[0] == pytest.approx((largest[1] / largest[0]) ** 0.5, rel=0.05)


def test_a_few_words_are_hardly_whitened():
    embeddings = draw_embeddings(4, size=40)
    stretch = Centre.fit([embeddings], 1).stretch
    assert stretch is not None
    stretched = np.linalg.eigvalsh(stretch)
    assert stretched.max() / stretched.min() < 4


def test_parts_of_a_corpus_have_the_centre_of_the_whole():
    embeddings = draw_embeddings(300)
    parts = [
        Embeddings(embeddings.vectors[start : start + 100], np.array([0, 40, 100])) for start in (0, 100, 200)
    ]
    whole, together = Centre.fit([embeddings], 0.5), Centre.fit(parts, 0.5)
    assert whole.stretch is not None
    assert together.stretch is not None
    np.testing.assert_allclose(together.mean, whole.mean, atol=1e-12)
    np.testing.assert_allclose(together.stretch, whole.stretch, atol=1e-9)


def test_words_that_are_all_alike_are_left_as_they_are():
    alike = Embeddings(np.ones((5, 3)), np.array([0, 5]))
    np.testing.assert_array_equal(Centre.fit([alike], 1).apply(alike).vectors, np.zeros((5, 3)))


def test_embeddings_are_moved_as_a_whole_however_many_they_are():
    embeddings = draw_embeddings(2 * STRIP + 3)
    before, centre = embeddings.vectors.copy(), Centre.fit([embeddings], 0.5)
    copied = centre.apply(embeddings)
    np.testing.assert_array_equal(embeddings.vectors, before)
    np.testing.assert_allclose(copied.vectors, (before - centre.mean) @ centre.stretch, atol=1e-12)
    np.testing.assert_allclose(embeddings.sum_squares(before.mean(axis=0)), before.T @ before, rtol=1e-9)
    assert centre.apply(embeddings, in_place=True) is embeddings
    np.testing.assert_array_equal(embeddings.vectors, copied.vectors)


def test_a_stream_is_centred_on_its_first_words_or_on_what_was_kept():
    def stream() -> Iterator[tuple[int, Embeddings]]:
        return iter([(k, draw_embeddings(WORDS, seed=k)) for k in range(3)])

    centre = Centre.fit([draw_embeddings(WORDS)], 0.5)
    for kept in (None, centre):
        for k, moved in centre_chunks(stream(), kept, 0.5):
            np.testing.assert_allclose(moved.vectors, centre.apply(draw_embeddings(WORDS, seed=k)).vectors)
