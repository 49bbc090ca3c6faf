"""Laws of projected labels for any alignment, and cases worked by hand."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign.alignment import Alignment, Link
from otalign.projection import LabelledSpan, project_spans, project_tags, spans_to_tags, tags_to_spans
from tests.alignment_strategies import alignments

POLICIES = ("run", "cover")


@st.composite
def labelled(draw, count: int) -> list[LabelledSpan]:
    """Draw disjoint spans over a number of words, in order."""
    bounds = sorted(draw(st.sets(st.integers(0, count), max_size=2 * count)))
    return [
        LabelledSpan(start, end, draw(st.sampled_from(["PER", "LOC"])))
        for start, end in zip(bounds[::2], bounds[1::2], strict=False)
    ]


@st.composite
def cases(draw):
    alignment = draw(alignments())
    return alignment, draw(labelled(len(alignment.source))), draw(st.sampled_from(POLICIES))


def identity(count: int) -> Alignment:
    words = tuple(f"w{k}" for k in range(count))
    return Alignment(words, words, tuple(Link(k, k) for k in range(count)))


@given(st.integers(0, 8).flatmap(lambda n: st.tuples(st.just(n), labelled(n))), st.sampled_from(POLICIES))
def test_an_identity_carries_labels_to_themselves(case, policy):
    count, spans = case
    found = project_spans(spans, identity(count), policy)
    assert (list(found.spans), found.lost) == (spans, ())
    for ends in (False, True):
        tags = spans_to_tags(spans, count, ends)
        assert project_tags(tags, identity(count), policy).tags == tags


@given(cases())
def test_each_span_is_carried_or_lost_and_none_is_without_a_link(case):
    alignment, spans, policy = case
    found = project_spans(spans, alignment, policy)
    assert sorted([*(one.source for one in found.carried), *found.lost]) == spans
    for source, target, _ in found.carried:
        assert source.label == target.label
        ends = {target.start, target.end - 1}
        reached = {j for i, j in alignment.pairs if source.start <= i < source.end}
        assert ends <= reached
    linked = {i for i, _ in alignment.pairs}
    for span in spans:
        if linked.isdisjoint(range(span.start, span.end)):
            assert span in found.lost


@given(cases())
def test_spans_that_are_apart_stay_apart_and_in_order_of_the_target(case):
    alignment, spans, policy = case
    targets = project_spans(spans, alignment, policy).spans
    assert all(0 <= span.start < span.end <= len(alignment.target) for span in targets)
    assert all(one.end <= other.start for one, other in pairwise(targets))


@given(cases(), st.booleans())
def test_tags_are_valid_and_say_what_the_spans_say(case, ends):
    alignment, spans, policy = case
    tags = spans_to_tags(spans, len(alignment.source), ends)
    made = project_tags(tags, alignment, policy)
    assert len(made.tags) == len(alignment.target)
    before = "O"
    for tag in made.tags:
        if tag[0] in "IE":
            assert before[0] in "BI"
            assert before[2:] == tag[2:]
        before = tag
    assert tuple(tags_to_spans(made.tags)) == project_spans(tags_to_spans(tags), alignment, policy).spans


@given(cases())
def test_order_of_the_spans_does_not_matter(case):
    alignment, spans, policy = case
    found, from_reversed = (project_spans(given, alignment, policy) for given in (spans, spans[::-1]))
    assert found.carried == from_reversed.carried
    assert set(found.lost) == set(from_reversed.lost)


def test_a_run_leaves_a_stray_link_and_a_cover_takes_it():
    #      0    1    2    3     4        target 3 is linked with another word
    made = Alignment(tuple("ab"), tuple("vwxyz"), (Link(0, 0), Link(0, 1), Link(1, 3), Link(0, 4, 0.5)))
    assert project_spans([(0, 1, "X")], made).spans == ((0, 2, "X"),)
    assert project_spans([(0, 1, "X")], made, "cover").spans == ((0, 5, "X"),)


def test_a_word_without_any_link_does_not_break_a_run():
    made = Alignment(("New", "York"), ("New", "old", "York"), (Link(0, 0), Link(1, 2)))
    assert project_spans([(0, 2, "LOC")], made).spans == ((0, 3, "LOC"),)


def test_where_two_want_a_word_the_heavier_has_it_and_the_other_is_lost():
    made = Alignment(("a", "b"), ("x",), (Link(0, 0, 0.4), Link(1, 0, 0.9)))
    found = project_spans([(0, 1, "A"), (1, 2, "B")], made)
    assert found.spans == ((0, 1, "B"),)
    assert found.lost == ((0, 1, "A"),)


def test_nested_spans_stay_nested():
    found = project_spans([(0, 4, "ORG"), (3, 4, "LOC")], identity(4))
    assert found.spans == ((0, 4, "ORG"), (3, 4, "LOC"))


def test_characters_are_carried_by_the_words_they_are_in():
    made = Alignment(("Anna", "left"), ("then", "Anna"), (Link(0, 1),), ((0, 4), (5, 9)), ((0, 4), (5, 9)))
    found = project_spans([(1, 3, "PER"), (5, 9, "ACT"), (4, 5, "GAP")], made, unit="characters")
    assert found.spans == ((5, 9, "PER"),)
    assert found.lost == ((5, 9, "ACT"), (4, 5, "GAP"))


def test_tags_that_begin_without_b_are_read():
    assert list(tags_to_spans(["I-X", "I-Y", "B-Y", "E-Z", "S-Z", "O", "B-X", "E-X"])) == [
        *((0, 1, "X"), (1, 2, "Y"), (2, 3, "Y"), (3, 4, "Z"), (4, 5, "Z"), (6, 8, "X"))
    ]


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: project_tags(["O"], identity(2)), "tags must be one for each of the 2 words, got 1"),
        (
            lambda: project_tags(["NOUN", "O"], identity(2)),
            "tags must be O, B-…, I-…, E-… or S-…, got 'NOUN'",
        ),
        (lambda: project_spans([(1, 3, "X")], identity(2)), "within the source's 2 words, got"),
        (lambda: project_spans([(1, 1, "X")], identity(2)), "0 ≤ start < end"),
        (lambda: project_spans([], identity(2), "any"), "policy must be one of run, cover, got 'any'"),
        (lambda: project_spans([], identity(2), unit="characters"), "unit must be 'words'"),
        (lambda: project_spans([], identity(2), unit="lines"), "unit must be one of"),
    ],
)
def test_what_cannot_be_carried_over_is_refused(made, message):
    with pytest.raises(ValueError, match=message):
        made()
