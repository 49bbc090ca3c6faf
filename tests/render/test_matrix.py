"""Laws of matrices: they fit the width and show words, links, nulls and the strength of links."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from otalign.alignment import Alignment, Link
from otalign.render.matrix import SHADES, matrix
from tests.render.alignment_strategies import lines, plain_alignments, unusual_alignments


def read_back(
    drawing: list[str], source: int
) -> tuple[list[str], list[str], set[tuple[int, int]], list[int], list[int]]:
    """Return words, pairs and nulls of both sides from grids that are separated by blank lines."""
    words, headings, pairs, source_nulls, target_nulls = [], [], set(), set(), []
    for grid in "\n".join(drawing).split("\n\n"):
        rows = grid.split("\n")
        top, rows = rows[: len(rows) - source], rows[len(rows) - source :]
        first = len(headings)
        left = min(line.index("┌") for line in top) if top else 0
        for line in top:
            heading = line.partition("┌ ")[2].split()
            if heading[1:] == ["∅"]:
                target_nulls.append(len(headings))
            headings.append(heading[0])
        words = [row.split()[0] for row in rows]
        for i, row in enumerate(rows):
            if "∅" in row:
                source_nulls.add(i)
            for k in range(len(top)):
                if row[left + 2 * k : left + 2 * k + 2] in SHADES:
                    pairs.add((i, first + k))
    return words, headings, pairs, sorted(source_nulls), target_nulls


@given(plain_alignments(), st.sampled_from([40, 80, 120]))
def test_words_links_and_nulls_can_be_read_back_without_colour(alignment, width):
    drawing = lines(matrix(alignment), width)
    if any(alignment.shape):
        assert read_back(drawing, len(alignment.source)) == (
            [*alignment.source],
            [*alignment.target],
            set(alignment.pairs),
            [*alignment.source_nulls],
            [*alignment.target_nulls],
        )


@given(unusual_alignments(), st.sampled_from([20, 40, 80, 120]))
def test_no_line_is_longer_than_the_terminal_whatever_the_words(alignment, width):
    assert all(cell_len(line) <= width for line in lines(matrix(alignment), width))


def test_long_sentences_go_into_several_grids_that_fit():
    words = tuple(f"word{k}" for k in range(60))
    alignment = Alignment(words, words, tuple(Link(k, 59 - k) for k in range(60)))
    drawing = lines(matrix(alignment), 80)
    assert all(len(line) <= 80 for line in drawing)
    assert read_back(drawing, 60)[:3] == ([*words], [*words], {(k, 59 - k) for k in range(60)})


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_heavier_link_is_not_lighter_to_see(one, other):
    shades = []
    for weight in sorted((one, other)):
        row = lines(matrix(Alignment(("a",), ("b",), (Link(0, 0, weight),))))[-1]
        shades.append(SHADES.index(row[-2:]))
    assert shades == sorted(shades)


def test_an_example():
    alignment = Alignment(("He", "bought"), ("He", "purchased", "soon"), (Link(0, 0), Link(1, 1, 0.6)))
    assert lines(matrix(alignment)) == [
        "         ┌ He",
        "         │ ┌ purchased",
        "         │ │ ┌ soon ∅",
        "    He   ██· ·",
        "bought   · ▓▓·",
    ]


def test_words_too_long_for_their_room_are_cut():
    drawing = lines(matrix(Alignment(("a" * 99,), ("漢" * 99,), ())), 40)
    assert [line.split() for line in drawing] == [["┌", "漢" * 9 + "…", "∅"], ["a" * 12 + "…", "∅", "·"]]


def test_empty_sides_are_drawn():
    assert lines(matrix(Alignment((), (), ()))) == []
    assert lines(matrix(Alignment(("[red]", "b"), (), ()))) == ["[red] ∅", "    b ∅"]
    assert lines(matrix(Alignment((), ("a",), ()))) == ["   ┌ a ∅"]
