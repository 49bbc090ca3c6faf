"""Hypothesis strategies for alignments to draw, and a function that renders a drawing to lines."""

import io

from hypothesis import strategies as st
from rich.console import Console

from otalign.alignment import Alignment, Link
from tests.alignment_strategies import _pairs, weights

# Words that cannot be taken for marks, a cell a letter; nine of them fit into 40 cells, so none is folded.
plain_words = st.lists(st.text("abcdefgh", min_size=1, max_size=3), max_size=9)


@st.composite
def plain_alignments(draw) -> Alignment:
    source, target = draw(plain_words), draw(plain_words)
    pairs = draw(_pairs(len(source), len(target)))
    return Alignment(tuple(source), tuple(target), tuple(Link(i, j, draw(weights)) for i, j in pairs))


# What is hard to measure or dangerous to print: wide, joined, combining, of no width, control.
odd = st.text(
    st.sampled_from(
        "a漢🚗é\u0301\u200d\ufe0f❤🇩👩👍🏽\u200b\xad\x1b\r\n\x00\x7f\x9b\u2028\u202e\u2067\uffff [/]&<>\"'"
    )
    | st.characters(codec="utf-8"),
    max_size=50,
)


@st.composite
def unusual_alignments(draw) -> Alignment:
    source, target = (draw(st.lists(odd, max_size=5)) for _ in range(2))
    pairs = draw(_pairs(len(source), len(target)))
    return Alignment(tuple(source), tuple(target), tuple(Link(i, j, draw(weights)) for i, j in pairs))


def lines(drawing, width: int = 80, color: bool = False) -> list[str]:
    console = Console(
        file=io.StringIO(), width=width, color_system="truecolor" if color else None, force_terminal=color
    )
    with console.capture() as capture:
        console.print(drawing)
    return capture.get().split("\n")[:-1]
