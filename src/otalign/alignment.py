"""What an alignment is: the words of two sentences, the links between them, and the words left without one.

`Alignment` holds weighted links, `Gold` the sure and possible links of annotators, `Links` those two levels
where a file gave them without the words. All are frozen, checked, hashable values in plain Python; what can
be derived from the links (nulls, phrases, coverage) is derived.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import Any, Literal, NamedTuple, SupportsIndex, get_args, overload

from otalign.text.words import check_unicode

Level = Literal["sure", "possible"]  # possible links include the sure ones
LEVELS: tuple[Level, ...] = get_args(Level)
Pairs = frozenset[tuple[int, int]]
Span = tuple[int, int]

SHOWN = 12  # links or nulls that a repr shows before it cuts


class Link(NamedTuple):
    """Source word `source` corresponds to target word `target`; both count from 0."""

    source: int
    target: int
    weight: float = 1.0


class Phrase(NamedTuple):
    """Source and target words that links join, directly or through each other."""

    source: tuple[int, ...]
    target: tuple[int, ...]


@dataclass(frozen=True, repr=False)
class Alignment:
    """The links between two sentences, sorted, each pair once: of duplicates the heaviest stays.

    `source_spans` are the words' places [start, end) in the text they came from. `source_null_confidence`
    says of every source word, linked or not, how sure it is that the word has no counterpart.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[Link, ...]
    source_spans: tuple[Span, ...] | None = None
    target_spans: tuple[Span, ...] | None = None
    source_null_confidence: tuple[float, ...] | None = None
    target_null_confidence: tuple[float, ...] | None = None

    def __post_init__(self):
        # A frozen dataclass is filled through object.__setattr__.
        for side in ("source", "target"):
            words = _check_words(side, getattr(self, side))
            object.__setattr__(self, side, words)
            for name, made in (
                (f"{side}_spans", _check_span),
                (f"{side}_null_confidence", _check_confidence),
            ):
                values = getattr(self, name)
                if values is not None:
                    object.__setattr__(self, name, _check_per_word(name, values, made, len(words)))
        object.__setattr__(self, "links", _normalize_links(self.links, self.shape))

    @classmethod
    def from_valid(cls, *values: Any) -> "Alignment":
        """Make an alignment of values that need no check, in the order of the fields.

        The checks take longer than a GPU takes to find the links.
        """
        made = object.__new__(cls)
        made.__dict__.update(zip(cls.__dataclass_fields__, values, strict=True))
        return made

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.source), len(self.target)

    @cached_property
    def pairs(self) -> Pairs:
        return frozenset((i, j) for i, j, _ in self.links)

    @cached_property
    def source_nulls(self) -> tuple[int, ...]:
        linked = {i for i, _, _ in self.links}
        return tuple(i for i in range(len(self.source)) if i not in linked)

    @cached_property
    def target_nulls(self) -> tuple[int, ...]:
        linked = {j for _, j, _ in self.links}
        return tuple(j for j in range(len(self.target)) if j not in linked)

    @property
    def source_coverage(self) -> float:
        """The share of source words that are linked; 1 for an empty sentence, which leaves none out."""
        return _compute_coverage(self.source, self.source_nulls)

    @property
    def target_coverage(self) -> float:
        return _compute_coverage(self.target, self.target_nulls)

    @cached_property
    def phrases(self) -> tuple[Phrase, ...]:
        """The connected components of the links, by their first source word."""
        # Each link joins the groups that it touches, at most one through either word, into one.
        groups: list[tuple[set[int], set[int]]] = []
        for i, j, _ in self.links:
            joined = ({i}, {j})
            apart = []
            for group in groups:
                if i in group[0] or j in group[1]:
                    joined = (joined[0] | group[0], joined[1] | group[1])
                else:
                    apart.append(group)
            groups = [*apart, joined]
        return tuple(sorted(Phrase(tuple(sorted(s)), tuple(sorted(t))) for s, t in groups))

    def pharaoh(self) -> str:
        """The links as `0-0 1-2 …`."""
        return " ".join(f"{i}-{j}" for i, j, _ in self.links)

    def transpose(self) -> "Alignment":
        """The same alignment seen from the other side."""
        return Alignment(
            self.target,
            self.source,
            tuple(Link(j, i, weight) for i, j, weight in self.links),
            self.target_spans,
            self.source_spans,
            self.target_null_confidence,
            self.source_null_confidence,
        )

    def to_dict(self) -> dict[str, Any]:
        """What JSON can hold: words, links as [i, j, weight], nulls; spans and confidences if known."""
        known = {name: getattr(self, name) for name in _OPTIONAL if getattr(self, name) is not None}
        return {
            "source": list(self.source),
            "target": list(self.target),
            "links": [list(link) for link in self.links],
            "source_nulls": list(self.source_nulls),
            "target_nulls": list(self.target_nulls),
        } | {name: [list(v) if isinstance(v, tuple) else v for v in values] for name, values in known.items()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Alignment":
        """What `to_dict` wrote. The nulls may be left out, but must not contradict the links."""
        links = tuple(Link(*link) for link in data["links"])
        made = cls(data["source"], data["target"], links, **{k: data[k] for k in _OPTIONAL if k in data})
        for name in ("source_nulls", "target_nulls"):
            if name in data and tuple(data[name]) != getattr(made, name):
                raise ValueError(
                    f"{name} must be the words without a link, {list(getattr(made, name))}, "
                    f"got {data[name]}; leave {name} out to have it derived"
                )
        return made

    def plot(self, kind: Literal["arcs", "matrix"] = "arcs", *, ax: Any = None, width: float = 7.0) -> Any:
        """A matplotlib figure, to be saved or shown: two rows with a curve for each link, or a matrix.

        It is drawn into `ax` if one is given. Arcs wider than `width` inches stand in two columns.
        """
        from otalign.render.picture import figure

        return figure(self, kind, ax=ax, width=width)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from otalign.render.svg import svg

        return svg(self)

    def __repr__(self) -> str:
        n, m = self.shape
        parts = [
            _join_shortened(f"{self.source[i]}–{self.target[j]}" for i, j, _ in self.links) or "no links"
        ]
        if self.source_nulls:
            parts.append("source nulls: " + _join_shortened(self.source[i] for i in self.source_nulls))
        if self.target_nulls:
            parts.append("target nulls: " + _join_shortened(self.target[j] for j in self.target_nulls))
        return f"Alignment({n}×{m}: {'; '.join(parts)})"


class Alignments(tuple[Alignment, ...]):
    """Alignments that a notebook shows one below the other: `Alignments(aligner.align_many(pairs))`."""

    @overload
    def __getitem__(self, which: SupportsIndex) -> Alignment: ...
    @overload
    def __getitem__(self, which: slice) -> "Alignments": ...
    def __getitem__(self, which: Any) -> Any:
        found = super().__getitem__(which)
        return Alignments(found) if isinstance(which, slice) else found

    def _repr_html_(self) -> str:
        from otalign.render.notebook import gallery

        return gallery(self)


_OPTIONAL = ("source_spans", "target_spans", "source_null_confidence", "target_null_confidence")


@dataclass(frozen=True)
class WordlessLinks:
    """Sure and possible links whose words are elsewhere. A link given as both is sure."""

    sure: Pairs
    possible: Pairs = frozenset()

    def __post_init__(self):
        if not self.sure.isdisjoint(self.possible):
            object.__setattr__(self, "possible", self.possible - self.sure)


@dataclass(frozen=True)
class Gold:
    """What annotators linked, surely or possibly. A link given as both is sure."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: Pairs
    possible: Pairs = frozenset()

    def __post_init__(self):
        object.__setattr__(self, "source", _check_words("source", self.source))
        object.__setattr__(self, "target", _check_words("target", self.target))
        sure, possible = (
            frozenset((index(i), index(j)) for i, j in pairs) for pairs in (self.sure, self.possible)
        )
        _check_range(sure | possible, self.shape)
        object.__setattr__(self, "sure", sure)
        object.__setattr__(self, "possible", possible - sure)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.source), len(self.target)

    def pairs(self, level: Level) -> Pairs:
        """Return the links of a level; possible links include the sure ones."""
        if level not in get_args(Level):
            raise ValueError(f"level must be 'sure' or 'possible', got {level!r}")
        return self.sure if level == "sure" else self.sure | self.possible

    def alignment(self, level: Level) -> Alignment:
        return Alignment(self.source, self.target, tuple(Link(*pair) for pair in self.pairs(level)))

    def transpose(self) -> "Gold":
        """The same links seen from the other side."""
        sure, possible = (frozenset((j, i) for i, j in pairs) for pairs in (self.sure, self.possible))
        return Gold(self.target, self.source, sure, possible)

    def to_dict(self) -> dict[str, Any]:
        """What JSON can hold: words, and the links of each level as [i, j]."""
        return {
            "source": list(self.source),
            "target": list(self.target),
            "sure": [list(pair) for pair in sorted(self.sure)],
            "possible": [list(pair) for pair in sorted(self.possible)],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Gold":
        sure, possible = (frozenset((i, j) for i, j in data[name]) for name in ("sure", "possible"))
        return cls(data["source"], data["target"], sure, possible)


def _check_words(name: str, words: Sequence[str]) -> tuple[str, ...]:
    if isinstance(words, str) or not all(isinstance(word, str) for word in words):
        raise TypeError(f"{name} must be words, a sequence of str, got {words!r}; split a sentence at blanks")
    for word in words:
        check_unicode(word)
    return tuple(words)


def _check_per_word(name: str, values: Iterable, made, count: int) -> tuple:
    values = tuple(made(value) for value in values)
    if len(values) != count:
        raise ValueError(f"{name} must have one entry for each of the {count} words, got {len(values)}")
    return values


def _check_span(span: Sequence[int]) -> Span:
    start, end = map(index, span)
    if not 0 <= start <= end:
        raise ValueError(f"a span must be (start, end) with 0 ≤ start ≤ end, got {(start, end)}")
    return start, end


def _check_confidence(value: float) -> float:
    if not 0 <= value <= 1:
        raise ValueError(f"the confidence of a null must be between 0 and 1, got {value}")
    return float(value)


def _normalize_links(links: Iterable[Sequence[float]], shape: tuple[int, int]) -> tuple[Link, ...]:
    """The links as plain numbers, sorted, each pair once with its largest weight."""
    # After sorting, the heaviest of equal pairs comes last, and the last one stays in a dict.
    heaviest = {link[:2]: link for link in sorted(_link(*link) for link in links)}
    _check_range(heaviest, shape)
    for i, j, weight in heaviest.values():
        if not math.isfinite(weight):
            raise ValueError(f"the weight of a link must be finite, got {weight} for {i}-{j}")
    return tuple(heaviest.values())


def _link(source: Any, target: Any, weight: Any = 1.0) -> Link:
    return Link(index(source), index(target), float(weight))


def _check_range(pairs: Iterable[tuple[int, int]], shape: tuple[int, int]) -> None:
    n, m = shape
    for i, j in pairs:
        if not (0 <= i < n and 0 <= j < m):
            raise ValueError(f"link {i}-{j} (from 0) is out of range for {n} source and {m} target words")


def _compute_coverage(words: Sequence[str], nulls: Sequence[int]) -> float:
    return 1 - len(nulls) / len(words) if words else 1.0


def _join_shortened(words: Iterable[str]) -> str:
    words = list(words)
    return ", ".join(words[:SHOWN]) + (f", … {len(words) - SHOWN} more" if len(words) > SHOWN else "")
