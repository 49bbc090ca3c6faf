"""An alignment as a grid for the terminal: a row for each source word, a column for each target word.

             ┌ He
             │ ┌ purchased
             │ │ ┌ yesterday ∅
        He   ██· ·
    bought   · ▓▓·

A link is a block, the fuller the heavier, and ∅ stands at the words without one, so that no colour is needed.
Columns that do not fit into the terminal go below, in a grid of their own; words too long for their room end
in ….
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
PITCH = 2  # cells of a column: a terminal's cells are about twice as high as wide
HEADING = 16  # cells that a target word may claim; more are used where they are free


def matrix(alignment: Alignment) -> "Matrix":
    """The grid of all word pairs, with blocks at the links; print it with a rich console."""
    return Matrix(alignment)


@dataclass(frozen=True)
class Matrix:
    """What rich draws of an alignment's matrix, as wide as it is told to."""

    alignment: Alignment

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        labels, headings = ([*map(shown, words)] for words in (self.alignment.source, self.alignment.target))
        longest = max(map(cell_len, labels), default=0)
        left = min(longest, options.max_width // 3) + 3  # a label, a blank, ∅ or a blank, a blank
        room = max(options.max_width - left, PITCH)
        source_nulls, target_nulls = set(self.alignment.source_nulls), set(self.alignment.target_nulls)
        strength = strengths(self.alignment)
        for number, band in enumerate(_bands(headings, room)):
            if number:
                yield Text("")
            for k, j in enumerate(band):
                yield _heading(headings[j], j in target_nulls, k, left, room)
            for i, label in enumerate(labels):
                row = _label(label, i in source_nulls, left)
                for j in band:
                    linked = (i, j) in strength
                    row.append(_shade(strength[i, j]) if linked else NO_LINK, "" if linked else LINK_STYLE)
                row.rstrip()
                yield row


def _bands(headings: Sequence[str], room: int) -> Iterator[range]:
    """The columns in as few grids as fit, each with room for its headings; one grid if there are none."""
    start = 0
    for j, heading in enumerate(headings):
        wanted = min(cell_len(heading) + len(f" {NULL}"), HEADING)
        if j > start and (j - start + 1) * PITCH + wanted > room:
            yield range(start, j)
            start = j
    yield range(start, len(headings))


def _heading(word: str, null: bool, k: int, left: int, room: int) -> Text:
    """The line above the grid with the word of its column k, counted from 0."""
    line = Text(" " * left, no_wrap=True)
    line.append("│ " * k + "┌ ", LINK_STYLE)
    rest = room - PITCH * (k + 1)
    if null:
        return line.append(f"{_cut(word, rest - 2)} {NULL}", NULL_STYLE)
    return line.append(_cut(word, rest))


def _label(word: str, null: bool, left: int) -> Text:
    word = _cut(word, left - 3)
    text = f"{' ' * (left - 3 - cell_len(word))}{word} {NULL if null else ' '} "
    return Text(text, NULL_STYLE if null else "", no_wrap=True)


def _cut(word: str, width: int) -> str:
    if cell_len(word) <= width:
        return word
    return set_cell_size(word, max(width - 1, 0)).rstrip() + "…"


def _shade(strength: float) -> str:
    return SHADES[min(int(strength * len(SHADES)), len(SHADES) - 1)]
