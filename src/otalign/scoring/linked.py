"""Sentence pairs with their links as arrays, from which alignments or the lines of a file are made."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from otalign.alignment import Alignment
from otalign.scoring.extraction import LinkArrays, PairLinks
from otalign.text.words import Pair


class LinkedPairs(NamedTuple):
    """Consecutive pairs, and their links.

    Attributes:
        pairs: Source and target of each pair.
        links: Their links.
    """

    pairs: Iterable[Pair]
    links: LinkArrays

    def make_alignments(self) -> Iterator[Alignment]:
        """Yield the alignments of the pairs."""
        return map(make_alignment, self.pairs, self.links)


def make_alignment(pair: Pair, found: PairLinks) -> Alignment:
    """Make the alignment of a pair from its links."""
    source, target = pair
    links, nulls = found
    return Alignment.from_valid(source.words, target.words, links, source.spans, target.spans, *nulls)
