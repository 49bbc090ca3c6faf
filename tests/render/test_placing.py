"""Laws of the placement of words: order, distance, and the best place of each row."""

from itertools import combinations_with_replacement, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign.render.placing import _offsets, _pull_towards, place_words

sizes = st.lists(st.integers(1, 9), max_size=5)


def linked(draw, n, m):
    if not n or not m:
        return []
    return draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, m - 1)), unique=True, max_size=8))


@given(st.data(), sizes, sizes)
def test_words_keep_their_order_and_do_not_overlap(data, source, target):
    pairs = linked(data.draw, len(source), len(target))
    middles = place_words(source, target, pairs, gap=2)
    edges = []
    for xs, widths in zip(middles, (source, target), strict=True):
        for (x, width), (y, other) in pairwise(zip(xs, widths, strict=True)):
            assert y - x >= (width + other) / 2 + 2 - 1e-9
        edges += [x - width / 2 for x, width in zip(xs, widths, strict=True)]
    assert min(edges, default=0) == pytest.approx(0)


@given(st.data(), sizes, st.lists(st.integers(0, 30), max_size=4))
def test_a_row_is_as_near_to_its_partners_as_can_be(data, widths, others):
    pairs = linked(data.draw, len(widths), len(others))
    offsets = _offsets(widths, 2)

    def distance(shifts):
        return sum(abs(offsets[word] + shifts[word] - others[partner]) for word, partner in pairs)

    best = _pull_towards(others, pairs, offsets, offsets)
    # Some best shifts are all among those that bring a word to a partner.
    candidates = sorted({others[partner] - offsets[word] for word, partner in pairs} or {0.0})
    least = min(map(distance, combinations_with_replacement(candidates, len(widths))))
    assert distance([x - offset for x, offset in zip(best, offsets, strict=True)]) == pytest.approx(least)


@given(st.data(), sizes, sizes)
def test_no_room_is_left_between_parts_without_a_link_from_one_to_the_other(data, source, target):
    pairs = linked(data.draw, len(source), len(target))
    xs, us = place_words(source, target, pairs, gap=2)
    for i in range(1, len(source)):
        for j in range(1, len(target)):
            if all((s < i) == (t < j) for s, t in pairs):
                above = xs[i] - xs[i - 1] - (source[i] + source[i - 1]) / 2 - 2
                below = us[j] - us[j - 1] - (target[j] + target[j - 1]) / 2 - 2
                assert min(above, below) == pytest.approx(0, abs=1e-5)


def test_equal_sentences_stand_upright_with_room_for_a_null():
    source, target = place_words([4, 4], [4, 6, 4], [(0, 0), (1, 2)], gap=1)
    assert source == [target[0], target[2]]
