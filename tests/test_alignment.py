"""Laws of alignments: equal links have one form, and derived values agree."""

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign.alignment import Alignment, Link, Phrase
from otalign.gold import Gold, WordlessLinks
from otalign.link_arrays import DIGITS as LINK_DIGITS
from otalign.phrases import DIGITS
from tests.alignment_strategies import alignments, golds

SOURCE = ("He", "bought", "a", "used", "car")
TARGET = ("He", "purchased", "a", "second", "hand", "car", "yesterday")
LINKS = (Link(0, 0), Link(1, 1, 0.9), Link(2, 2), Link(3, 3), Link(3, 4), Link(4, 5))
EXAMPLE = Alignment(SOURCE, TARGET, LINKS)


@given(alignments(), st.randoms())
def test_the_order_and_number_of_equal_links_do_not_matter(alignment, random):
    shuffled = list(alignment.links) * 2
    random.shuffle(shuffled)
    again = Alignment(alignment.source, alignment.target, tuple(shuffled))
    assert again.links == alignment.links == tuple(sorted(alignment.links))
    assert len(alignment.pairs) == len(alignment.links)


@given(alignments())
def test_an_alignment_survives_json_and_pickle(alignment):
    for again in (
        Alignment.from_dict(json.loads(json.dumps(alignment.to_dict(), allow_nan=False))),
        pickle.loads(pickle.dumps(alignment)),
    ):
        assert again == alignment
        assert hash(again) == hash(alignment)


@given(golds())
def test_gold_survives_json_and_pickle(gold):
    for again in (Gold.from_dict(json.loads(json.dumps(gold.to_dict()))), pickle.loads(pickle.dumps(gold))):
        assert again == gold
        assert hash(again) == hash(gold)


@given(alignments())
def test_transposing_swaps_all_that_has_sides_and_twice_is_nothing(alignment):
    swapped = alignment.transpose()
    assert swapped.transpose() == alignment
    assert swapped.pairs == {(j, i) for i, j in alignment.pairs}
    assert (swapped.source_nulls, swapped.target_nulls) == (alignment.target_nulls, alignment.source_nulls)
    assert swapped.source_coverage == alignment.target_coverage
    assert swapped.source_spans == alignment.target_spans
    assert {(t, s) for s, t in swapped.phrases} == set(alignment.phrases)


@given(alignments())
def test_every_word_is_either_null_or_in_exactly_one_phrase(alignment):
    n, m = alignment.shape
    assert sorted([*alignment.source_nulls, *(i for p in alignment.phrases for i in p.source)]) == [*range(n)]
    assert sorted([*alignment.target_nulls, *(j for p in alignment.phrases for j in p.target)]) == [*range(m)]
    for i, j in alignment.pairs:
        assert sum(i in p.source and j in p.target for p in alignment.phrases) == 1
    if n:
        assert alignment.source_coverage == pytest.approx(1 - len(alignment.source_nulls) / n)


def test_phrases_are_joined_through_each_other():
    links = (Link(0, 1), Link(1, 3), Link(2, 2), Link(2, 1), Link(1, 2), Link(4, 4))
    ladder = Alignment(tuple("abcde"), tuple("vwxyz"), links)
    assert ladder.phrases == (Phrase((0, 1, 2), (1, 2, 3)), Phrase((4,), (4,)))
    assert EXAMPLE.phrases[3] == Phrase((3,), (3, 4))


def test_what_follows_from_the_links():
    assert EXAMPLE.shape == (5, 7)
    assert EXAMPLE.pharaoh() == "0-0 1-1 2-2 3-3 3-4 4-5"
    assert (EXAMPLE.source_nulls, EXAMPLE.target_nulls) == ((), (6,))
    assert (EXAMPLE.source_coverage, EXAMPLE.target_coverage) == (1, pytest.approx(6 / 7))
    empty = Alignment((), (), ())
    assert (empty.source_coverage, empty.phrases, empty.pharaoh()) == (1, (), "")


def test_the_repr_shows_words():
    assert repr(EXAMPLE) == (
        "Alignment(5×7: He–He, bought–purchased, a–a, used–second, used–hand, car–car; "
        "target nulls: yesterday)"
    )
    assert repr(Alignment(("a",), (), ())) == "Alignment(1×0: no links; source nulls: a)"
    assert "… 88 more" in repr(Alignment(("a",) * 100, (), ()))


def test_numbers_of_other_libraries_become_plain_ones():
    np = pytest.importorskip("numpy")
    alignment = Alignment(SOURCE, TARGET, (Link(*np.array([0, 1]), np.float32(0.5)),))
    assert [type(x) for x in alignment.links[0]] == [int, int, float]


def test_of_duplicates_the_heaviest_stays():
    links = (Link(0, 0, 0.2), Link(0, 0, 0.7), Link(0, 0, 0.1))
    assert Alignment(SOURCE, TARGET, links).links == (Link(0, 0, 0.7),)


