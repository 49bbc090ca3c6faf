"""The vectors of the spelling of words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign.text.spelling import LENGTHS, SIZE, count_ngrams, embed_spelling

WORDS = st.lists(st.text(max_size=12), max_size=8)


@given(WORDS)
def test_vectors_have_length_one_and_do_not_depend_on_other_words(words):
    vectors = embed_spelling(words)
    assert vectors.shape == (len(words), SIZE)
    assert vectors.dtype == np.float32
    for word, vector in zip(words, vectors, strict=True):
        np.testing.assert_array_equal(vector, embed_spelling([word])[0])
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6) or not count_ngrams([word]).any()


@given(st.text(max_size=12))
def test_case_does_not_matter(word):
    if word.upper().casefold() == word.casefold():
        np.testing.assert_array_equal(*embed_spelling([word, word.upper()]))


@pytest.mark.parametrize(
    ("word", "typo"),
    [("smoking", "smokign"), ("yesterday", "yesteday"), ("government", "governnment"), ("House", "hoise")],
)
def test_a_misspelled_word_is_nearer_than_others(word, typo):
    one, other, *rest = embed_spelling([word, typo, "plums", "banana", "with", "Monday"])
    assert one @ other > 0.3
    assert all(one @ other > one @ vector + 0.1 for vector in rest)


def test_no_words_have_no_vectors():
    assert embed_spelling([]).shape == (0, SIZE)


def test_a_very_long_word_does_not_overflow():
    assert count_ngrams(["a" * 10_000]).min() >= -127
    assert np.isfinite(embed_spelling(["ab" * 10_000])).all()


def test_lengths_count_characters_up_to_a_limit():
    counts = LENGTHS.count(["a", "été", "", "a" * 1000])
    assert counts.dtype == np.int8
    assert LENGTHS.scale(counts).tolist() == [[1], [3], [0], [127]]
    assert LENGTHS.count([]).shape == (0, 1)
