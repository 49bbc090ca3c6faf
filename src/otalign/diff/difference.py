"""What a difference between two versions of a text is: which passages say the same, and what changed in them.

A `Difference` holds both texts with their sentences, and passages in the order in which they are read. A
`Passage` is sentences of the old text and those of the new that tell the same, in pieces; either side may be
empty. A `Piece` is words that share a fate. All are frozen, checked, plain values; places are characters of
the texts, [start, end), so that spacing is never lost. Every word of either text is in exactly one piece.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

from otalign.text.sentences import Document, Span

Fate = Literal["kept", "reworded", "moved", "added", "removed"]
Kind = Literal["same", "edited", "new", "gone"]


class Piece(NamedTuple):
    """Words of the old text, of the new text, or of both, and what became of them.

    What is `kept` is on both sides, what is `added` or `removed` on one. What was `reworded` or `moved` may
    be on one side too: its other half is the piece of the passage with the same `unit`.
    """

    fate: Fate
    old: Span | None
    new: Span | None
    unit: int | None = None

    def side(self, name: Literal["old", "new"]) -> Span | None:
        return getattr(self, name)


class Place(NamedTuple):
    """A passage where it is read; `left` is where a moved one stood before, and it is only pointed at."""

    number: int
    left: bool


@dataclass(frozen=True)
class Passage:
    """Neighbouring sentences of the old text, by number, and those of the new that tell the same."""

    old: tuple[int, ...]
    new: tuple[int, ...]
    pieces: tuple[Piece, ...]
    moved: bool = False

    def __post_init__(self):
        if not self.old and not self.new:
            raise ValueError("a passage must have sentences on one side at least, got none")
        for piece in self.pieces:
            _check_piece(piece)

    @property
    def kind(self) -> Kind:
        if not self.old or not self.new:
            return "new" if self.new else "gone"
        return "same" if all(piece.fate == "kept" for piece in self.pieces) else "edited"


@dataclass(frozen=True)
class Difference:
    """Two versions of a text, and their passages: those of the new text in its order, and those that are gone
    after what stood before them."""

    old: Document
    new: Document
    passages: tuple[Passage, ...]

    def __post_init__(self):
        for side in ("old", "new"):
            text, count = getattr(self, side).text, len(getattr(self, side))
            if sorted(_numbers(self.passages, side)) != list(range(count)):
                raise ValueError(f"each of the {count} {side} sentences must be in one passage")
            ends = [span[1] for passage in self.passages for p in passage.pieces if (span := p.side(side))]
            if max(ends, default=0) > len(text):
                raise ValueError(f"pieces must lie within the {len(text)} characters of the {side} text")

    @property
    def same(self) -> bool:
        """Whether nothing changed: the same sentences in the same order, whatever the blanks."""
        return all(passage.kind == "same" and not passage.moved for passage in self.passages)

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many passages are of each kind, how many moved, and how many were split or joined."""
        found = Counter[str](passage.kind for passage in self.passages)
        for passage in self.passages:
            found["moved"] += passage.moved
            found["split"] += len(passage.old) == 1 and len(passage.new) > 1
            found["joined"] += len(passage.new) == 1 and len(passage.old) > 1
        return {name: found[name] for name in (*get_args(Kind), "moved", "split", "joined")}

    def __iter__(self) -> Iterator[Passage]:
        return iter(self.passages)

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """The passages in reading order, with a pointer where each of the moved ones stood."""
        leaving: dict[int, list[int]] = {}  # the old sentence before it → moved passages that stood there
        for number, passage in enumerate(self.passages):
            if passage.moved:
                leaving.setdefault(passage.old[0] - 1, []).append(number)
        made: list[Place] = []

        def point_after(sentence: int) -> None:
            for number in leaving.pop(sentence, ()):
                made.append(Place(number, left=True))
                point_after(self.passages[number].old[-1])

        point_after(-1)
        for number, passage in enumerate(self.passages):
            made.append(Place(number, left=False))
            if passage.old and not passage.moved:
                point_after(passage.old[-1])
        return tuple(made)

    def text(self, piece: Piece, side: Literal["old", "new"]) -> str:
        """What a piece is on a side, "" where it has none."""
        span = piece.side(side)
        return getattr(self, side).text[span[0] : span[1]] if span else ""

    def to_dict(self) -> dict[str, Any]:
        """What JSON can hold: both texts with the places of their sentences, and the passages."""
        return {side: _document(getattr(self, side)) for side in ("old", "new")} | {
            "same": self.same,
            "counts": self.counts,
            "passages": [_passage(passage) for passage in self.passages],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Difference":
        """What `to_dict` gave. What follows from the rest (same, counts, kinds) may be left out."""
        old, new = (
            Document(data[side]["text"], tuple(map(_span, data[side]["sentences"])))
            for side in ("old", "new")
        )
        return cls(old, new, tuple(map(_passage_from, data["passages"])))


def _numbers(passages: Sequence[Passage], side: str) -> Iterator[int]:
    for passage in passages:
        yield from getattr(passage, side)


def _check_piece(piece: Piece) -> None:
    sides = (piece.old is not None, piece.new is not None)
    allowed = {"kept": [(True, True)], "added": [(False, True)], "removed": [(True, False)]}
    if piece.fate not in get_args(Fate):
        raise ValueError(f"fate must be one of {', '.join(get_args(Fate))}, got {piece.fate!r}")
    if not any(sides) or sides not in allowed.get(piece.fate, [sides]):
        raise ValueError(f"a piece that is {piece.fate} cannot have old={piece.old} and new={piece.new}")


def _document(document: Document) -> dict[str, Any]:
    return {"text": document.text, "sentences": [list(span) for span in document.spans]}


def _passage(passage: Passage) -> dict[str, Any]:
    return {
        "kind": passage.kind,
        "moved": passage.moved,
        "old": list(passage.old),
        "new": list(passage.new),
        "pieces": [
            {
                name: list(value) if isinstance(value, tuple) else value
                for name, value in piece._asdict().items()
                if value is not None
            }
            for piece in passage.pieces
        ],
    }


def _passage_from(data: dict[str, Any]) -> Passage:
    pieces = tuple(
        Piece(piece["fate"], _maybe_span(piece.get("old")), _maybe_span(piece.get("new")), piece.get("unit"))
        for piece in data["pieces"]
    )
    return Passage(tuple(data["old"]), tuple(data["new"]), pieces, data["moved"])


def _span(span: Sequence[int]) -> Span:
    start, end = span
    return start, end


def _maybe_span(span: Sequence[int] | None) -> Span | None:
    return None if span is None else _span(span)
