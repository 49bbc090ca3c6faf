"""Laws of the layout: lines, groups of links, numbers and brackets."""

from hypothesis import given
from hypothesis import strategies as st

from otalign.alignment import Alignment, Link
from otalign.render.groups import group_links
from otalign.render.layout import lay_out
from otalign.render.lines import break_lines
from tests.render.alignment_strategies import unusual_alignments

links = st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=20)


@given(links)
def test_groups_have_exactly_the_links(pairs):
    groups = group_links(pairs)
    assert sorted((i, j) for group in groups for i in group.source for j in group.target) == sorted(pairs)


def test_a_phrase_is_one_group():
    assert group_links((i, j) for i in (1, 2, 3) for j in (4, 5)) == [((1, 2, 3), (4, 5))]


@given(st.lists(st.integers(1, 90), max_size=25), st.lists(st.integers(1, 90), max_size=25), links)
def test_lines_have_each_word_once_in_order_and_fit(source, target, pairs):
    pairs = {(i, j) for i, j in pairs if i < len(source) and j < len(target)}
    lines = break_lines(source, target, pairs, gap=5, room=100)
    for side, widths in (("source", source), ("target", target)):
        ranges = [getattr(line, side) for line in lines]
        assert [word for words in ranges for word in words] == [*range(len(widths))]
        assert all(sum(widths[k] + 5 for k in words) - 5 <= 100 for words in ranges)
    assert all(line.source or line.target for line in lines)


def test_equal_sentences_break_at_equal_words():
    widths = [40] * 12
    lines = break_lines(widths, widths, [(k, k) for k in range(12)], gap=5, room=200)
    assert [(line.source, line.target) for line in lines] == [(range(k, k + 4),) * 2 for k in (0, 4, 8)]


def test_a_run_of_null_words_does_not_separate_the_words_after_it_from_their_partners():
    source, target = [40] * 20, [40] * 10
    pairs = [(k, k) for k in range(4)] + [(k + 10, k) for k in range(4, 10)]
    lines = break_lines(source, target, pairs, gap=5, room=200)
    assert all((i in line.source) == (j in line.target) for line in lines for i, j in pairs)


@given(unusual_alignments(), st.sampled_from([1, 200, 1e9]))
def test_a_link_is_a_curve_in_its_line_or_a_number_at_both_ends(alignment, width):
    layout = lay_out(alignment, width)
    numbers = [stroke.number for stroke in layout.strokes if stroke.number]
    assert numbers == [*range(1, len(numbers) + 1)]
    for stroke in layout.strokes:
        tops = {layout.source[i].top for i in stroke.group.source}
        assert stroke.curves or stroke.far
        assert bool(stroke.number) == bool(stroke.labels)
        assert bool(stroke.number) >= bool(stroke.far)
        if stroke.number:
            assert len(stroke.labels) >= 2
        else:
            assert len(tops) == 1


def test_seventy_words_break_into_lines_of_the_width():
    words = tuple(f"word{k}" for k in range(70))
    layout = lay_out(Alignment(words, words, tuple(Link(k, k) for k in range(70))), 900)
    assert layout.width <= 900
    assert len(layout.gutter) == 2 * len({word.top for word in layout.source}) > 10
    assert [text for text, _, _ in layout.gutter[:2]] == ["Source", "Target"]
    assert not any(stroke.number for stroke in layout.strokes)


def test_each_side_has_its_own_direction():
    arabic, english = ("اشترى", "سيارة"), ("He", "bought", "cars")
    layout = lay_out(Alignment(arabic, english, (Link(0, 1), Link(1, 2))), 900)
    assert [word.x for word in layout.source] == sorted((word.x for word in layout.source), reverse=True)
    assert [word.x for word in layout.target] == sorted(word.x for word in layout.target)
