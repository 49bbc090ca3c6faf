"""Inputs that fit are those of the tokenizer; longer ones are overlapping windows that cover all words."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign.encoders.subwords import SubwordTokenizer
from otalign.encoders.windows import make_inputs, make_windows
from otalign.text.words import Sentence, join_words, split
from tests.encoders import tiny

lengths = st.lists(st.integers(0, 200), min_size=1, max_size=2)
rooms = st.integers(4, 80)


@given(lengths, rooms)
def test_windows_leave_nothing_out_and_stay_within_the_room(lengths, room):
    cut = make_windows(lengths, room)
    for window in cut:
        assert sum(map(len, window)) <= room
    for k, length in enumerate(lengths):
        assert set().union(*(window[k] for window in cut)) == set(range(length))


@given(lengths, rooms)
def test_windows_move_on_by_at_most_half_of_what_they_see(lengths, room):
    for k in range(len(lengths)):
        for before, after in pairwise(window[k] for window in make_windows(lengths, room)):
            assert len(before) == len(after)
            assert 0 <= after.start - before.start <= max(1, len(before) // 2)


@given(lengths, rooms)
def test_a_window_is_as_full_as_the_texts_allow(lengths, room):
    for window in make_windows(lengths, room):
        assert sum(map(len, window)) == min(room, sum(lengths))


@given(st.integers(0, 40), st.integers(0, 400), st.booleans())
def test_a_side_that_fits_into_half_is_whole_in_every_window(short, more, is_first):
    sides = (short, short + more) if is_first else (short + more, short)
    for window in make_windows(sides, 80):
        assert window[0 if is_first else 1] == range(short)


@given(lengths, rooms)
def test_both_sides_are_seen_at_the_same_share_of_their_texts(lengths, room):
    cut = make_windows(lengths, room)
    for k, window in enumerate(cut):
        for part, length in zip(window, lengths, strict=True):
            assert abs(part.start - (length - len(part)) * k / max(1, len(cut) - 1)) <= 0.5


def test_what_fits_is_one_window():
    assert make_windows([30, 34], 64) == [(range(30), range(34))]
    assert len(make_windows([30, 35], 64)) > 1
    assert make_windows([0, 0], 0) == [(range(0), range(0))]


def test_a_model_without_room_is_reported_as_too_small():
    with pytest.raises(ValueError, match="too small"):
        make_windows([5, 5], 3)


FRAMED = {
    "BERT": tiny.wordpiece,
    "RoBERTa": tiny.byte_level,
    "T5": tiny.unigram,
    "none": tiny.make_unframed_tokenizer,
}
SUBWORDERS = {name: SubwordTokenizer(make()) for name, make in FRAMED.items()}
each_frame = pytest.mark.parametrize("name", FRAMED)
drawn_words = st.lists(st.sampled_from([*tiny.WORDS, "carhouse", "xyz", "", "😀", "\u200b"]), max_size=60)


@each_frame
@given(drawn_words.filter(lambda words: "" not in words and "\u200b" not in words), drawn_words)
def test_what_fits_is_what_the_tokeniser_itself_makes_of_it(name, source, target):
    target = [word for word in target if word not in ("", "\u200b")]
    subword_tokenizer, own = SUBWORDERS[name], FRAMED[name]()
    pair = [join_words(source), join_words(target)]
    expected = own.encode(pair[0].text, pair[1].text)
    (found,) = make_inputs(subword_tokenizer(pair), (0, 1), subword_tokenizer.pair, 10_000)
    assert (found.ids, found.types) == (expected.ids, expected.type_ids)
    alone = own.encode(pair[0].text)
    (found,) = make_inputs(subword_tokenizer(pair[:1]), (0,), subword_tokenizer.single, 10_000)
    assert (found.ids, found.types) == (alone.ids, alone.type_ids)


@each_frame
@given(drawn_words, drawn_words, st.integers(8, 40))
def test_the_weights_of_a_word_add_up_to_one_and_are_those_of_its_subwords(name, source, target, limit):
    subword_tokenizer = SUBWORDERS[name]
    pair = [join_words(source), join_words(target)]
    subwords = subword_tokenizer(pair)
    made = list(make_inputs(subwords, range(6, 8), subword_tokenizer.pair, limit))
    totals = [np.zeros(len(source)), np.zeros(len(target))]
    for one in made:
        assert len(one.ids) == len(one.types) <= limit
        for piece in one.pieces:
            side = piece.sentence - 6
            assert all(piece.weights > 0)
            for place, word, weight in zip(piece.places, piece.words, piece.weights, strict=True):
                totals[side][word] += weight
                parts = [subwords[side].ids[at] for at, k in entries(subwords[side]) if k == word]
                assert one.ids[place] in parts
    for total in totals:
        np.testing.assert_allclose(total, 1, rtol=1e-12)


def entries(subwords):
    return zip(subwords.at, subwords.word, strict=True)


def test_the_share_of_a_window_grows_with_the_distance_from_its_cuts():
    subword_tokenizer = SUBWORDERS["none"]
    made = list(
        make_inputs(subword_tokenizer([split("a a a")]), (0,), subword_tokenizer.single, 4)
    )  # a, Ġ, a, Ġ, a
    assert [len(one.ids) for one in made] == [4, 4]
    weights = np.zeros((2, 3))
    for k, one in enumerate(made):
        for piece in one.pieces:
            np.add.at(weights[k], piece.words, piece.weights)
    # The windows are [0, 4) and [1, 5): the first a is in one, the second 2 steps from either cut.
    np.testing.assert_allclose(weights, [[1, 1 / 2, 0], [0, 1 / 2, 1]])


def test_subwords_of_no_word_are_read_and_not_returned():
    sentence = Sentence("the big car", ((0, 3), (8, 11)))
    subword_tokenizer = SUBWORDERS["BERT"]
    (one,) = make_inputs(subword_tokenizer([sentence]), (0,), subword_tokenizer.single, 64)
    assert len(one.ids) == 5
    assert one.pieces[0].places.tolist() == [1, 3]
