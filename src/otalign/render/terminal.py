"""An alignment in a terminal of any width: the two sentences above each other, word over word.

    S             My  old  neighbour  passed away  last  year              .
      1     2     │   ∅    │          ├──────┘     1     2     ∅           │
    T Last  year  my       neighbour  died                     peacefully  .

S is the source and T the target, each in its order. Between them, │ joins corresponding words (├──┘ several,
┆ a weak link), ∅ marks words without a counterpart, and equal numbers mark counterparts that have moved.
Colour only repeats that. Both sentences break together at the end of a line.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from otalign.alignment import Alignment
from otalign.gloss import GlossColumn, arrange_columns
from otalign.render.words import shown, strengths

GAP = 2  # spaces between columns; the words of a phrase have one
WEAK = 0.5  # a phrase without a stronger link is drawn with a broken line
NULL = "∅"

# Of the 256 colours, such as are bright on black, 4.5:1 or more, and still 3:1 on white.
NULL_STYLE = "color(166)"
MOVED_STYLES = ("color(33)", "color(169)", "color(64)", "color(135)")
LINK_STYLE = "color(245)"

GUTTER = 2  # cells before a line, for S and T
NARROW = 12  # cells of a terminal without a gutter
LEGEND = (
    ("S", "source", LINK_STYLE),
    ("T", "target", LINK_STYLE),
    ("│", "linked", LINK_STYLE),
    ("┆", "weak link", LINK_STYLE),
    ("1", "moved", MOVED_STYLES[0]),
    (NULL, "no counterpart", NULL_STYLE),
)

# Characters of the line through a column, by what they join: a word above, a word below, more to the right.
TICKS = {
    (False, False, True): "─",
    (True, False, True): "┴",
    (False, True, True): "┬",
    (True, True, True): "┼",
    (True, False, False): "┘",
    (False, True, False): "┐",
    (True, True, False): "┤",
}


def draw(alignment: Alignment) -> "Drawing":
    """Return the two sentences above each other, with links and nulls; print it with a rich console."""
    return Drawing(alignment)


@dataclass(frozen=True)
class Drawing:
    """Renderable of rich that draws an alignment in any width."""

    alignment: Alignment

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        gutter = GUTTER if options.max_width >= NARROW else 0
        width = options.max_width - gutter
        for number, line in enumerate(_break_lines(_make_cells(self.alignment, width), width)):
            if number:
                yield Text("")
            yield from _draw_rows(line, gutter)


def draw_legend(width: int, marks: Sequence[tuple[str, str, str]] = LEGEND) -> Text:
    """Return the meaning of marks, each given as the mark, its meaning and its style."""
    legend, used = Text(no_wrap=True), 0
    for mark, meaning, style in marks:
        size = cell_len(f"{mark} {meaning}")
        if used:
            gap = "   " if used + 3 + size <= width else "\n"
            legend.append(gap)
            used = used + 3 if gap != "\n" else 0
        legend.append(mark, style)
        legend.append(f" {meaning}", LINK_STYLE)
        used += size
    return legend


def draw_rule(number: int, note: str, width: int) -> Text:
    """Return a line that sets a pair apart, with its number and a note, which is below if it is long."""
    rule = Text(no_wrap=True, style=LINK_STYLE)
    rule.append(f"── {number} ", "bold")
    fits = note and rule.cell_len + cell_len(note) + 3 <= width
    if fits:
        rule.append(f"· {note} ")
    rule.append("─" * max(width - rule.cell_len, 0))
    if note and not fits:
        rule.append(f"\n{note}")
        rule.no_wrap = False
    return rule


class _Cell(NamedTuple):
    """A drawn column: the lines of each side (one, unless it is folded) and the mark between them."""

    source: tuple[str, ...]
    mark: str
    target: tuple[str, ...]
    mark_style: str
    word_style: str

    @property
    def width(self) -> int:
        return max(map(cell_len, (*self.source, self.mark, *self.target)))


def _make_cells(alignment: Alignment, width: int) -> Iterator[_Cell]:
    source, target = (tuple(map(shown, words)) for words in (alignment.source, alignment.target))

    def sides(column: GlossColumn) -> tuple[list[str], list[str]]:
        return [source[i] for i in column.source], [target[j] for j in column.target]

    def compute_saving(column: GlossColumn) -> int:
        return min(cell_len(" ".join(words)) for words in sides(column)) + GAP

    layout = arrange_columns(alignment, compute_saving)
    numbers, weak = _number_moves(layout), _find_weak(alignment)
    for column in layout:
        above, below = sides(column)
        number = numbers.get(column.phrase)
        if column.phrase is None:
            head, mark_style, word_style = NULL, NULL_STYLE, NULL_STYLE
        elif number is None:
            head, mark_style, word_style = "┆" if column.phrase in weak else "│", LINK_STYLE, ""
        else:
            head = str(number)
            mark_style = word_style = MOVED_STYLES[(number - 1) % len(MOVED_STYLES)]
        fits = max(cell_len(" ".join(words)) for words in (above, below)) <= width
        mark = _draw_mark(head, above, below) if fits else head
        yield _Cell(_fold(above, width), mark, _fold(below, width), mark_style, word_style)


def _number_moves(layout: Sequence[GlossColumn]) -> dict[int | None, int]:
    """Number the phrases that have more than one column, from 1."""
    count = Counter(column.phrase for column in layout if column.phrase is not None)
    return {phrase: k for k, phrase in enumerate((p for p, times in count.items() if times > 1), 1)}


def _find_weak(alignment: Alignment) -> set[int]:
    """Return the phrases without a link of at least half the maximum weight."""
    strong = [pair for pair, strength in strengths(alignment).items() if strength >= WEAK]
    starts = {i for i, _ in strong}  # the phrase of a link is that of its source word
    return {number for number, phrase in enumerate(alignment.phrases) if starts.isdisjoint(phrase.source)}


def _draw_mark(head: str, above: Sequence[str], below: Sequence[str]) -> str:
    """Return the head, and a line from it to the first letter of each other word."""
    ups, downs = _find_starts(above), _find_starts(below)
    end = max(ups | downs)
    if end and head == "│":
        head = "├"
    line = "".join(TICKS[x in ups, x in downs, x < end] for x in range(len(head), end + 1))
    return head + line


def _find_starts(words: Sequence[str]) -> set[int]:
    places, x = set(), 0
    for word in words:
        places.add(x)
        x += cell_len(word) + 1
    return places


def _fold(words: Sequence[str], width: int) -> tuple[str, ...]:
    """Wrap words into lines of at most `width` cells; only a longer word is split."""
    lines = [""]
    for word in words:
        for piece in chop_cells(word, width) if cell_len(word) > width else [word]:
            longer = f"{lines[-1]} {piece}" if lines[-1] else piece
            if cell_len(longer) <= width:
                lines[-1] = longer
            else:
                lines.append(piece)
    return tuple(lines)


def _break_lines(cells: Iterator[_Cell], width: int) -> Iterator[list[_Cell]]:
    line, used = [], 0
    for cell in cells:
        if line and used + GAP + cell.width > width:
            yield line
            line, used = [], 0
        used += (GAP if line else 0) + cell.width
        line.append(cell)
    if line:
        yield line


def _draw_rows(line: Sequence[_Cell], gutter: int) -> Iterator[Text]:
    above = max(len(cell.source) for cell in line)
    below = max(len(cell.target) for cell in line)
    for k in range(above):
        side = "" if k else "S"
        yield _draw_row(side[:gutter], gutter, ((_nth(c.source, k), c.word_style, c.width) for c in line))
    yield _draw_row("", gutter, ((cell.mark, cell.mark_style, cell.width) for cell in line))
    for k in range(below):
        side = "" if k else "T"
        yield _draw_row(side[:gutter], gutter, ((_nth(c.target, k), c.word_style, c.width) for c in line))


def _nth(lines: Sequence[str], k: int) -> str:
    return lines[k] if k < len(lines) else ""


def _draw_row(side: str, gutter: int, parts: Iterable[tuple[str, str, int]]) -> Text:
    row = Text(no_wrap=True)
    row.append(side.ljust(gutter), LINK_STYLE)
    for text, style, width in parts:
        row.append(text, style)
        row.append(" " * (width - cell_len(text) + GAP))
    row.rstrip()
    return row
