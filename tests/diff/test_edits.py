"""Edits as a reader sees them: neighbours are merged, words keep their order, and none is lost."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign.alignment import Alignment, Link
from otalign.diff.difference import Piece
from otalign.diff.fates import pieces
from otalign.text.words import join_words

WORDS = ("the", "The", "cat", "sat", "not", "three", "4", ",", ".", "old", "mat")


@st.composite
def alignments(draw) -> Alignment:
    """Any two sentences with any links."""
    source, target = (draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=9)) for _ in range(2))
    cells = [(i, j) for i in range(len(source)) for j in range(len(target))]
    chosen = draw(st.lists(st.sampled_from(cells), unique=True, max_size=12))
    return align(source, target, chosen)


def align(source: list[str], target: list[str], links: list[tuple[int, int]]) -> Alignment:
    old, new = join_words(source), join_words(target)
    return Alignment(old.words, new.words, tuple(Link(*link) for link in links), old.spans, new.spans)


def read(alignment: Alignment, piece: Piece) -> tuple[str, str, str]:
    texts = (" ".join(alignment.source), " ".join(alignment.target))
    old, new = (text[slice(*span)] if span else "" for text, span in zip(texts, piece[1:3], strict=True))
    return piece.fate, old, new


def draw_pieces(old: str, new: str, links: str) -> list[tuple[str, str, str]]:
    pairs = [tuple(map(int, link.split("-"))) for link in links.split()]
    alignment = align(old.split(), new.split(), pairs)  # pyright: ignore[reportArgumentType]
    return [read(alignment, piece) for piece in pieces(alignment, 0, 0)]


@given(alignments())
def test_every_word_is_in_one_piece_in_its_order(alignment):
    found = pieces(alignment, 0, 0)
    for side, spans in (("old", alignment.source_spans), ("new", alignment.target_spans)):
        held = [piece.side(side) for piece in found if piece.side(side)]
        assert [a for span in held for a in spans if span[0] <= a[0] and a[1] <= span[1]] == list(spans)
        assert all(before[1] <= after[0] for before, after in pairwise(held))


@given(alignments())
def test_a_unit_has_both_sides_and_neighbours_have_different_fates(alignment):
    found = pieces(alignment, 0, 0)
    for piece in found:
        if piece.fate in ("reworded", "moved"):
            unit = [other for other in found if other.unit == piece.unit]
            assert any(other.old for other in unit)
            assert any(other.new for other in unit)
    for before, after in pairwise(found):
        assert before.fate != after.fate or before.fate in ("minor", "moved", "reworded")


@given(alignments())
def test_what_is_changed_differs(alignment):
    for piece in pieces(alignment, 0, 0):
        fate, old, new = read(alignment, piece)
        assert (old == new) == (fate == "kept")
        if fate == "minor":
            assert [c for c in old.lower() if c.isalnum()] == [c for c in new.lower() if c.isalnum()]


@pytest.mark.parametrize(
    ("old", "new", "links", "expected"),
    [
        (  # a kept word between single words stays
            *("he bought a used car", "he purchased a second-hand car", "0-0 1-1 2-2 3-3 4-4"),
            [("reworded", "bought", "purchased"), ("reworded", "used", "second-hand")],
        ),
        (  # neighbours are one edit, with a few words without a counterpart
            *("call nobody today", "contact no other machine today", "0-0 1-1 2-4"),
            [("reworded", "call nobody", "contact no other machine")],
        ),
        (  # and so are edits with fewer words between them than they have
            *(
                "with a line that has its file",
                "into an error that names file",
                "0-0 1-1 2-2 3-3 4-4 5-4 6-5",
            ),
            [("reworded", "with a line that has its", "into an error that names")],
        ),
        (  # words that moved together are one unit
            *(
                "the lighthouse keeper turns it off",
                "it is turned off by the lighthouse keeper",
                "0-5 1-6 2-7 3-2 4-0 5-3",
            ),
            [("moved", "", "it is turned off"), ("added", "", "by"), ("moved", "turns it off", "")],
        ),
        (  # a number in other words is one edit
            *("two hundred people came", "200 people came", "1-0 2-1 3-2"),
            [("reworded", "two hundred", "200")],
        ),
        (  # a swap within a phrase is a rewording
            *("he also was hungry", "he was also hungry", "0-0 1-2 2-1 3-3"),
            [("reworded", "also was", "was also")],
        ),
        (  # a long addition stays one beside a rewording
            *("we left", "they left before the rain began to fall", "0-0 1-1"),
            [("reworded", "we", "they"), ("added", "", "before the rain began to fall")],
        ),
        (  # punctuation goes with the words beside it
            *("we left .", "we left , at last .", "0-0 1-1 2-5"),
            [("added", "", ", at last")],
        ),
        (*("The end", "the end .", "0-0 1-1"), [("minor", "The", "the"), ("minor", "", ".")]),
    ],
)
def test_edits_are_those_that_a_reader_sees(old, new, links, expected):
    assert [piece for piece in draw_pieces(old, new, links) if piece[0] != "kept"] == expected
