"""Symmetrisation of two directional alignments (Och and Ney 2003; Koehn, Och and Marcu 2003).

The intersection has high precision, the union high recall. Between them, *grow-diag* starts from the
intersection and adds links of the union that are adjacent to a link, at a side or corner, and link a word
without a link. *final* then adds links anywhere: of a word without a link, or, *final-and*, of two such.

An added link can prevent a later one, so order matters: candidates are tried by source word, then by target
word, an added link counts at once, and the final step tries forward links before reverse ones.
"""

from collections.abc import Collection, Iterable
from typing import Literal, get_args

from otalign.alignment import Pairs
from otalign.validation import check_choice

Symmetrisation = Literal["intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"]

NEIGHBOURS = tuple((di, dj) for di in (-1, 0, 1) for dj in (-1, 0, 1) if di or dj)


def symmetrise(
    forward: Collection[tuple[int, int]],
    reverse: Collection[tuple[int, int]],
    how: Symmetrisation = "grow-diag-final-and",
) -> Pairs:
    """Combine the links of two directions.

    Args:
        forward: Links (source, target) of one direction.
        reverse: Links (source, target) of the other.
        how: Method.

    Returns:
        The combined links.

    Raises:
        ValueError: If the method is unknown.

    Example:
        >>> from otalign.baselines import symmetrise
        >>> sorted(symmetrise({(0, 0), (1, 1)}, {(0, 0), (1, 2)}, "intersection"))
        [(0, 0)]
    """
    check_choice("how", how, get_args(Symmetrisation))
    directions = frozenset(forward), frozenset(reverse)
    union, intersection = frozenset.union(*directions), frozenset.intersection(*directions)
    if how == "intersection":
        return intersection
    if how == "union":
        return union
    links = _Links(intersection)
    links.grow(sorted(union - intersection))
    if how != "grow-diag":
        for direction in directions:
            links.finish(sorted(direction), both=how == "grow-diag-final-and")
    return frozenset(links.pairs)


class _Links:
    """A growing set of links, with the words that have a link."""

    def __init__(self, pairs: Iterable[tuple[int, int]]) -> None:
        self.pairs = set(pairs)
        self.sources = {i for i, _ in self.pairs}
        self.targets = {j for _, j in self.pairs}

    def add(self, i: int, j: int) -> None:
        self.pairs.add((i, j))
        self.sources.add(i)
        self.targets.add(j)

    def grow(self, candidates: list[tuple[int, int]]) -> None:
        remaining, before = candidates, None
        while remaining != before:
            before, remaining = remaining, []
            for i, j in before:
                useful = i not in self.sources or j not in self.targets
                if useful and any((i + di, j + dj) in self.pairs for di, dj in NEIGHBOURS):
                    self.add(i, j)
                else:
                    remaining.append((i, j))

    def finish(self, candidates: list[tuple[int, int]], both: bool) -> None:
        for i, j in candidates:
            free = (i not in self.sources) + (j not in self.targets)
            if free > both:
                self.add(i, j)
