"""Laws of terminal drawings: they fit the width, keep the order of words, and mark the phrases."""

import re
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.color import Color

from otalign.alignment import Alignment, Link, Phrase
from otalign.render import changes, terminal
from otalign.render.terminal import LINK_STYLE, MOVED_STYLES, NULL_STYLE, draw, draw_legend, draw_rule
from otalign.render.words import shown
from tests.render.alignment_strategies import lines, plain_alignments, unusual_alignments

WIDTHS = st.sampled_from([40, 80, 120])
NONE = Alignment((), (), ())


def columns(drawing: list[str]):
    """Return (mark, source words, target words) of each column; a blank line follows every three lines."""
    for k in range(0, len(drawing), 4):
        above, marks, below = drawing[k : k + 3]
        starts = [match.start() for match in re.finditer(r"\S+", marks)]
        for start, end in zip(starts, [*starts[1:], None], strict=True):
            yield marks[start:end].strip(), above[start:end].split(), below[start:end].split()


def read_back(drawing: list[str]) -> tuple[tuple[str, ...], tuple[str, ...], set[Phrase]]:
    source, target, phrases = [], [], []
    numbered: dict[str, list[list[int]]] = defaultdict(lambda: [[], []])
    for mark, above, below in columns(drawing):
        places = [
            [*range(len(source), len(source) + len(above))],
            [*range(len(target), len(target) + len(below))],
        ]
        source += above
        target += below
        number = re.match(r"\d+", mark)
        if number:
            for all_of_side, here in zip(numbered[number[0]], places, strict=True):
                all_of_side += here
        elif mark == "∅":
            assert len(above + below) == 1
        else:
            phrases.append(places)
    phrases += numbered.values()
    return tuple(source), tuple(target), {Phrase(tuple(s), tuple(t)) for s, t in phrases}


@given(plain_alignments(), WIDTHS)
def test_words_phrases_and_nulls_can_be_read_back_without_colour(alignment, width):
    assert read_back(lines(draw(alignment), width)) == (
        alignment.source,
        alignment.target,
        set(alignment.phrases),
    )


@given(unusual_alignments(), st.sampled_from([10, 40, 80, 120]))
def test_no_line_is_longer_than_the_terminal_whatever_the_words(alignment, width):
    assert all(cell_len(line) <= width for line in lines(draw(alignment), width))


@given(unusual_alignments())
def test_every_word_is_shown_in_order_on_one_wide_line(alignment):
    drawing = lines(draw(alignment), 2000)
    if any(alignment.shape):
        assert [drawing[0].split(), drawing[2].split()] == [
            [side, *map(shown, words)] for side, words in (("S", alignment.source), ("T", alignment.target))
        ]


@given(unusual_alignments())
def test_what_is_printed_holds_no_control_character_but_colour(alignment):
    printed = "\n".join(lines(draw(alignment), color=True))
    assert not re.search(
        r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", re.sub(r"\x1b\[[\d;]*m", "", printed)
    )
    printed.encode()


@given(plain_alignments())
def test_colour_changes_no_letter(alignment):
    coloured = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in lines(draw(alignment), color=True)]
    assert [line.rstrip() for line in coloured] == [line.rstrip() for line in lines(draw(alignment))]


@pytest.mark.parametrize("count", [1, 60, 300])
def test_sentences_in_the_same_order_need_no_numbers(count):
    words = tuple(f"w{chr(97 + k % 26)}" for k in range(count))
    drawing = lines(draw(Alignment(words, words, tuple(Link(k, k) for k in range(count)))))
    assert {mark for mark, _, _ in columns(drawing)} == {"│"}
    assert all(len(line) <= 80 for line in drawing)


def test_the_drawing_in_the_documentation_is_what_is_drawn():
    source = ("My", "old", "neighbour", "passed", "away", "last", "year", ".")
    target = ("Last", "year", "my", "neighbour", "died", "peacefully", ".")
    pairs = [(0, 2), (2, 3), (3, 4), (4, 4), (5, 0), (6, 1), (7, 6)]
    alignment = Alignment(source, target, tuple(Link(*pair) for pair in pairs))
    example = Path(terminal.__file__).read_text(encoding="utf-8").split("\n\n")[1]
    assert example.split("\n") == [f"    {line}" for line in lines(draw(alignment))]


