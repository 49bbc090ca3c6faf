"""Layout of a drawing: lines of two rows of words, with linked words opposite each other.

The sentences break together into lines (`otalign.render.lines`). In each line the words of the two rows are
as close to their partners as they can be (`otalign.render.placing`). Words with the same partners share a
bracket (`otalign.render.groups`). A link between two lines is a number at both of its ends.

All lengths are in pixels. The width of a word depends on the reader's fonts, which are unknown: it is
estimated from the kinds of letters, rather too wide than too narrow.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal
from unicodedata import bidirectional, category, east_asian_width

from otalign.alignment import Alignment
from otalign.render.groups import LinkGroup, group_links, split_runs
from otalign.render.lines import LineRanges, break_lines
from otalign.render.placing import place_words
from otalign.render.words import shown

Side = Literal["source", "target"]
SIDES: tuple[Side, Side] = ("source", "target")
Point = tuple[float, float]
Curve = tuple[Point, Point, Point, Point]  # a cubic Bézier curve

SIZE = 16  # font size
MARGIN = 16
GUTTER = 60  # for the names of the rows
PADDING = 5  # on both sides of a word
GAP = 6  # between the boxes of two words
ROW = 26  # height of a row
NEAR, FAR = 52, 130  # between the rows of a line: the nearer, the steeper the links
BETWEEN = 34  # between two lines
BRACKET = 6  # height of a bracket
LEAST_BEND = 20  # a link leaves its words in their direction for at least this length
DIGIT = 8  # width of a digit of a number
APART = 5  # between a number and another one, or a curve, at the same word

NARROW = frozenset("ijlItfr.,:;'`|!()[]{}/\\-·’‘ ")
BROAD = frozenset("mwMWGOQ@%&—…∅")


@dataclass(frozen=True)
class PlacedWord:
    """A word with its box."""

    text: str
    x: float  # of the centre
    top: float
    width: float
    side: Side
    null: bool

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.top + ROW

    @property
    def sign(self) -> Point:
        """The place of ∅, which is where a link would begin."""
        return _place_label((self.x, self.bottom if self.side == "source" else self.top), self.side)


@dataclass(frozen=True)
class Stroke:
    """The lines that are drawn for a group of links.

    Attributes:
        group: The group.
        curves: Curves between words of the same line.
        brackets: Corners of the brackets at runs of several words.
        far: Curves between words of different lines, which are drawn on demand.
        labels: Places of the number of the group, if its words are in several lines.
        number: The number.
    """

    group: LinkGroup
    curves: tuple[Curve, ...]
    brackets: tuple[tuple[Point, ...], ...]
    far: tuple[Curve, ...]
    labels: tuple[Point, ...]
    number: int | None


@dataclass(frozen=True)
class Layout:
    """The words with their places, the names of the rows, and what is drawn for the links."""

    width: float
    height: float
    source: tuple[PlacedWord, ...]
    target: tuple[PlacedWord, ...]
    gutter: tuple[tuple[str, float, float], ...]  # text, x and middle of a row
    strokes: tuple[Stroke, ...]


def lay_out(alignment: Alignment, width: float) -> Layout:
    """Lay out an alignment in lines of a width, or of its widest word if that is wider."""
    sides: dict[Side, list[str]] = {
        "source": [shown(word) for word in alignment.source],
        "target": [shown(word) for word in alignment.target],
    }
    nulls: dict[Side, set[int]] = {
        "source": set(alignment.source_nulls),
        "target": set(alignment.target_nulls),
    }
    widths: dict[Side, list[float]] = {
        side: [word_width(word) + 2 * PADDING for word in words] for side, words in sides.items()
    }
    pairs = [(i, j) for i, j, _ in alignment.links]
    room = max(width - GUTTER - 2 * MARGIN, *widths["source"], *widths["target"], 1.0)
    lines = break_lines(widths["source"], widths["target"], pairs, GAP, room)
    placed: dict[Side, list[PlacedWord]] = {"source": [], "target": []}
    gutter: list[tuple[str, float, float]] = []
    top = float(MARGIN)
    for line in lines:
        xs = _place_line(line, widths, sides, pairs, room)
        tops, bottom = _stack_rows(line, xs, pairs, top)
        for side, words in sides.items():
            placed[side] += [
                PlacedWord(words[k], x + MARGIN + GUTTER, tops[side], widths[side][k], side, k in nulls[side])
                for k, x in zip(getattr(line, side), xs[side], strict=True)
            ]
            if getattr(line, side):
                gutter.append((side.capitalize(), MARGIN, tops[side] + ROW / 2))
        top = bottom + BETWEEN
    right = max((word.x + word.width / 2 for words in placed.values() for word in words), default=MARGIN)
    height = max(top - BETWEEN, MARGIN) + MARGIN
    strokes = _draw_links(pairs, lines, placed)
    return Layout(
        right + MARGIN, height, tuple(placed["source"]), tuple(placed["target"]), tuple(gutter), strokes
    )


def _place_line(
    line: LineRanges,
    widths: dict[Side, list[float]],
    sides: dict[Side, list[str]],
    pairs: Sequence[tuple[int, int]],
    room: float,
) -> dict[Side, list[float]]:
    """Return the centres of the words of a line; a row in a script from right to left runs leftwards."""
    order = {side: [*getattr(line, side)][:: -1 if leftwards(words) else 1] for side, words in sides.items()}
    place = {side: {word: k for k, word in enumerate(words)} for side, words in order.items()}
    inside = [
        (place["source"][i], place["target"][j])
        for i, j in pairs
        if i in place["source"] and j in place["target"]
    ]
    above, below = ([widths[side][word] for word in order[side]] for side in SIDES)
    xs, us = place_words(above, below, inside, GAP, room)
    return {
        "source": [xs[place["source"][word]] for word in line.source],
        "target": [us[place["target"][word]] for word in line.target],
    }


def _stack_rows(
    line: LineRanges, xs: dict[Side, list[float]], pairs: Sequence[tuple[int, int]], top: float
) -> tuple[dict[Side, float], float]:
    """Return the tops of the rows of a line, and its lower edge; a line may have one row only."""
    if not line.source or not line.target:
        return {"source": top, "target": top}, top + ROW
    slants = [
        abs(xs["source"][i - line.source.start] - xs["target"][j - line.target.start])
        for i, j in pairs
        if i in line.source and j in line.target
    ]
    below = top + ROW + min(max(NEAR, max(slants, default=0.0) / 3), FAR)
    return {"source": top, "target": below}, below + ROW


def _draw_links(
    pairs: Sequence[tuple[int, int]], lines: Sequence[LineRanges], words: dict[Side, list[PlacedWord]]
) -> tuple[Stroke, ...]:
    line_of = {side: [k for k, line in enumerate(lines) for _ in getattr(line, side)] for side in SIDES}
    near = [(i, j) for i, j in pairs if line_of["source"][i] == line_of["target"][j]]
    with_curve = {("source", i) for i, _ in near} | {("target", j) for _, j in near}
    strokes: list[Stroke] = []
    labelled: dict[tuple[Side, int], float] = {}  # where the numbers at a run end, by its first word
    count = 0
    for group in group_links(pairs):
        runs = {side: split_runs(getattr(group, side), line_of[side]) for side in SIDES}
        ends: list[tuple[Side, tuple[int, ...]]] = [(side, run) for side in SIDES for run in runs[side]]
        far = len({line_of[side][run[0]] for side, run in ends}) > 1
        curves: list[Curve] = []
        hidden: list[Curve] = []
        for run, other in join_runs(runs["source"], runs["target"]):
            curve = draw_curve(_find_anchor(words["source"], run), _find_anchor(words["target"], other))
            together = line_of["source"][run[0]] == line_of["target"][other[0]]
            (curves if together else hidden).append(curve)
        count += far
        half = DIGIT * len(str(count)) / 2
        labels: list[Point] = []
        for side, run in ends if far else ():
            x, y = _place_label(_find_anchor(words[side], run), side)
            is_beside = any((side, word) in with_curve for word in run)
            end = labelled.get((side, run[0]), x if is_beside else -inf)
            x = max(x, end + APART + half)
            labels.append((x, y))
            labelled[side, run[0]] = x + half
        brackets = tuple(_draw_bracket(words[side], run) for side, run in ends if len(run) > 1)
        number = count if far else None
        strokes.append(Stroke(group, tuple(curves), brackets, tuple(hidden), tuple(labels), number))
    return tuple(strokes)


def join_runs(
    source: Sequence[tuple[int, ...]], target: Sequence[tuple[int, ...]]
) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the runs to connect, so that all are connected: the longest of a side with each of the other."""
    first, second = max(source, key=len), max(target, key=len)
    return [(first, run) for run in target] + [(run, second) for run in source if run != first]


