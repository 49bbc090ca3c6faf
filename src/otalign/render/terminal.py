"""An alignment drawn for a terminal of any width: the two sentences above each other, word over word.

                My  old  neighbour  passed away  last  year              .
    1     2     │   ∅    │          ├──────┘     1     2     ∅           │
    Last  year  my       neighbour  died                     peacefully  .

Each sentence reads in its order. Between them stands │ where words correspond (├──┘ where several do, ┆ where
the link is weak), ∅ where a word has no counterpart, and a number where the counterpart has moved: it stands
at the same number. Colour only repeats that. Where the terminal ends, both sentences break together.
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

GAP = 2  # blanks between columns; one blank is between the words of a phrase
WEAK = 0.5  # a phrase without a stronger link is drawn with a broken line
NULL = "∅"

NULL_STYLE = "yellow"
MOVED_STYLES = ("cyan", "magenta", "green", "blue")
LINK_STYLE = "dim"

# The line through a column, by what it has at a place: a word above, a word below, more to the right.
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
    """The two sentences above each other, with their links and nulls; print it with a rich console."""
    return Drawing(alignment)


@dataclass(frozen=True)
class Drawing:
    """What rich draws of an alignment, as wide as it is told to."""

    alignment: Alignment

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for number, line in enumerate(
            _in_lines(_cells(self.alignment, options.max_width), options.max_width)
        ):
            if number:
                yield Text("")
            yield from _rows(line)


class _Cell(NamedTuple):
    """A column as it is drawn: the lines of either side (one, unless it was folded) and the mark between."""

    source: tuple[str, ...]
    mark: str
    target: tuple[str, ...]
    mark_style: str
    word_style: str

    @property
    def width(self) -> int:
        return max(map(cell_len, (*self.source, self.mark, *self.target)))


def _cells(alignment: Alignment, width: int) -> Iterator[_Cell]:
    source, target = (tuple(map(shown, words)) for words in (alignment.source, alignment.target))

    def sides(column: GlossColumn) -> tuple[list[str], list[str]]:
        return [source[i] for i in column.source], [target[j] for j in column.target]

    def compute_saving(column: GlossColumn) -> int:
        return min(cell_len(" ".join(words)) for words in sides(column)) + GAP

    made = columns(alignment, compute_saving)
    numbers, weak = _numbers(made), _weak(alignment)
    for column in made:
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
        mark = _mark(head, above, below) if fits else head
        yield _Cell(_fold(above, width), mark, _fold(below, width), mark_style, word_style)


def _numbers(made: Sequence[GlossColumn]) -> dict[int | None, int]:
    """Numbers from 1 for the phrases whose words do not all stand in one column."""
    count = Counter(column.phrase for column in made if column.phrase is not None)
    return {phrase: k for k, phrase in enumerate((p for p, times in count.items() if times > 1), 1)}


def _weak(alignment: Alignment) -> set[int]:
    """The phrases none of whose links has half the weight that a link can have."""
    strong = [pair for pair, strength in strengths(alignment).items() if strength >= WEAK]
    starts = {i for i, _ in strong}  # a link's phrase is that of its source word
    return {number for number, phrase in enumerate(alignment.phrases) if starts.isdisjoint(phrase.source)}


def _mark(head: str, above: Sequence[str], below: Sequence[str]) -> str:
    """The head under the first words, and a line from it to the first letter of each other word."""
    ups, downs = _starts(above), _starts(below)
    end = max(ups | downs)
    if end and head == "│":
        head = "├"
    line = "".join(TICKS[x in ups, x in downs, x < end] for x in range(len(head), end + 1))
    return head + line


def _starts(words: Sequence[str]) -> set[int]:
    places, x = set(), 0
    for word in words:
        places.add(x)
        x += cell_len(word) + 1
    return places


def _fold(words: Sequence[str], width: int) -> tuple[str, ...]:
    """The words in lines of at most `width` cells; only a longer word is cut."""
    lines = [""]
    for word in words:
        for piece in chop_cells(word, width) if cell_len(word) > width else [word]:
            apart = f"{lines[-1]} {piece}" if lines[-1] else piece
            if cell_len(apart) <= width:
                lines[-1] = apart
            else:
                lines.append(piece)
    return tuple(lines)


def _in_lines(cells: Iterator[_Cell], width: int) -> Iterator[list[_Cell]]:
    line, used = [], 0
    for cell in cells:
        if line and used + GAP + cell.width > width:
            yield line
            line, used = [], 0
        used += (GAP if line else 0) + cell.width
        line.append(cell)
    if line:
        yield line


def _rows(line: Sequence[_Cell]) -> Iterator[Text]:
    above = max(len(cell.source) for cell in line)
    below = max(len(cell.target) for cell in line)
    for k in range(above):
        yield _row((_nth(cell.source, k), cell.word_style, cell.width) for cell in line)
    yield _row((cell.mark, cell.mark_style, cell.width) for cell in line)
    for k in range(below):
        yield _row((_nth(cell.target, k), cell.word_style, cell.width) for cell in line)


def _nth(lines: Sequence[str], k: int) -> str:
    return lines[k] if k < len(lines) else ""


def _row(parts: Iterable[tuple[str, str, int]]) -> Text:
    row = Text(no_wrap=True)
    for text, style, width in parts:
        row.append(text, style)
        row.append(" " * (width - cell_len(text) + GAP))
    row.rstrip()
    return row
