"""An alignment as a grid for the terminal: a row for each source word, a column for each target word.

             ┌ He
             │ ┌ purchased
             │ │ ┌ yesterday ∅
        He   ██· ·
    bought   · ▓▓·

A link is a block, darker for larger weights, and ∅ marks words without one, so that no colour is needed.
Columns that do not fit into the terminal follow in another grid; words that are too long end in ….
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from otalign.alignment import Alignment
from otalign.render.terminal import LINK_STYLE, NULL, NULL_STYLE
from otalign.render.words import shown, strengths

SHADES = ("░░", "▒▒", "▓▓", "██")  # a quarter each
NO_LINK = "· "
PITCH = 2  # cells of a column, since they are about twice as high as wide
LEGEND = (
    (SHADES[-1], "strong link", ""),
    (SHADES[0], "weak link", ""),
    (NULL, "no counterpart", NULL_STYLE),
)
HEADING = 16  # cells reserved for a target word; more are used where they are free


def matrix(alignment: Alignment) -> "Matrix":
    """Return a grid of all word pairs with blocks at the links; print it with a rich console."""
    return Matrix(alignment)


@dataclass(frozen=True)
class Matrix:
    """Renderable of rich that draws an alignment as a matrix of any width."""

    alignment: Alignment

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        labels, headings = ([*map(shown, words)] for words in (self.alignment.source, self.alignment.target))
        longest = max(map(cell_len, labels), default=0)
        left = min(longest, options.max_width // 3) + 3  # a label, a blank, ∅ or a blank, a blank
        room = max(options.max_width - left, PITCH)
        source_nulls, target_nulls = set(self.alignment.source_nulls), set(self.alignment.target_nulls)
        strength = strengths(self.alignment)
        for number, band in enumerate(_split_columns(headings, room)):
            if number:
                yield Text("")
            for k, j in enumerate(band):
                yield _make_heading(headings[j], j in target_nulls, k, left, room)
            for i, label in enumerate(labels):
                row = _make_label(label, i in source_nulls, left)
                for j in band:
                    linked = (i, j) in strength
                    row.append(
                        _choose_shade(strength[i, j]) if linked else NO_LINK, "" if linked else LINK_STYLE
                    )
                row.rstrip()
                yield row


def _split_columns(headings: Sequence[str], room: int) -> Iterator[range]:
    """Split the columns into as few grids as fit with their headings; one grid if there are no columns."""
    start = 0
    for j, heading in enumerate(headings):
        needed = min(cell_len(heading) + len(f" {NULL}"), HEADING)
        if j > start and (j - start + 1) * PITCH + needed > room:
            yield range(start, j)
            start = j
    yield range(start, len(headings))


def _make_heading(word: str, null: bool, k: int, left: int, room: int) -> Text:
    """Return the line above the grid with the word of column k, from 0."""
    line = Text(" " * left, no_wrap=True)
    line.append("│ " * k + "┌ ", LINK_STYLE)
    rest = room - PITCH * (k + 1)
    if null:
        return line.append(f"{_truncate(word, rest - 2)} {NULL}", NULL_STYLE)
    return line.append(_truncate(word, rest))


def _make_label(word: str, null: bool, left: int) -> Text:
    word = _truncate(word, left - 3)
    text = f"{' ' * (left - 3 - cell_len(word))}{word} {NULL if null else ' '} "
    return Text(text, NULL_STYLE if null else "", no_wrap=True)


def _truncate(word: str, width: int) -> str:
    if cell_len(word) <= width:
        return word
    return set_cell_size(word, max(width - 1, 0)).rstrip() + "…"


def _choose_shade(strength: float) -> str:
    return SHADES[min(int(strength * len(SHADES)), len(SHADES) - 1)]
