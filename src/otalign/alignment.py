"""Alignments: the words of two sentences, the links between them, and the words without a link.

All classes are frozen, validated, hashable values in plain Python. What follows from the links (nulls,
phrases, coverage) is computed from them.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import index
from typing import Any, Literal, NamedTuple, SupportsIndex, get_args, overload

from otalign.phrases import Phrase, PhraseLink, find_phrase_links
from otalign.text.words import Span
from otalign.validation import (
    check_confidence,
    check_list,
    check_per_word,
    check_range,
    check_span,
    check_words,
)

Level = Literal["sure", "possible"]  # possible links include the sure ones
LEVELS: tuple[Level, ...] = get_args(Level)
Pairs = frozenset[tuple[int, int]]

MAX_SHOWN = 12  # links or nulls in a repr


class Link(NamedTuple):
    """A link between two words.

    Attributes:
        source: Index of the source word, from 0.
        target: Index of the target word, from 0.
        weight: Strength of the link.

    Example:
        >>> Link(1, 2)
        Link(source=1, target=2, weight=1.0)
    """

    source: int
    target: int
    weight: float = 1.0


@dataclass(frozen=True, repr=False)
class Alignment:
    """The links between two sentences.

    Args:
        source: Words of the source sentence.
        target: Words of the target sentence.
        links: Links between them. They are sorted; of duplicates the one with the largest weight is kept.
        source_spans: Character offsets [start, end) of the source words in their text.
        target_spans: Character offsets of the target words.
        source_null_confidence: Confidence, from 0 to 1, that a source word has no counterpart, for every
            source word, linked or not.
        target_null_confidence: The same for the target words.
        fields: Further fields of the record that it was read from, such as an id; JSON and Parquet keep them.
            They do not count when alignments are compared.

    Raises:
        TypeError: If the words are not a sequence of str.
        ValueError: If a link is out of range or not finite, or an entry for a word is missing or not valid.

    Example:
        >>> from otalign import Alignment, Link
        >>> alignment = Alignment(("a", "used", "car"), ("a", "car"), (Link(0, 0), Link(2, 1)))
        >>> alignment
        Alignment(3×2: a–a, car–car; source nulls: used)
        >>> alignment.source_nulls, alignment.pharaoh()
        ((1,), '0-0 2-1')
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[Link, ...]
    source_spans: tuple[Span, ...] | None = None
    target_spans: tuple[Span, ...] | None = None
    source_null_confidence: tuple[float, ...] | None = None
    target_null_confidence: tuple[float, ...] | None = None
    fields: Mapping[str, Any] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        # A frozen dataclass is filled through object.__setattr__.
        for side in ("source", "target"):
            words = check_words(side, getattr(self, side))
            object.__setattr__(self, side, words)
            for name, check in (
                (f"{side}_spans", check_span),
                (f"{side}_null_confidence", check_confidence),
            ):
                values = getattr(self, name)
                if values is not None:
                    object.__setattr__(self, name, check_per_word(name, values, check, len(words)))
        object.__setattr__(self, "links", _normalize_links(self.links, self.shape))

    @classmethod
    def from_valid(cls, *values: Any) -> "Alignment":
        """Return an alignment of values that are known to be valid, in the order of the fields.

        Validation would take longer than a GPU takes to find the links.

        Args:
            *values: A value for each field but the last, `fields`.
        """
        alignment = object.__new__(cls)
        alignment.__dict__.update(zip(_COMPUTED, values, strict=True))
        return alignment

    def with_fields(self, fields: Mapping[str, Any] | None) -> "Alignment":
        """Return the alignment with further fields.

        Args:
            fields: The fields by name, as JSON-serializable values. Names that `to_dict` uses are ignored.
        """
        if not fields:
            return self
        alignment = object.__new__(Alignment)
        alignment.__dict__.update(self.__dict__, fields=fields)
        return alignment

    @property
    def shape(self) -> tuple[int, int]:
        """Number of source words and of target words."""
        return len(self.source), len(self.target)

    @cached_property
    def pairs(self) -> Pairs:
        """Linked pairs of word indices, without weights."""
        return frozenset((i, j) for i, j, _ in self.links)

    @cached_property
    def source_nulls(self) -> tuple[int, ...]:
        """Indices of the source words without a link."""
        linked = {i for i, _, _ in self.links}
        return tuple(i for i in range(len(self.source)) if i not in linked)

    @cached_property
    def target_nulls(self) -> tuple[int, ...]:
        """Indices of the target words without a link."""
        linked = {j for _, j, _ in self.links}
        return tuple(j for j in range(len(self.target)) if j not in linked)

    @property
    def source_coverage(self) -> float:
        """Share of source words that are linked; 1 for an empty sentence."""
        return _compute_coverage(self.source, self.source_nulls)

    @property
    def target_coverage(self) -> float:
        """Share of target words that are linked; 1 for an empty sentence."""
        return _compute_coverage(self.target, self.target_nulls)

    @cached_property
    def phrases(self) -> tuple[Phrase, ...]:
        """Connected components of the links, by their first source word."""
        return tuple(Phrase(*link[:2]) for link in self.phrase_links)

    @cached_property
    def phrase_links(self) -> tuple[PhraseLink, ...]:
        """The phrases, each with a weight and a type: `1-1`, `1-n`, `n-1` or `n-m`."""
        return find_phrase_links(self.links)

    def pharaoh(self) -> str:
        """Return the links in Pharaoh format: `0-0 1-2 …`."""
        return " ".join(f"{i}-{j}" for i, j, _ in self.links)

    def transpose(self) -> "Alignment":
        """Return the alignment with source and target exchanged."""
        return Alignment(
            self.target,
            self.source,
            tuple(Link(j, i, weight) for i, j, weight in self.links),
            self.target_spans,
            self.source_spans,
            self.target_null_confidence,
            self.source_null_confidence,
        )

    def to_dict(self, *, phrases: bool = False) -> dict[str, Any]:
        """Return a dictionary for JSON: words, links as [i, j, weight], nulls, and all other known fields.

        Args:
            phrases: Whether to add `phrase_links`, each with its words, weight and type. They are always
                included if the record that the alignment was read from had them.
        """
        optional = {name: values for name in _OPTIONAL if (values := getattr(self, name)) is not None}
        known = {
            "source": list(self.source),
            "target": list(self.target),
            "links": [list(link) for link in self.links],
            "source_nulls": list(self.source_nulls),
            "target_nulls": list(self.target_nulls),
        } | {
            name: [list(v) if isinstance(v, tuple) else v for v in values]
            for name, values in optional.items()
        }
        further = select_further_fields(self.fields or {})
        if phrases or "phrase_links" in further:
            further["phrase_links"] = [link.to_dict() for link in self.phrase_links]
        return known | further

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Alignment":
        """Return the alignment that `to_dict` wrote.

        Args:
            data: The dictionary; nulls and phrase links, which follow from the links, may be left out.
                Keys that `to_dict` does not write become `fields`.

        Raises:
            ValueError: If it lacks words or links, or has nulls or phrase links that contradict the links.
        """
        require_fields(data, "source", "target", "links")
        links = tuple(map(_to_link, check_list("links", data["links"])))
        optional: dict[str, Any] = {
            name: check_list(name, data[name]) for name in _OPTIONAL if data.get(name) is not None
        }
        fields = select_further_fields(data) or None
        alignment = cls(data["source"], data["target"], links, **optional, fields=fields)
        for name in ("source_nulls", "target_nulls"):
            if name in data and tuple(data[name]) != getattr(alignment, name):
                raise ValueError(
                    f"{name} must be the words without a link, {list(getattr(alignment, name))}, "
                    f"got {data[name]}; leave {name} out to have it derived"
                )
        if "phrase_links" in data:
            expected = [{"source": list(i), "target": list(j)} for i, j in alignment.phrases]
            if not _contains_fields(data["phrase_links"], expected):
                raise ValueError(
                    "phrase_links must be the connected components of the links, "
                    f"{' '.join(map(str, alignment.phrase_links))}; leave phrase_links out to have it derived"
                )
        return alignment

    def plot(self, kind: Literal["arcs", "matrix"] = "arcs", *, ax: Any = None, width: float = 7.0) -> Any:
        """Draw the alignment with matplotlib.

        Args:
            kind: `arcs` draws lines of two rows of words with curves between them; `matrix` a matrix.
            ax: Axes to draw into; None makes a new figure.
            width: Width in inches, at which arcs break into lines.

        Returns:
            The matplotlib figure, to be saved or shown.
        """
        from otalign.render.picture import figure

        return figure(self, kind, ax=ax, width=width)

    def _repr_html_(self) -> str:
        """Return the drawing that a notebook shows."""
        from otalign.render.svg import svg

        return svg(self)

    def __repr__(self) -> str:
        n, m = self.shape
        parts = [_abbreviate(f"{self.source[i]}–{self.target[j]}" for i, j, _ in self.links) or "no links"]
        if self.source_nulls:
            parts.append("source nulls: " + _abbreviate(self.source[i] for i in self.source_nulls))
        if self.target_nulls:
            parts.append("target nulls: " + _abbreviate(self.target[j] for j in self.target_nulls))
        return f"Alignment({n}×{m}: {'; '.join(parts)})"


