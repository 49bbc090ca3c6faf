"""Gold alignments: the sure and possible links of annotators."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from otalign.alignment import LEVELS, Alignment, Level, Link, Pairs, require_fields, select_further_fields
from otalign.validation import check_index_pair, check_list, check_range, check_words


@dataclass(frozen=True)
class Gold:
    """The links of annotators between two sentences. A link that is both sure and possible is sure.

    Args:
        source: Words of the source sentence.
        target: Words of the target sentence.
        sure: Pairs of word indices, from 0, that are certainly linked.
        possible: Further pairs that may be linked.
        fields: Further fields of the record that it was read from; they do not count when gold is compared.

    Raises:
        TypeError: If the words are not a sequence of str.
        ValueError: If a link is out of range.

    Example:
        >>> from otalign import Gold
        >>> gold = Gold(("a", "used", "car"), ("a", "car"), frozenset({(0, 0), (2, 1)}), frozenset({(1, 1)}))
        >>> sorted(gold.pairs("possible"))
        [(0, 0), (1, 1), (2, 1)]
        >>> gold.alignment("sure")
        Alignment(3×2: a–a, car–car; source nulls: used)
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: Pairs
    possible: Pairs = frozenset()
    fields: Mapping[str, Any] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", check_words("source", self.source))
        object.__setattr__(self, "target", check_words("target", self.target))
        sure, possible = (frozenset(map(check_index_pair, pairs)) for pairs in (self.sure, self.possible))
        check_range(sure | possible, self.shape)
        object.__setattr__(self, "sure", sure)
        object.__setattr__(self, "possible", possible - sure)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of source words and of target words."""
        return len(self.source), len(self.target)

    def pairs(self, level: Level) -> Pairs:
        """Return the links of a level; possible links include the sure ones.

        Args:
            level: `sure` or `possible`.

        Raises:
            ValueError: If the level is neither `sure` nor `possible`.
        """
        if level not in LEVELS:
            raise ValueError(f"level must be 'sure' or 'possible', got {level!r}")
        return self.sure if level == "sure" else self.sure | self.possible

    def alignment(self, level: Level) -> Alignment:
        """Return the links of a level as an alignment.

        Args:
            level: `sure` or `possible`.

        Raises:
            ValueError: If the level is neither of them.
        """
        links = tuple(Link(*pair) for pair in self.pairs(level))
        return Alignment(self.source, self.target, links, fields=self.fields)

    def transpose(self) -> "Gold":
        """Return the links with source and target exchanged."""
        sure, possible = (frozenset((j, i) for i, j in pairs) for pairs in (self.sure, self.possible))
        return Gold(self.target, self.source, sure, possible)

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary for JSON: words, and the links of each level as [i, j]."""
        return {
            "source": list(self.source),
            "target": list(self.target),
            "sure": [list(pair) for pair in sorted(self.sure)],
            "possible": [list(pair) for pair in sorted(self.possible)],
        } | select_further_fields(self.fields or {})

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Gold":
        """Return the gold that `to_dict` wrote.

        Args:
            data: The dictionary.

        Raises:
            ValueError: If it lacks words or links.
        """
        require_fields(data, "source", "target", *LEVELS)
        sure, possible = (
            frozenset(map(check_index_pair, check_list(name, data[name]))) for name in ("sure", "possible")
        )
        return cls(data["source"], data["target"], sure, possible, select_further_fields(data) or None)


@dataclass(frozen=True)
class WordlessLinks:
    """Sure and possible links from a file without words.

    Attributes:
        sure: Sure links.
        possible: Possible links; one that is sure too counts as sure.

    Example:
        >>> from otalign.io import WordlessLinks
        >>> WordlessLinks(frozenset({(0, 0)}), frozenset({(0, 0), (1, 2)})).possible
        frozenset({(1, 2)})
    """

    sure: Pairs
    possible: Pairs = frozenset()

    def __post_init__(self) -> None:
        if not self.sure.isdisjoint(self.possible):
            object.__setattr__(self, "possible", self.possible - self.sure)
