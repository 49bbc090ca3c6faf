"""One set of links from the two that a directed aligner gives (Och and Ney 2003; Koehn, Och and Marcu 2003).

The intersection is precise, the union complete. Between them, *grow-diag* starts from the intersection and
adds links of the union that touch one that is there, side or corner, and link a word not yet linked.
*final* then adds links wherever they are: those of a word not yet linked, or, *final-and*, of two such words.

What is added early can keep out what comes later, so order matters: candidates are taken by source word, then
by target word, what was added counts at once, and the final step takes forward links before reverse ones.
"""

from collections.abc import Collection, Iterable
from typing import Literal, get_args

from otalign.alignment import Pairs

Symmetrisation = Literal["intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"]

AROUND = tuple((di, dj) for di in (-1, 0, 1) for dj in (-1, 0, 1) if di or dj)


def symmetrise(
    forward: Collection[tuple[int, int]],
    reverse: Collection[tuple[int, int]],
    how: Symmetrisation = "grow-diag-final-and",
) -> Pairs:
    """The links (source, target) that follow from those of the two directions."""
    if how not in get_args(Symmetrisation):
        raise ValueError(f"how must be one of {', '.join(get_args(Symmetrisation))}, got {how!r}")
    one, other = frozenset(forward), frozenset(reverse)
    if how == "intersection":
        return one & other
    if how == "union":
        return one | other
    links = _Links(one & other)
    links.grow(sorted(one ^ other))
    if how != "grow-diag":
        for direction in (one, other):
            links.finish(sorted(direction), both=how == "grow-diag-final-and")
    return frozenset(links.pairs)


class _Links:
    """A growing set of links that knows which words it has reached."""

    def __init__(self, pairs: Iterable[tuple[int, int]]):
        self.pairs = set(pairs)
        self.sources = {i for i, _ in self.pairs}
        self.targets = {j for _, j in self.pairs}

    def add(self, i: int, j: int) -> None:
        self.pairs.add((i, j))
        self.sources.add(i)
        self.targets.add(j)

    def grow(self, candidates: list[tuple[int, int]]) -> None:
        left, before = candidates, None
        while left != before:
            before, left = left, []
            for i, j in before:
                wanted = i not in self.sources or j not in self.targets
                if wanted and any((i + di, j + dj) in self.pairs for di, dj in AROUND):
                    self.add(i, j)
                else:
                    left.append((i, j))

    def finish(self, candidates: list[tuple[int, int]], both: bool) -> None:
        for i, j in candidates:
            free = (i not in self.sources) + (j not in self.targets)
            if free > both:
                self.add(i, j)