class Alignments(tuple[Alignment, ...]):
    """A tuple of alignments that a notebook shows one below the other.

    Args:
        iterable: The alignments.

    Example:
        >>> from otalign import Alignment, Alignments, Link
        >>> Alignments([Alignment(("a",), ("a",), (Link(0, 0),))])
        (Alignment(1×1: a–a),)
    """

    @overload
    def __getitem__(self, key: SupportsIndex) -> Alignment: ...
    @overload
    def __getitem__(self, key: slice) -> "Alignments": ...
    def __getitem__(self, key: Any) -> Any:
        item = super().__getitem__(key)
        return Alignments(item) if isinstance(key, slice) else item

    def _repr_html_(self) -> str:
        from otalign.render.notebook import gallery

        return gallery(self)


_OPTIONAL = ("source_spans", "target_spans", "source_null_confidence", "target_null_confidence")
_COMPUTED = ("source", "target", "links", *_OPTIONAL)
_KNOWN = frozenset((*_COMPUTED, "source_nulls", "target_nulls", *LEVELS))


def _contains_fields(items: Any, expected: list[dict[str, Any]]) -> bool:
    """Return whether items are dictionaries with at least the expected fields."""
    if not isinstance(items, list) or len(items) != len(expected):
        return False
    return all(
        isinstance(item, dict) and item | fields == item for item, fields in zip(items, expected, strict=True)
    )


