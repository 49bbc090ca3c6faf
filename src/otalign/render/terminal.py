"""An alignment in a terminal of any width: the two sentences above each other, word over word.

                My  old  neighbour  passed away  last  year              .
    1     2     │   ∅    │          ├──────┘     1     2     ∅           │
    Last  year  my       neighbour  died                     peacefully  .

Each sentence is in its order. Between them, │ joins corresponding words (├──┘ several, ┆ a weak link), ∅
marks words without a counterpart, and equal numbers mark counterparts that have moved. Colour only repeats
that. Both sentences break together at the end of a line.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from otalign.alignment import Alignment
from otalign.gloss import GlossColumn, columns
from otalign.render.words import shown, strengths

GAP = 2  # spaces between columns; the words of a phrase have one
WEAK = 0.5  # a phrase without a stronger link is drawn with a broken line
NULL = "∅"

NULL_STYLE = "yellow"
MOVED_STYLES = ("cyan", "magenta", "green", "blue")
LINK_STYLE = "dim"

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
        for number, line in enumerate(
            _break_lines(_make_cells(self.alignment, options.max_width), options.max_width)
        ):
            if number:
                yield Text("")
            yield from _draw_rows(line)


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

    layout = columns(alignment, compute_saving)
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


def _draw_rows(line: Sequence[_Cell]) -> Iterator[Text]:
    above = max(len(cell.source) for cell in line)
    below = max(len(cell.target) for cell in line)
    for k in range(above):
        yield _draw_row((_nth(cell.source, k), cell.word_style, cell.width) for cell in line)
    yield _draw_row((cell.mark, cell.mark_style, cell.width) for cell in line)
    for k in range(below):
        yield _draw_row((_nth(cell.target, k), cell.word_style, cell.width) for cell in line)


def _nth(lines: Sequence[str], k: int) -> str:
    return lines[k] if k < len(lines) else ""


def _draw_row(parts: Iterable[tuple[str, str, int]]) -> Text:
    row = Text(no_wrap=True)
    for text, style, width in parts:
        row.append(text, style)
        row.append(" " * (width - cell_len(text) + GAP))
    row.rstrip()
    return row
