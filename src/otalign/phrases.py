"""Phrases: the words of two sentences that are linked, directly or through each other.

A phrase is a connected component of the links. Annotators mostly link phrases completely, each word of
the one with each word of the other, so that a component is the phrase they had in mind. It is not split where
its words are not adjacent (2% to 25% of the phrases in gold corpora), so that each word is in at most one
phrase. On dev sets, splitting there raises precision and lowers recall.
"""

from collections.abc import Collection, Iterable
from itertools import product
from typing import Any, Literal, NamedTuple

PhraseType = Literal["1-1", "1-n", "n-1", "n-m"]

DIGITS = 4  # digits of a weight, as for links


class Phrase(NamedTuple):
    """Source and target words that are linked, directly or through each other."""

    source: tuple[int, ...]
    target: tuple[int, ...]


class PhraseLink(NamedTuple):
    """A link between two phrases: their words, a weight and a type.

    Attributes:
        source: Indices of the source words, from 0, ascending.
        target: Indices of the target words.
        weight: Mean of the weights of the links between them, to four digits.

    Example:
        >>> from otalign import Alignment, Link
        >>> links = (Link(0, 0, 0.75), Link(1, 0, 0.25))
        >>> [phrase] = Alignment(("passed", "away"), ("died",), links).phrase_links
        >>> phrase, phrase.type
        (PhraseLink(source=(0, 1), target=(0,), weight=0.5), 'n-1')
    """

    source: tuple[int, ...]
    target: tuple[int, ...]
    weight: float = 1.0

    @property
    def type(self) -> PhraseType:
        """Number of words on each side, one or several: `1-1`, `1-n`, `n-1` or `n-m`."""
        if len(self.source) > 1:
            return "n-m" if len(self.target) > 1 else "n-1"
        return "1-n" if len(self.target) > 1 else "1-1"

    @property
    def pairs(self) -> frozenset[tuple[int, int]]:
        """All pairs of a source and a target word of the phrase, linked or not."""
        return frozenset(product(self.source, self.target))

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary for JSON: the words of both sides, the weight and the type."""
        return {
            "source": list(self.source),
            "target": list(self.target),
            "weight": self.weight,
            "type": self.type,
        }

    def __str__(self) -> str:
        """Return the words of both sides as `1,2:1`, which cannot be mistaken for a link such as `1-1`."""
        return f"{','.join(map(str, self.source))}:{','.join(map(str, self.target))}"


def find_phrase_links(links: Iterable[tuple[int, int, float]]) -> tuple[PhraseLink, ...]:
    """Find the connected components of links.

    Args:
        links: Links as (source, target, weight), each pair of words once.

    Returns:
        Links between phrases, by their first source word.
    """
    # Each word of a side points to the links of its component, one list shared by all of its words.
    sources: dict[int, list[tuple[int, int, float]]] = {}
    targets: dict[int, list[tuple[int, int, float]]] = {}
    for link in links:
        i, j, _ = link
        one, other = sources.get(i), targets.get(j)
        if one is not None and other is not None and one is not other:
            one, other = sorted((one, other), key=len, reverse=True)
            one += other
            for k, m, _ in other:
                sources[k] = targets[m] = one
        group = one if one is not None else other if other is not None else []
        group.append(link)
        sources[i] = targets[j] = group
    components = {id(group): group for group in sources.values()}
    return tuple(sorted(map(_make_phrase_link, components.values())))


def _make_phrase_link(links: Collection[tuple[int, int, float]]) -> PhraseLink:
    source, target, weights = zip(*links, strict=True)
    # Rounding must not lead out of the range of the weights.
    mean = round(sum(weights) / len(weights), DIGITS)
    weight = min(max(mean, min(weights)), max(weights))
    return PhraseLink(tuple(sorted(set(source))), tuple(sorted(set(target))), weight)