def _find_anchor(words: Sequence[PlacedWord], run: tuple[int, ...]) -> Point:
    """Return the end point of links at a run of words: the middle of its edge, or of its bracket."""
    if len(run) == 1:
        word = words[run[0]]
        return word.x, word.bottom if word.side == "source" else word.top
    _, (left, y), (right, _), _ = _draw_bracket(words, run)
    return (left + right) / 2, y


def _draw_bracket(words: Sequence[PlacedWord], run: tuple[int, ...]) -> tuple[Point, Point, Point, Point]:
    ends = [words[run[0]], words[run[-1]]]
    left = min(word.x - word.width / 2 for word in ends) + 3
    right = max(word.x + word.width / 2 for word in ends) - 3
    source = ends[0].side == "source"
    edge = ends[0].bottom if source else ends[0].top
    base = edge + BRACKET if source else edge - BRACKET
    return (left, edge), (left, base), (right, base), (right, edge)


def _place_label(anchor: Point, side: Side) -> Point:
    """Return the place of a number or ∅ at the end of a link: its centre and its baseline."""
    return anchor[0], anchor[1] + 13 if side == "source" else anchor[1] - 4


def draw_curve(start: Point, end: Point) -> Curve:
    """Return the curve from the lower edge of a source word to the upper edge of a target word."""
    (x, y), (u, v) = start, end
    bend = max(abs(v - y) / 2, LEAST_BEND)
    return (x, y), (x, y + bend), (u, v - bend), (u, v)


def leftwards(words: Sequence[str]) -> bool:
    """Return whether most letters belong to a script that is written from right to left."""
    directions = [bidirectional(letter) for word in words for letter in word]
    return sum(direction in ("R", "AL") for direction in directions) > directions.count("L")


def word_width(text: str) -> float:
    """Estimate the width of a word."""
    return SIZE * max(sum(map(_estimate_em, text)), 0.6)


def _estimate_em(letter: str) -> float:
    if category(letter) in ("Mn", "Me", "Cf"):
        return 0.0
    if east_asian_width(letter) in ("W", "F"):
        return 1.2 if category(letter) == "So" else 1.0  # emoji are wider than ideographs
    if letter in NARROW:
        return 0.4
    return 1.0 if letter in BROAD else 0.7 if letter.isupper() else 0.63
