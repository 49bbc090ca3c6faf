"""Layout of a picture: two rows or two columns of words, with linked words opposite each other.

All lengths are in pixels. The width of a word depends on the reader's fonts, which are unknown: it is
estimated from the kinds of letters, rather too wide than too narrow.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from unicodedata import bidirectional, category, east_asian_width

from otalign.alignment import Alignment
from otalign.render.placing import place_words
from otalign.render.words import shown

SIZE = 16  # font size
MARGIN = 20
GAP = 18  # between the words of a row
LEADING = 30  # from word to word of a column
NEAR, FAR = 72, 150  # between the rows: the nearer, the steeper the links
ACROSS = 150  # between the columns

NARROW = frozenset("ijlItfr.,:;'`|!()[]{}/\\-·’‘ ")
BROAD = frozenset("mwMWGOQ@%&—…∅")


@dataclass(frozen=True)
class Word:
    """A word with its position."""

    text: str
    x: float
    y: float  # baseline
    anchor: Literal["start", "middle", "end"]  # part of the text at x
    end: tuple[float, float]  # end point of its links
    line: tuple[float, float, float]  # line below it: from x, to x, at y
    sign: tuple[float, float]  # centre of ∅, if it is null


@dataclass(frozen=True)
class Layout:
    """Words in two rows, with upright links, or in two columns, with links from left to right."""

    width: float
    height: float
    source: tuple[Word, ...]
    target: tuple[Word, ...]
    upright: bool

    def curve(self, i: int, j: int) -> tuple[tuple[float, float], ...]:
        """Return the four points of the Bézier curve from source word i to target word j."""
        (x, y), (u, v) = self.source[i].end, self.target[j].end
        middle_x, middle_y = (x + u) / 2, (y + v) / 2
        if self.upright:
            return (x, y), (x, middle_y), (u, middle_y), (u, v)
        return (x, y), (middle_x, y), (middle_x, v), (u, v)


def rows(alignment: Alignment) -> Layout:
    """Lay out the sentences in two rows."""
    source, target = ([shown(word) for word in words] for words in (alignment.source, alignment.target))
    first, second = _visual_order(source), _visual_order(target)
    xs, us = place_words(
        [word_width(source[i]) for i in first],
        [word_width(target[j]) for j in second],
        [(first[i], second[j]) for i, j, _ in alignment.links],
        GAP,
    )
    slants = [abs(xs[first[i]] - us[second[j]]) for i, j, _ in alignment.links]
    top = MARGIN + SIZE
    bottom = top + 2 * SIZE + min(max(NEAR, max(slants, default=0) / 3), FAR)
    above = tuple(
        _place_in_row(word, MARGIN + xs[k], top, below=False) for k, word in zip(first, source, strict=True)
    )
    under = tuple(
        _place_in_row(word, MARGIN + us[k], bottom, below=True)
        for k, word in zip(second, target, strict=True)
    )
    right = max((word.line[1] for word in above + under), default=MARGIN)
    return Layout(right + MARGIN, bottom + MARGIN, above, under, upright=True)


def columns(alignment: Alignment) -> Layout:
    """Lay out the sentences in two columns."""
    source, target = ([shown(word) for word in words] for words in (alignment.source, alignment.target))
    pairs = [(i, j) for i, j, _ in alignment.links]
    ys, vs = place_words([LEADING] * len(source), [LEADING] * len(target), pairs, 0)
    left = MARGIN + max(map(word_width, source), default=0)
    right = left + ACROSS
    before = tuple(
        _place_in_column(word, left, MARGIN + y, after=False) for word, y in zip(source, ys, strict=True)
    )
    behind = tuple(
        _place_in_column(word, right, MARGIN + v, after=True) for word, v in zip(target, vs, strict=True)
    )
    width = right + max(map(word_width, target), default=0) + MARGIN
    height = max((*ys, *vs), default=0) + LEADING / 2 + 2 * MARGIN
    return Layout(width, height, before, behind, upright=False)


def _place_in_row(text: str, x: float, y: float, below: bool) -> Word:
    half = word_width(text) / 2
    edge, sign = (y - 20, y - 22) if below else (y + 10, y + 22)
    return Word(text, x, y, "middle", (x, edge), (x - half, x + half, y + 5), (x, sign))


def _place_in_column(text: str, x: float, middle: float, after: bool) -> Word:
    y, width = middle + SIZE / 3, word_width(text)
    if after:
        return Word(text, x, y, "start", (x - 8, middle), (x, x + width, y + 5), (x - 14, y))
    return Word(text, x, y, "end", (x + 8, middle), (x - width, x, y + 5), (x + 14, y))


def _visual_order(words: Sequence[str]) -> list[int]:
    """Return the position of each word in its row: reversed if most letters are Hebrew or Arabic.

    The same list gives the word at each position, since reversing twice changes nothing.
    """
    return [*range(len(words))][:: -1 if leftwards(words) else 1]


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
