"""The difference between two versions of a text: corresponding passages, and the changes within them.

A `Difference` contains both texts with their sentences, and passages in reading order. A `Passage` consists
of sentences of the old text and the corresponding ones of the new, in pieces; either side may be empty. A
`Piece` is a group of words with the same fate. All are frozen, validated, plain values. Spans are character
offsets [start, end) in the texts, so that spacing is never lost. Every word of either text is in exactly one
piece.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

from otalign.diff.wording import Flag
from otalign.text.sentences import Document, Span

Fate = Literal["kept", "minor", "reworded", "moved", "added", "removed"]
Kind = Literal["same", "minor", "edited", "split", "joined", "new", "gone"]
Trait = Literal["moved", "number", "negation"]
KINDS: tuple[Kind, ...] = get_args(Kind)
TRAITS: tuple[Trait, ...] = get_args(Trait)


class Piece(NamedTuple):
    """A group of words of the old text, the new text or both, with their fate.

    A `kept` piece has both sides, an `added` or `removed` one has one. In a `minor` piece, case or
    punctuation changed alone; punctuation may have one side. A `reworded` or `moved` piece may have one side
    too: its counterpart is then the piece of the passage with the same `unit`.

    Attributes:
        fate: What happened to the words.
        old: Span in the old text.
        new: Span in the new text.
        unit: Number that the halves of a reworded or moved phrase share.
        flag: "number" if a number changed, "negation" if a negation was added or removed.

    Example:
        >>> piece = Piece("added", None, (10, 15))
        >>> piece.side("new")
        (10, 15)
    """

    fate: Fate
    old: Span | None
    new: Span | None
    unit: int | None = None
    flag: Flag | None = None

    def side(self, name: Literal["old", "new"]) -> Span | None:
        """Return the span on a side.

        Args:
            name: "old" or "new".
        """
        return getattr(self, name)


class Place(NamedTuple):
    """A position of a passage in reading order; `left` marks the former position of a moved passage."""

    number: int
    left: bool


@dataclass(frozen=True)
class Passage:
    """Neighbouring sentences of the old text and the corresponding ones of the new text.

    Attributes:
        old: Indices of the old sentences.
        new: Indices of the new sentences.
        pieces: Their words, in reading order.
        moved: Whether they changed places with others.

    Raises:
        ValueError: If both sides are empty, or a piece lacks a side that it must have.

    Example:
        >>> Passage((0,), (0, 1), (Piece("kept", (0, 9), (0, 9)),)).kind
        'split'
    """

    old: tuple[int, ...]
    new: tuple[int, ...]
    pieces: tuple[Piece, ...]
    moved: bool = False

    def __post_init__(self) -> None:
        if not self.old and not self.new:
            raise ValueError("a passage must have sentences on one side at least, got none")
        for piece in self.pieces:
            _check_piece(piece)

    @property
    def kind(self) -> Kind:
        """Kind of change; `minor` if only case or punctuation changed."""
        if not self.old or not self.new:
            return "new" if self.new else "gone"
        if len(self.old) != len(self.new):
            return "split" if len(self.old) == 1 else "joined"
        fates = {piece.fate for piece in self.pieces}
        return "same" if fates <= {"kept"} else "minor" if fates <= {"kept", "minor"} else "edited"

    @property
    def traits(self) -> tuple[Trait, ...]:
        """Further properties beside the kind: moved, and changes of the meaning."""
        found = {piece.flag for piece in self.pieces} | ({"moved"} if self.moved else set())
        return tuple(trait for trait in TRAITS if trait in found)

    @property
    def changed(self) -> bool:
        """True if anything changed but white space."""
        return self.kind != "same" or self.moved


@dataclass(frozen=True)
class Difference:
    """Two versions of a text with their passages, in reading order.

    Passages of the new text are in its order; removed ones follow the passage that preceded them.

    Attributes:
        old: The old text in sentences.
        new: The new text in sentences.
        passages: Passages; every sentence is in exactly one.

    Raises:
        ValueError: If a sentence is in none or several of the passages, or a piece is outside of its text.

    Example:
        >>> from otalign.text.sentences import document
        >>> passage = Passage((0,), (), (Piece("removed", (0, 10), None),))
        >>> found = Difference(document("It rained."), document(""), (passage,))
        >>> found.counts["gone"], found.text(passage.pieces[0], "old")
        (1, 'It rained.')
    """

    old: Document
    new: Document
    passages: tuple[Passage, ...]

    def __post_init__(self) -> None:
        for side in ("old", "new"):
            text, count = getattr(self, side).text, len(getattr(self, side))
            if sorted(_list_sentences(self.passages, side)) != list(range(count)):
                raise ValueError(f"each of the {count} {side} sentences must be in one passage")
            ends = [span[1] for passage in self.passages for p in passage.pieces if (span := p.side(side))]
            if max(ends, default=0) > len(text):
                raise ValueError(f"pieces must lie within the {len(text)} characters of the {side} text")

    @property
    def same(self) -> bool:
        """True if nothing changed but white space."""
        return not any(passage.changed for passage in self.passages)

    @cached_property
    def counts(self) -> dict[str, int]:
        """Number of passages of each kind, and of those that moved or have a flag.

        Each passage has one kind. A passage that was split has one old sentence and two or more new ones, a
        joined one the reverse; any other has one sentence on each side that it has.
        """
        kinds = Counter(passage.kind for passage in self.passages)
        traits = Counter(trait for passage in self.passages for trait in passage.traits)
        return {kind: kinds[kind] for kind in KINDS} | {trait: traits[trait] for trait in TRAITS}

    def __iter__(self) -> Iterator[Passage]:
        return iter(self.passages)

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Passages in reading order, with a pointer at the former position of each moved one."""
        leaving: dict[int, list[int]] = {}  # preceding old sentence → moved passages
        for number, passage in enumerate(self.passages):
            if passage.moved:
                leaving.setdefault(passage.old[0] - 1, []).append(number)
        places: list[Place] = []

        def point_after(sentence: int) -> None:
            for number in leaving.pop(sentence, ()):
                places.append(Place(number, left=True))
                point_after(self.passages[number].old[-1])

        point_after(-1)
        for number, passage in enumerate(self.passages):
            places.append(Place(number, left=False))
            if passage.old and not passage.moved:
                point_after(passage.old[-1])
        return tuple(places)

    def text(self, piece: Piece, side: Literal["old", "new"]) -> str:
        """Return the text of a piece on a side; "" if it has none.

        Args:
            piece: A piece of this difference.
            side: "old" or "new".
        """
        span = piece.side(side)
        return getattr(self, side).text[span[0] : span[1]] if span else ""

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary for JSON: both texts with the offsets of their sentences, and the passages."""
        return {side: _document_to_dict(getattr(self, side)) for side in ("old", "new")} | {
            "same": self.same,
            "counts": self.counts,
            "passages": [_passage_to_dict(passage) for passage in self.passages],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Difference":
        """Return the difference that `to_dict` wrote.

        Args:
            data: The dictionary; `same`, `counts` and `kind` may be missing.
        """
        old, new = (
            Document(data[side]["text"], tuple(map(_to_span, data[side]["sentences"])))
            for side in ("old", "new")
        )
        return cls(old, new, tuple(map(_passage_from_dict, data["passages"])))


def _list_sentences(passages: Sequence[Passage], side: str) -> Iterator[int]:
    for passage in passages:
        yield from getattr(passage, side)


def _check_piece(piece: Piece) -> None:
    sides = (piece.old is not None, piece.new is not None)
    allowed = {"kept": [(True, True)], "added": [(False, True)], "removed": [(True, False)]}
    if piece.fate not in get_args(Fate):
        raise ValueError(f"fate must be one of {', '.join(get_args(Fate))}, got {piece.fate!r}")
    if not any(sides) or sides not in allowed.get(piece.fate, [sides]):
        raise ValueError(f"a piece that is {piece.fate} cannot have old={piece.old} and new={piece.new}")


def _document_to_dict(document: Document) -> dict[str, Any]:
    return {"text": document.text, "sentences": [list(span) for span in document.spans]}


def _passage_to_dict(passage: Passage) -> dict[str, Any]:
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


def _passage_from_dict(data: dict[str, Any]) -> Passage:
    pieces = tuple(
        Piece(
            piece["fate"],
            _to_optional_span(piece.get("old")),
            _to_optional_span(piece.get("new")),
            piece.get("unit"),
            piece.get("flag"),
        )
        for piece in data["pieces"]
    )
    return Passage(tuple(data["old"]), tuple(data["new"]), pieces, data["moved"])


def _to_span(span: Sequence[int]) -> Span:
    start, end = span
    return start, end


def _to_optional_span(span: Sequence[int] | None) -> Span | None:
    return None if span is None else _to_span(span)