@given(golds())
def test_the_levels_of_gold_are_nested_and_its_sets_apart(gold):
    assert gold.alignment("sure").pairs == gold.sure == gold.pairs("sure")
    assert gold.alignment("possible").pairs == gold.sure | gold.possible
    assert not gold.sure & gold.possible
    assert gold.transpose().transpose() == gold
    assert gold.transpose().alignment("possible") == gold.alignment("possible").transpose()


def test_what_is_sure_and_possible_is_sure():
    both = frozenset({(0, 0), (1, 1)})
    assert Gold(SOURCE, TARGET, frozenset({(0, 0)}), both).possible == {(1, 1)}
    assert WordlessLinks(frozenset({(0, 0)}), both) == WordlessLinks(frozenset({(0, 0)}), frozenset({(1, 1)}))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Alignment(SOURCE, TARGET, (Link(5, 0),)),
            "link 5-0 .* out of range for 5 source and 7",
        ),
        (lambda: Alignment(SOURCE, TARGET, (Link(0, -1),)), "link 0--1 .* is out of range"),
        (lambda: Gold(SOURCE, TARGET, frozenset(), frozenset({(0, 7)})), "link 0-7 .* is out of range"),
        (lambda: Alignment(SOURCE, TARGET, (Link(0, 0, float("nan")),)), "must be finite, got nan for 0-0"),
        (
            lambda: Alignment(SOURCE, TARGET, (), source_spans=((0, 2),)),
            "source_spans must have .*5 words, got 1",
        ),
        (lambda: Alignment((), ("a",), (), target_spans=((3, 2),)), r"span must be .*got \(3, 2\)"),
        (
            lambda: Alignment((), (), (), target_null_confidence=(0.5,)),
            "target_null_confidence must .*0 words",
        ),
        (
            lambda: EXAMPLE.from_dict(EXAMPLE.to_dict() | {"target_nulls": [0]}),
            r"target_nulls must be .*\[6\]",
        ),
        (lambda: Gold(SOURCE, TARGET, frozenset()).alignment("p"), "level must be 'sure' .*got 'p'"),  # type: ignore
    ],
)
def test_what_cannot_be_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("make", [Alignment, Gold])
def test_a_sentence_is_not_words(make):
    with pytest.raises(TypeError, match=r"source must be words, .*got 'He bought'; split"):
        make("He bought", TARGET, ())
    with pytest.raises(TypeError, match="target must be words"):
        make(SOURCE, (1, 2), ())


@given(alignments())
def test_a_phrase_link_has_the_mean_weight_of_its_links_and_the_type_of_its_sizes(alignment):
    for link in alignment.phrase_links:
        weights = [weight for i, j, weight in alignment.links if (i, j) in link.pairs]
        assert min(weights) <= link.weight <= max(weights)
        assert link.weight == pytest.approx(sum(weights) / len(weights), abs=1e-4)
        sizes = [min(len(words), 2) for words in link[:2]]
        assert link.type == {(1, 1): "1-1", (1, 2): "1-n", (2, 1): "n-1", (2, 2): "n-m"}[tuple(sizes)]
    assert [link[:2] for link in alignment.phrase_links] == list(alignment.phrases)


@given(alignments())
def test_phrases_divide_the_links_among_them(alignment):
    inside = [
        {(i, j) for i, j, _ in alignment.links if i in phrase.source} for phrase in alignment.phrase_links
    ]
    assert sum(map(len, inside)) == len(alignment.links)
    assert frozenset().union(*inside) == alignment.pairs
    for phrase, pairs in zip(alignment.phrase_links, inside, strict=True):
        assert pairs <= phrase.pairs


def test_the_weight_of_a_phrase_has_as_many_digits_as_those_of_links():
    links = (Link(0, 0, 0.9213), Link(0, 1, 0.8221), Link(1, 2, 1e-6))
    weights = [phrase.weight for phrase in Alignment(("a", "b"), tuple("xyz"), links).phrase_links]
    assert weights == [0.8717, 1e-6]  # never outside the weights of the links
    assert LINK_DIGITS == DIGITS


def test_phrase_links_are_read_back_and_must_follow_from_the_links():
    data = EXAMPLE.to_dict(phrases=True)
    assert data["phrase_links"][3]["type"] == "1-n"
    assert str(EXAMPLE.phrase_links[3]) == "3:3,4"
    assert Alignment.from_dict(data) == EXAMPLE
    assert Alignment.from_dict(data).to_dict() == data  # what had phrases keeps them
    data["phrase_links"].pop()
    with pytest.raises(ValueError, match="phrase_links must be the connected components"):
        Alignment.from_dict(data)


@pytest.mark.parametrize("given", [None, 3, "0-0", [[[0], [0], 1.0]], [{"source": [0]}], [None]])
def test_phrase_links_of_another_form_are_refused_with_the_remedy(given):
    data = Alignment(("a", "b"), ("c",), (Link(0, 0), Link(1, 0))).to_dict() | {"phrase_links": given}
    with pytest.raises(ValueError, match="leave phrase_links out"):
        Alignment.from_dict(data)
