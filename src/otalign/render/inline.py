"""Two versions of a passage in one line: the pieces, the spaces between them, and notes about the passage."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from otalign.diff.difference import KINDS, Difference, Passage, Piece, Place
from otalign.quantities import count_noun
from otalign.render.words import shown

Side = Literal["old", "new"]
SIDES: tuple[Side, Side] = ("old", "new")
MAX_QUOTED = 6  # words that are quoted of a sentence
SENTENCES = {"split": "{old:,} split into {new:,}", "joined": "{old:,} joined into {new:,}"}
TRAIT_COUNTS = {
    **{"moved": "{:,} moved", "number": "numbers differ in {:,}"},
    **{"negation": "negation differs in {:,}"},
}


class Inline(NamedTuple):
    """A piece with its texts, the spaces before them, and the text of its counterpart."""

    piece: Piece
    old: str
    new: str
    blank: bool  # whether a space precedes it
    blank_between: bool  # whether one precedes its new text, if it has both
    other: str  # text of its unit on the other side, if the piece has one side only


def inline(difference: Difference, passage: Passage, only: Side | None = None) -> Iterator[Inline]:
    """Yield the pieces of a passage from left to right: those of both sides, or those of one."""
    chosen = [piece for piece in passage.pieces if only is None or piece.side(only)]
    for k, piece in enumerate(chosen):
        first = only or ("new" if piece.fate == "kept" or not piece.old else "old")
        yield Inline(
            piece,
            line(difference.text(piece, "old")),
            line(difference.text(piece, "new")),
            k > 0 and _follows_blank(difference, piece, first),
            _follows_blank(difference, piece, "new"),
            _find_counterpart(difference, passage, piece),
        )


def _follows_blank(difference: Difference, piece: Piece, side: Side) -> bool:
    """Return whether a piece is not written together with what precedes it on a side."""
    start = (piece.side(side) or (0,))[0]
    return not getattr(difference, side).text[max(start - 1, 0) : start].strip()


def line(text: str) -> str:
    """Return the text on one line, with signs for characters that cannot be drawn."""
    return " ".join(map(shown, text.split()))


def quote(text: str) -> str:
    """Return the first words of a text on one line."""
    words = text.split()
    return line(" ".join(words[:MAX_QUOTED])) + (" …" if len(words) > MAX_QUOTED else "")


def numbers(sentences: Sequence[int]) -> str:
    """Return the numbers of neighbouring sentences, from 1: 3, or 3–4."""
    if not sentences:
        return ""
    first, last = sentences[0] + 1, sentences[-1] + 1
    return str(first) if first == last else f"{first}–{last}"


def summarize(difference: Difference) -> str:
    """Return a line with the number of sentences, and of those of each kind, which add up to it."""
    old, new = len(difference.old), len(difference.new)
    if difference.same:
        all_same = "1 sentence, the same" if new == 1 else f"{new:,} sentences, all the same"
        return all_same if new else "no sentences in either text"
    counts = difference.counts
    kinds = []
    for kind in filter(counts.get, KINDS):
        passages = [passage for passage in difference if passage.kind == kind]
        count = {side: sum(len(getattr(passage, side)) for passage in passages) for side in SIDES}
        kinds.append(SENTENCES[kind].format(**count) if kind in SENTENCES else f"{counts[kind]:,} {kind}")
    traits = [text.format(counts[trait]) for trait, text in TRAIT_COUNTS.items() if counts[trait]]
    sentences = f"{old:,} → {count_noun(new, 'sentence')}: "
    return sentences + "; ".join(", ".join(part) for part in (kinds, traits) if part)


def describe_change(difference: Difference, passage: Passage) -> str:
    """Return the most important change of a passage in a few words, and the number of others, for a list."""
    edits = [piece for piece in passage.pieces if piece.fate != "kept"]
    # Flags come first, and what is minor last.
    edits.sort(key=lambda piece: (piece.flag is None, piece.fate == "minor"))
    if not edits or len(passage.pieces) == 1:
        return quote(difference.text(passage.pieces[0], "new" if passage.new else "old"))
    piece = edits[0]
    old, new = (quote(difference.text(piece, side)) for side in SIDES)
    first = f"{old} → {new}" if old and new else f"{piece.fate}: {old or new}"
    # The halves of a change that stand apart share a unit.
    others = len({k if piece.unit is None else (piece.unit,) for k, piece in enumerate(edits)}) - 1
    return f"{first}, and {others} more" if others else first


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


def list_origins(difference: Difference) -> dict[int, str]:
    """Return where passages came from that moved together, by the index of the first passage."""
    moved = [k for k, passage in enumerate(difference.passages) if passage.moved]
    runs = side_by_side([difference.passages[k] for k in moved])
    return {moved[run.places[0]]: _describe_origin(difference, run.old) for run in runs}


def _describe_origin(difference: Difference, sentences: Sequence[int]) -> str:
    first = sentences[0]
    where = f"after “{quote(difference.old.sentences[first - 1])}”" if first else "at the beginning"
    return f"moved from {numbers(sentences)}, {where}"


def group_paragraphs(difference: Difference) -> list[list[Place]]:
    """Return the places in the paragraphs of the new text.

    What is gone or has moved away stays with its neighbours of the same old paragraph; a paragraph that is
    gone as a whole is one of its own, unless it was inside of a paragraph of the new text.
    """
    paragraphs: list[list[Place]] = []
    pending: list[Place] = []  # gone or moved away, since the last place with new sentences
    last = -1
    for place in difference.places:
        passage = difference.passages[place.number]
        if place.left or not passage.new:
            pending.append(place)
            continue
        number = _number_paragraph(difference, place, "new")
        if number == last:
            paragraphs[-1] += [*pending, place]
        else:
            before = _divide(difference, pending, paragraphs)
            unmoved = bool(passage.old) and not passage.moved
            if before and unmoved and _share_paragraph(difference, before[-1][0], place):
                paragraphs += [*before[:-1], [*before[-1], place]]
            else:
                paragraphs += [*before, [place]]
        pending, last = [], number
    return paragraphs + _divide(difference, pending, paragraphs)


def _divide(
    difference: Difference, places: Sequence[Place], paragraphs: Sequence[list[Place]]
) -> list[list[Place]]:
    """Add places to the last paragraph as long as theirs goes on; return the others by paragraphs."""
    groups: list[list[Place]] = []
    for place in places:
        sentence = difference.passages[place.number].old[0]
        if sentence in difference.old.paragraph_starts or not (groups or paragraphs):
            groups.append([])
        (groups or paragraphs)[-1].append(place)
    return groups


def _share_paragraph(difference: Difference, first: Place, second: Place) -> bool:
    return _number_paragraph(difference, first, "old") == _number_paragraph(difference, second, "old")


def _number_paragraph(difference: Difference, place: Place, side: str) -> int:
    starts = sorted(getattr(difference, side).paragraph_starts)
    return bisect_right(starts, getattr(difference.passages[place.number], side)[0])


def _find_counterpart(difference: Difference, passage: Passage, piece: Piece) -> str:
    if piece.unit is None or (piece.old and piece.new):
        return ""
    side = "old" if piece.new else "new"
    halves = (difference.text(other, side) for other in passage.pieces if other.unit == piece.unit)
    return " … ".join(line(half) for half in halves if half)