def require_fields(data: Mapping[str, Any], *names: str) -> None:
    """Raise a `ValueError` if a dictionary lacks one of these fields."""
    for name in names:
        if name not in data:
            raise ValueError(f"no field {name!r}; the required fields are {', '.join(names)}")


def select_further_fields(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a dictionary holds besides the words and links of an alignment or of gold.

    Args:
        data: The dictionary.
    """
    return {name: value for name, value in data.items() if name not in _KNOWN}


def _normalize_links(links: Iterable[Sequence[float]], shape: tuple[int, int]) -> tuple[Link, ...]:
    """Return the links as plain numbers, sorted, each pair once with its largest weight."""
    # After sorting, the largest weight of a pair comes last, and a dict keeps the last value.
    best = {link[:2]: link for link in sorted(map(_to_link, links))}
    check_range(best, shape)
    for i, j, weight in best.values():
        if not math.isfinite(weight):
            raise ValueError(f"the weight of a link must be finite, got {weight} for {i}-{j}")
    return tuple(best.values())


def _to_link(link: Sequence[Any]) -> Link:
    try:
        source, target, weight = link if len(link) == 3 else (*link, 1.0)
        return Link(index(source), index(target), float(weight))
    except (TypeError, ValueError):
        raise TypeError(
            f"a link must be two integers, source and target word, and perhaps a weight, got {link!r}"
        ) from None


def _compute_coverage(words: Sequence[str], nulls: Sequence[int]) -> float:
    return 1 - len(nulls) / len(words) if words else 1.0


def _abbreviate(words: Iterable[str]) -> str:
    words = list(words)
    more = f", … {len(words) - MAX_SHOWN} more" if len(words) > MAX_SHOWN else ""
    return ", ".join(words[:MAX_SHOWN]) + more
