"""Which sentences of two versions tell the same: 1-1, 1-2 or 2-1.

Sentences that are the same letter for letter are matched first, in order, as by any diff. Between the rest a
transport problem is solved, over the cosines of their vectors, and two that give most to each other are
matched. Then neighbours without a match join, where two sentences together are closer to the third than one
of them is alone.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from otalign.diff.vectors import cosines, sentence_vectors
from otalign.encoders import Encoder
from otalign.ot import Entropic, Unbalanced, solve
from otalign.text.sentences import Document

# A pair alone moves exp(-cost / (2 tau + eps)) of its mass, which is half of it where the cosine is ALIKE.
# Chosen on the dev sets of Wiki, Edinburgh++ and MTRef, as two documents: at 0.25, 0.35, 0.45 the F1 of
# the matches has a mean of 91, 93 and 91. Lower, strangers are matched; higher, what was reworded is missed.
ALIKE = 0.35
EPS = 0.05
TAU = ((1 - ALIKE) / float(np.log(2)) - EPS) / 2
HALF = 0.5  # of its mass must a sentence give away
AWAY, NEAR = 0.1, 10.0  # of the cosine for moving far, half of it for moving by so many sentences
GAIN = 0.05  # of the cosine, which a second sentence must bring to join
PART = 0.25  # the least cosine of a sentence with one that it is a part of
COMPANY = 256  # sentences at least that vectors are centred on, where the texts have so many


class SentenceMatch(NamedTuple):
    """Neighbouring sentences of the old text, and neighbouring ones of the new, by their numbers."""

    old: tuple[int, ...]
    new: tuple[int, ...]


def matches(old: Document, new: Document, encoder: Encoder) -> list[SentenceMatch]:
    """The matches, each sentence in at most one, by their places in the old text."""
    same = _identical(old, new)
    matched_old, matched_new = set(same), set(same.values())
    left = [i for i in range(len(old)) if i not in matched_old]
    right = [j for j in range(len(new)) if j not in matched_new]
    found = [SentenceMatch((i,), (j,)) for i, j in same.items()]
    if left and right:
        texts = [old.sentences[i] for i in left] + [new.sentences[j] for j in right]
        company = [old.sentences[i] for i in same][: max(COMPANY - len(texts), 0)]
        vectors = sentence_vectors([*texts, *company], encoder)
        away = _distances(left, right, same, len(old), len(new))
        between = _between(left, right, vectors[: len(left)], vectors[len(left) : len(texts)], away)
        found += [
            SentenceMatch(tuple(left[i] for i in m.old), tuple(right[j] for j in m.new)) for m in between
        ]
    return sorted(found)


def in_order(matched: Sequence[SentenceMatch], lengths: Mapping[SentenceMatch, int]) -> set[SentenceMatch]:
    """Matches that stand in the same order in both texts, as long as can be in all; the others have moved."""
    ordered = sorted(matched)
    ends = np.array([match.new[0] for match in ordered])
    best = np.zeros(len(ordered))
    before = np.full(len(ordered), -1)
    for k, match in enumerate(ordered):
        lower = np.flatnonzero(ends[:k] < match.new[0])
        if len(lower):
            before[k] = lower[np.argmax(best[lower])]
        best[k] = lengths[match] + (best[before[k]] if before[k] >= 0 else 0)
    kept, k = set(), int(np.argmax(best)) if len(best) else -1
    while k >= 0:
        kept.add(ordered[k])
        k = int(before[k])
    return kept


def bare(text: str) -> str:
    """The text without regard to its blanks and line ends."""
    return " ".join(text.split())


def _identical(old: Document, new: Document) -> dict[int, int]:
    """Sentences that are the same, as many as can be in the same order."""
    first, second = ([bare(text) for text in side.sentences] for side in (old, new))
    start = _alike(first, second)
    end = _alike(first[start:][::-1], second[start:][::-1])
    same = {k: k for k in range(start)}
    same |= {len(first) - k: len(second) - k for k in range(1, end + 1)}
    return same | {
        start + i: start + j
        for i, j in _common(first[start : len(first) - end], second[start : len(second) - end])
    }


def _alike(first: Sequence[str], second: Sequence[str]) -> int:
    """How many are the same from the start on."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((k for k, (one, other) in pairs if one != other), min(len(first), len(second)))


