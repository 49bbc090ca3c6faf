"""Differences of two versions of a document with known edits, and laws for any two texts."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign import Aligner
from otalign.diff import Difference, Passage, Piece, difference
from otalign.diff.difference import KINDS
from otalign.render.inline import summarize
from otalign.text.sentences import Document, document, split_lines
from otalign.text.words import tokenize
from tests.diff.toy_aligner import NEW, OLD, make_toy_aligner

ALIGNER = make_toy_aligner()
SHIPPED = Aligner.load(threads=1)
FOUND = difference(OLD, NEW, ALIGNER)

SENTENCES = (
    "The cat sat on the mat.",
    "Rain fell all night.",
    "We left early; nobody spoke.",
    "“Why?” asked the judge.",
    "Two boats sank.",
    "The end",
    "* * *",
)
texts = st.lists(st.sampled_from(SENTENCES), max_size=8).map(" ".join) | st.text(max_size=60)


def find_passage(old_sentence: int) -> Passage:
    (found,) = (passage for passage in FOUND if old_sentence in passage.old)
    return found


def list_pieces(passage: Passage) -> list[tuple[str, str, str]]:
    return [(piece.fate, FOUND.text(piece, "old"), FOUND.text(piece, "new")) for piece in passage.pieces]


def test_every_sentence_of_the_document_finds_its_place():
    structure = [(passage.kind, passage.old, passage.new) for passage in FOUND if passage.kind != "same"]
    assert structure == [
        ("edited", (1,), (1,)),
        ("split", (2,), (2, 3)),
        ("edited", (6,), (7,)),
        ("gone", (8,), ()),
        ("new", (), (10,)),
        ("edited", (11,), (12,)),
        ("gone", (13,), ()),
        ("joined", (20, 21), (16,)),
        ("edited", (22,), (17,)),
        ("edited", (15,), (19,)),
        ("edited", (24,), (23,)),
        ("edited", (26,), (25,)),
        ("new", (), (27,)),
        ("edited", (30,), (30,)),
        ("edited", (31,), (31,)),
    ]
    assert [passage.old for passage in FOUND if passage.moved] == [(14,), (15,), (16,), (17,)]
    assert FOUND.counts == {
        **{"same": 18, "minor": 0, "edited": 9, "split": 1, "joined": 1, "new": 2, "gone": 2},
        **{"moved": 4, "number": 0, "negation": 0},
    }


def test_a_moved_passage_is_pointed_at_where_it_stood():
    left = [(place.number, at) for at, place in enumerate(FOUND.places) if place.left]
    assert [FOUND.passages[number].old for number, _ in left] == [(14,), (15,), (16,), (17,)]
    before = FOUND.places[left[0][1] - 1]
    assert FOUND.passages[before.number].old == (13,)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (1, [("reworded", "built", "constructed")]),
        (6, [("reworded", "often", "frequently"), ("removed", "several", "")]),
        (11, [("reworded", "was cheaper", "cost less")]),
        (15, [("reworded", "broke", "smashed")]),
        (22, [("reworded", "died", "passed away")]),
        (30, [("reworded", "collected", "raised")]),
    ],
)
def test_words_are_reworded_added_and_removed(sentence, expected):
    assert [piece for piece in list_pieces(find_passage(sentence)) if piece[0] != "kept"] == expected


def test_what_moved_within_a_sentence_is_one_unit():
    moved = [piece for piece in find_passage(26).pieces if piece.fate == "moved"]
    assert {FOUND.text(piece, "old") for piece in moved} == {"in the summer", ""}
    assert {FOUND.text(piece, "new") for piece in moved} == {"In the summer", ""}
    assert len({piece.unit for piece in moved}) == 1


@given(texts)
def test_a_text_equals_itself_whatever_the_whitespace(text):
    assert difference(text, text, ALIGNER).same
    wide = "  ".join(document(text).sentences)
    if document(wide).sentences == document(text).sentences:
        assert difference(text, wide, ALIGNER).same


@given(texts, texts)
def test_every_word_of_both_texts_is_in_one_piece_in_its_order(old, new):
    found = difference(old, new, ALIGNER)
    for side, text in (("old", old), ("new", new)):
        passages = sorted((p for p in found if getattr(p, side)), key=lambda p: getattr(p, side))
        pieces = [piece for passage in passages for piece in passage.pieces if piece.side(side)]
        spans = [piece.side(side) for piece in pieces]
        assert spans == sorted(spans)
        assert "".join("".join(text[start:end] for start, end in spans).split()) == "".join(
            "".join(tokenize(sentence).words)
            if any(p.kind == "edited" and k in getattr(p, side) for p in found)
            else "".join(sentence.split())
            for k, sentence in enumerate(document(text).sentences)
        ).replace(" ", "")


@given(texts, texts)
def test_counts_add_up_to_the_passages_and_to_the_sentences_of_both_texts(old, new):
    found = difference(old, new, ALIGNER)
    counts = found.counts
    assert sum(counts[kind] for kind in KINDS) == len(found.passages)
    both = counts["same"] + counts["minor"] + counts["edited"]
    joined = sum(len(passage.old) for passage in found if passage.kind == "joined")
    split = sum(len(passage.new) for passage in found if passage.kind == "split")
    assert both + counts["split"] + joined + counts["gone"] == len(found.old)
    assert both + split + counts["joined"] + counts["new"] == len(found.new)
    assert found.same == (counts["same"] == len(found.passages) and not counts["moved"])


@given(texts)
def test_case_is_ignored_on_request(text):
    upper = Document(text.upper(), document(text).spans) if len(text.upper()) == len(text) else document(text)
    assert (
        difference(text, upper, ALIGNER, ignore_case=True).same or text.upper().casefold() != text.casefold()
    )


def test_case_within_a_sentence_is_ignored_on_request():
    old, new = "The Cat sat on the mat.", "the cat sat on a mat."
    kinds = [piece.fate for piece in difference(old, new, ALIGNER).passages[0].pieces]
    assert "minor" in kinds
    found = difference(old, new, ALIGNER, ignore_case=True)
    assert {piece.fate for piece in found.passages[0].pieces}.isdisjoint({"minor"})


def test_case_and_punctuation_alone_are_minor():
    found = difference("Rain fell, all night.", "rain fell all night!", ALIGNER)
    assert [passage.kind for passage in found] == ["minor"]
    assert not found.same


def test_a_sentence_is_split_where_another_one_has_its_words():
    # The cosines of the toy vectors do not decide; the words do.
    old = "Tickets are sold at the desk, and the ferry leaves from the north pier."
    new = "Tickets are sold at the desk. Early on, the ferry leaves from the north pier in calm weather."
    for one, other, kind in ((old, new, "split"), (new, old, "joined")):
        assert [passage.kind for passage in difference(one, other, ALIGNER)] == [kind]


def test_a_sentence_is_split_into_several():
    old = "We met. The plan failed, nobody was surprised, and we left. It rained."
    new = "We met. The plan failed. Nobody was surprised. We left. It rained."
    for one, other, kind in ((old, new, "split"), (new, old, "joined")):
        found = difference(one, other, SHIPPED)
        assert [passage.kind for passage in found] == ["same", kind, "same"]
    assert summarize(found) == "5 → 3 sentences: 2 same, 3 joined into 1"


def test_new_sentences_come_before_the_paragraph_that_is_gone():
    old = "Rain fell all night.\n\nTwo boats sank. The cat sat on the mat."
    new = "Rain fell all night. My aunt bakes bread.\n\nThe cat sat on the mat."
    assert [passage.kind for passage in difference(old, new, ALIGNER)] == ["same", "new", "gone", "same"]


@given(texts, texts)
def test_json_holds_all_of_it(old, new):
    found = difference(old, new, ALIGNER)
    data = json.loads(json.dumps(found.to_dict()))
    assert Difference.from_dict(data) == found


@given(texts, texts)
def test_places_name_each_passage_once_and_each_moved_one_twice(old, new):
    found = difference(old, new, ALIGNER)
    assert sorted(place.number for place in found.places if not place.left) == list(
        range(len(found.passages))
    )
    assert sorted(place.number for place in found.places if place.left) == [
        number for number, passage in enumerate(found.passages) if passage.moved
    ]


def test_a_sentence_a_line_is_compared_by_lines():
    found = difference(split_lines("red\ngreen\nblue"), split_lines("red\nblue"), ALIGNER)
    assert [(passage.kind, passage.old) for passage in found] == [
        ("same", (0,)),
        ("gone", (1,)),
        ("same", (2,)),
    ]


STRANGERS = [
    ("Two boats sank.", "My aunt bakes bread."),
    ("It rained. We left.", "The president signed the law."),
]


@pytest.mark.parametrize(("old", "new"), STRANGERS)
def test_unrelated_sentences_are_gone_and_new_however_few_there_are(old, new):
    for aligner in (ALIGNER, SHIPPED):
        assert {passage.kind for passage in difference(old, new, aligner)} == {"gone", "new"}


@pytest.mark.parametrize(
    ("old", "new", "kinds"),
    [
        (
            "He did not pay 40 euros. The shop closed.",
            "He paid 45 euros; the store closed.",
            ["joined"],
        ),
        ("She was tired. She went home early.", "As she was exhausted, she left early.", ["joined"]),
        (
            "Tickets are sold at the desk, and the ferry leaves from the pier.",
            "Buy tickets at the counter. The boat departs from the jetty.",
            ["split"],
        ),
        (
            "We met. The plan failed. Nobody was surprised. We left.",
            "We met. The plan did not work, which surprised no one. We left.",
            ["same", "joined", "same"],
        ),
    ],
)
def test_short_sentences_at_the_same_place_are_matched_by_their_words(old, new, kinds):
    assert [passage.kind for passage in difference(old, new, SHIPPED)] == kinds


def test_a_number_that_changed_is_seen_beside_a_negation():
    found = difference("He did not pay 40 euros.", "He paid 45 euros.", SHIPPED)
    pieces = [
        (found.text(piece, "old"), piece.flag) for passage in found for piece in passage.pieces if piece.flag
    ]
    assert pieces == [("did not pay", "negation"), ("40", "number")]
    assert (found.counts["number"], found.counts["negation"]) == (1, 1)


def test_a_sentence_without_words_matches_nothing_by_them():
    found = difference("We met.\n\n* * *\n\nWe left.", "We met.\n\nLunch.\n\nWe left.", SHIPPED)
    assert found.counts["same"] == 2


def test_repeated_sentences_stay_in_their_order():
    found = difference("Yes. No. Yes. No.", "No. Yes. No.", ALIGNER)
    assert [(passage.kind, passage.old) for passage in found] == [
        ("gone", (0,)),
        *(("same", (k,)) for k in (1, 2, 3)),
    ]


@given(st.text("abc", max_size=8), st.text("abc", max_size=8))
def test_as_many_identical_sentences_as_can_be_are_matched_in_order(old, new):
    def longest(one: str, other: str) -> int:
        if not one or not other:
            return 0
        if one[0] == other[0]:
            return 1 + longest(one[1:], other[1:])
        return max(longest(one[1:], other), longest(one, other[1:]))

    found = difference(split_lines("\n".join(old)), split_lines("\n".join(new)), ALIGNER)
    stayed = [passage for passage in found if passage.kind == "same" and not passage.moved]
    assert len(stayed) == longest(old, new)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: Passage((), (), ()), "a passage must have sentences on one side"),
        (lambda: Passage((0,), (), (Piece("kept", (0, 1), None),)), "a piece that is kept cannot have"),
        (lambda: Passage((0,), (), (Piece("lost", (0, 1), None),)), "fate must be one of"),  # pyright: ignore
        (lambda: Difference(document("A b."), document(""), ()), "each of the 1 old sentences"),
        (lambda: Document("abc", ((0, 9),)), "spans must be"),
    ],
)
def test_what_is_no_difference_is_refused(made, message):
    with pytest.raises(ValueError, match=message):
        made()
