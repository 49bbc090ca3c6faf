"""Two versions of a passage in one line: the pieces, and the spaces between them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from otalign.diff.difference import Difference, Passage, Piece
from otalign.render.words import shown


class Inline(NamedTuple):
    """A piece with its texts, whether a space precedes it, and the text of its counterpart."""

    piece: Piece
    old: str
    new: str
    blank: bool
    other: str  # text of its unit on the other side, if the piece has one side only


def inline(difference: Difference, passage: Passage) -> Iterator[Inline]:
    """Yield the pieces of a passage from left to right."""
    start = {side: min((p.side(side) or (0,))[0] for p in passage.pieces) for side in ("old", "new")}
    for k, piece in enumerate(passage.pieces):
        side = "new" if piece.new else "old"
        at = (piece.side(side) or (0,))[0]
        before = getattr(difference, side).text[max(at - 1, 0) : at]
        yield Inline(
            piece,
            line(difference.text(piece, "old")),
            line(difference.text(piece, "new")),
            k > 0 and at > start[side] and not before.strip(),
            _find_counterpart(difference, passage, piece),
        )


def line(text: str) -> str:
    """Return the text on one line, with signs for characters that cannot be drawn."""
    return " ".join(map(shown, text.split()))


def numbers(sentences: Sequence[int]) -> str:
    """Return the numbers of neighbouring sentences, from 1: 3, or 3–4."""
    if not sentences:
        return ""
    first, last = sentences[0] + 1, sentences[-1] + 1
    return str(first) if first == last else f"{first}–{last}"


def summarize(difference: Difference) -> str:
    """Return a line with the number of sentences, and of passages of each kind."""
    counts, old, new = difference.counts, len(difference.old), len(difference.new)
    if difference.same:
        return f"{new:,} sentences, all the same" if new else "no sentences in either text"
    kinds = [f"{counts[name]:,} {name}" for name in ("same", "edited", "new", "gone") if counts[name]]
    others = [f"{counts[name]:,} {name}" for name in ("moved", "split", "joined") if counts[name]]
    return f"{old:,} → {new:,} sentences: " + "; ".join(", ".join(part) for part in (kinds, others) if part)


class TextRun(NamedTuple):
    """Passages that follow each other in both texts: their indices in a sequence, and their sentences."""

    places: list[int]
    old: list[int]
    new: list[int]


def side_by_side(passages: Sequence[Passage]) -> list[TextRun]:
    """Group passages with both sides into runs, in order."""
    runs: list[TextRun] = []
    for k, passage in enumerate(passages):
        if not runs or (runs[-1].old[-1] + 1, runs[-1].new[-1] + 1) != (passage.old[0], passage.new[0]):
            runs.append(TextRun([], [], []))
        runs[-1].places.append(k)
        runs[-1].old.extend(passage.old)
        runs[-1].new.extend(passage.new)
    return runs


def _find_counterpart(difference: Difference, passage: Passage, piece: Piece) -> str:
    if piece.unit is None or (piece.old and piece.new):
        return ""
    side = "old" if piece.new else "new"
    halves = (difference.text(other, side) for other in passage.pieces if other.unit == piece.unit)
    return " … ".join(line(half) for half in halves if half)