def _common(first: Sequence[str], second: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The longest common subsequence, from its end, as Hunt and Szymanski find it."""
    places: dict[str, list[int]] = {}
    for j in reversed(range(len(second))):
        places.setdefault(second[j], []).append(j)
    ends: list[int] = []  # of the subsequences of length 1, 2, …, the first place where one can end
    chains: list[tuple] = []  # and how they go
    for i, text in enumerate(first):
        for j in places.get(text, ()):
            k = bisect_left(ends, j)
            ends[k : k + 1] = [j]
            chains[k : k + 1] = [(i, j, chains[k - 1] if k else None)]
    chain = chains[-1] if chains else None
    while chain:
        i, j, chain = chain
        yield i, j


def _distances(
    left: Sequence[int], right: Sequence[int], same: Mapping[int, int], n: int, m: int
) -> np.ndarray:
    """How many sentences each of `left` would move, to be where each of `right` is: what is the same around
    them says where they would stand."""
    anchors = [(-1, -1), *sorted(same.items()), (n, m)]
    before, after = zip(*anchors, strict=True)
    stays = np.interp(left, before, after)
    return np.abs(stays[:, None] - np.asarray(right)[None, :])


def _between(
    left: Sequence[int], right: Sequence[int], first: np.ndarray, second: np.ndarray, away: np.ndarray
) -> list[SentenceMatch]:
    """The matches between sentences with the vectors `first` and `second`, by their places among these."""
    partners = _partners(cosines(first, second) - AWAY * away / (away + NEAR))
    backwards = {j: i for i, j in partners.items()}
    joins = [(gain, SentenceMatch((i,), pair)) for gain, i, pair in _joins(first, second, right, backwards)]
    joins += [(gain, SentenceMatch(pair, (j,))) for gain, j, pair in _joins(second, first, left, partners)]
    singles = [SentenceMatch((i,), (j,)) for i, j in partners.items()]
    found, used_old, used_new = [], set(), set()
    for match in [match for _, match in sorted(joins, reverse=True)] + singles:
        if used_old.isdisjoint(match.old) and used_new.isdisjoint(match.new):
            found.append(match)
            used_old.update(match.old)
            used_new.update(match.new)
    return found


def _partners(similarity: np.ndarray) -> dict[int, int]:
    """Those that give most to each other, where each gives away half of its mass or more."""
    n, m = similarity.shape
    source, target = (np.ones(size, similarity.dtype) for size in (n, m))
    cost = np.maximum(1 - similarity, 0)  # a cosine may be above 1 by rounding
    moved = solve(cost, source, target, Unbalanced(TAU), Entropic(EPS, tol=1e-4))
    best, back = np.argmax(moved.plan, axis=1), np.argmax(moved.plan, axis=0)
    enough = (moved.source_marginal >= HALF) & (moved.target_marginal[best] >= HALF)
    return {i: int(best[i]) for i in range(n) if back[best[i]] == i and enough[i]}


def _joins(
    whole: np.ndarray, parts: np.ndarray, places: Sequence[int], partners: Mapping[int, int]
) -> Iterator[tuple[float, int, tuple[int, int]]]:
    """Neighbours among the parts, one of them or none with a partner, that together are closer to a whole: by
    how much, which, and they. `places` are the parts' places in their text."""
    firsts = [k for k in range(len(places) - 1) if places[k] + 1 == places[k + 1]]
    if not firsts:
        return
    seconds = [k + 1 for k in firsts]
    alone, together = cosines(whole, parts), cosines(whole, parts[firsts] + parts[seconds])
    free = np.array(sorted(set(range(len(whole))) - set(partners.values())), dtype=int)
    for column, pair in enumerate(zip(firsts, seconds, strict=True)):
        matched = [k for k in pair if k in partners]
        if len(matched) == 2 or (not matched and not len(free)):
            continue
        if matched:
            i = partners[matched[0]]
            before = alone[i, matched[0]]
        else:
            i = int(free[np.argmax(together[free, column])])
            before = ALIKE
        gain = float(together[i, column] - before)
        if gain >= GAIN and alone[i, list(pair)].min() >= PART:
            yield gain, i, pair