def test_markup_in_words_is_shown_as_it_is():
    words = ("[red]", "[/red]", "[bold", ":smile:", "[link=x]y[/link]")
    assert lines(draw(Alignment(words, (), ())))[0].split() == ["S", *words]


def test_a_weak_link_is_a_broken_line():
    assert lines(draw(Alignment(("a",), ("b",), (Link(0, 0, 0.3),))))[1] == "  ┆"
    assert lines(draw(Alignment(("a",), ("b",), (Link(0, 0, 3.0),))))[1] == "  │"


def test_a_word_longer_than_the_terminal_is_folded():
    alignment = Alignment(("a" * 25, "b"), ("漢" * 12,), (Link(0, 0),))
    assert lines(draw(alignment), 10) == ["a" * 10] * 2 + ["aaaaa", "│"] + ["漢" * 5] * 2 + [
        "漢漢",
        "",
        "b",
        "∅",
        "",
    ]


def test_a_word_of_no_width_is_kept():
    assert lines(draw(Alignment(("a", "\u1161"), (), ())))[0] == "S a  \u1161"


def test_empty_sides_are_drawn():
    assert lines(draw(NONE)) == []
    assert lines(draw(Alignment(("a", "b"), (), ()))) == ["S a  b", "  ∅  ∅", "T"]
    assert lines(draw(Alignment((), ("a",), ()))) == ["S", "  ∅", "T a"]


@pytest.mark.parametrize(
    ("word", "seen"),
    [
        ("", "◌"),
        (" ", "␣"),
        ("a\u00a0b", "a␣b"),
        ("\x1b[31m", "␛[31m"),
        ("\u0301", "◌\u0301"),
        ("a\u202eb", "a\ufffdb"),
        ("\ud800", "\ufffd"),
        ("e\u0301", "e\u0301"),
        ("👩‍👩‍👧", "👩‍👩‍👧"),
        ("नमस्ते", "नमस्ते"),
    ],
)
def test_what_cannot_be_drawn_has_a_sign_and_the_rest_is_left_alone(word, seen):
    assert shown(word) == seen


def luminance(style: str) -> float:
    """Return the relative luminance of a colour, as WCAG defines it."""
    shares = (part / 255 for part in Color.parse(style.removeprefix("bold ")).get_truecolor())
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


CHANGED_STYLES = (changes.OLD, changes.NEW, changes.REWORDED, changes.MOVED, changes.FLAG, changes.QUIET)


@pytest.mark.parametrize("style", [LINK_STYLE, NULL_STYLE, *MOVED_STYLES, *CHANGED_STYLES])
def test_colours_can_be_read_on_black_and_on_white(style):
    assert (luminance(style) + 0.05) / 0.05 >= 4.5
    assert 1.05 / (luminance(style) + 0.05) >= 3


@pytest.mark.parametrize("width", [24, 40, 80, 120])
def test_the_legend_explains_every_mark_once_and_fits(width):
    legend = draw_legend(width).plain
    assert all(cell_len(line) <= width for line in legend.split("\n"))
    assert [legend.count(mark) for mark in "│┆∅1"] == [1, 1, 1, 1]


def test_a_rule_has_the_number_and_the_note_below_it_where_it_does_not_fit():
    assert draw_rule(12, "F1 97.5", 24).plain == "── 12 · F1 97.5 ────────"
    assert draw_rule(12, "F1 97.5", 10).plain == "── 12 ────\nF1 97.5"
    assert draw_rule(7, "", 8).plain == "── 7 ───"


def test_a_narrow_terminal_has_no_gutter():
    assert lines(draw(Alignment(("a",), ("b",), (Link(0, 0),))), 11) == ["a", "│", "b"]
