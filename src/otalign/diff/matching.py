"""Matching of the sentences of two versions: 1-1, 1-2 or 2-1.

Identical sentences are matched first, in order, as in any diff. For the others an unbalanced transport
problem is solved over the cosines of their vectors, and two sentences are matched if each gives the most mass
to the other. Then neighbours without a match join, if two sentences together are closer to a third than one
of them alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from otalign.diff.vectors import cosines, sentence_vectors
from otalign.encoders import Encoder
from otalign.ot import Entropic, Unbalanced, solve
from otalign.text.matching import match_identical
from otalign.text.sentences import Document

# A single pair moves exp(-cost / (2 tau + eps)) of its mass, which is half of it if the cosine is MIN_COSINE.
# Chosen on the dev sets of Wiki, Edinburgh++ and MTRef, as two documents: at 0.25, 0.35 and 0.45 the F1 of
# the matches has a mean of 91, 93 and 91. Lower values match unrelated sentences, higher ones miss reworded
# ones.
MIN_COSINE = 0.35
EPS = 0.05
TAU = ((1 - MIN_COSINE) / float(np.log(2)) - EPS) / 2
MIN_MASS = 0.5  # share of its mass that a matched sentence must move
DISTANCE_PENALTY, HALF_DISTANCE = (
    0.1,
    10.0,
)  # penalty of the cosine for moving far; half of it at this distance
MIN_GAIN = 0.05  # gain in cosine for which a second sentence joins
MIN_PART_COSINE = 0.25  # minimum cosine of a sentence with one that it is a part of
MIN_SENTENCES = 256  # sentences whose mean vector is subtracted, if the texts have so many


class SentenceMatch(NamedTuple):
    """Neighbouring sentences of the old text that match neighbouring ones of the new, by index."""

    old: tuple[int, ...]
    new: tuple[int, ...]


def matches(old: Document, new: Document, encoder: Encoder) -> list[SentenceMatch]:
    """Match sentences, each at most once; matches are in the order of the old text."""
    same = match_identical(old, new)
    matched_old, matched_new = set(same), set(same.values())
    left = [i for i in range(len(old)) if i not in matched_old]
    right = [j for j in range(len(new)) if j not in matched_new]
    result = [SentenceMatch((i,), (j,)) for i, j in same.items()]
    if left and right:
        texts = [old.sentences[i] for i in left] + [new.sentences[j] for j in right]
        unchanged = [old.sentences[i] for i in same][: max(MIN_SENTENCES - len(texts), 0)]
        vectors = sentence_vectors([*texts, *unchanged], encoder)
        distances = _compute_distances(left, right, same, len(old), len(new))
        similar = _match_similar(
            left, right, vectors[: len(left)], vectors[len(left) : len(texts)], distances
        )
        result += [
            SentenceMatch(tuple(left[i] for i in m.old), tuple(right[j] for j in m.new)) for m in similar
        ]
    return sorted(result)


def in_order(matched: Sequence[SentenceMatch], lengths: Mapping[SentenceMatch, int]) -> set[SentenceMatch]:
    """Return the longest set of matches that are in the same order in both texts; the others have moved."""
    ordered = sorted(matched)
    ends = np.array([match.new[0] for match in ordered])
    best = np.zeros(len(ordered))
    before = np.full(len(ordered), -1)
    for k, match in enumerate(ordered):
        lower = np.flatnonzero(ends[:k] < match.new[0])
        if len(lower):
            before[k] = lower[np.argmax(best[lower])]
        best[k] = lengths[match] + (best[before[k]] if before[k] >= 0 else 0)
    result, k = set(), int(np.argmax(best)) if len(best) else -1
    while k >= 0:
        result.add(ordered[k])
        k = int(before[k])
    return result


def _compute_distances(
    left: Sequence[int], right: Sequence[int], same: Mapping[int, int], n: int, m: int
) -> np.ndarray:
    """Return how far each sentence of `left` would move to the position of each of `right`, in sentences.

    Unmoved positions are interpolated between identical sentences.
    """
    anchors = [(-1, -1), *sorted(same.items()), (n, m)]
    before, after = zip(*anchors, strict=True)
    unmoved = np.interp(left, before, after)
    return np.abs(unmoved[:, None] - np.asarray(right)[None, :])


def _match_similar(
    left: Sequence[int], right: Sequence[int], first: np.ndarray, second: np.ndarray, distances: np.ndarray
) -> list[SentenceMatch]:
    """Match sentences with the vectors `first` and `second`, by their rows."""
    partners = _find_partners(
        cosines(first, second) - DISTANCE_PENALTY * distances / (distances + HALF_DISTANCE)
    )
    backwards = {j: i for i, j in partners.items()}
    joins = [
        (gain, SentenceMatch((i,), pair)) for gain, i, pair in _find_joins(first, second, right, backwards)
    ]
    joins += [
        (gain, SentenceMatch(pair, (j,))) for gain, j, pair in _find_joins(second, first, left, partners)
    ]
    singles = [SentenceMatch((i,), (j,)) for i, j in partners.items()]
    result, used_old, used_new = [], set(), set()
    for match in [match for _, match in sorted(joins, reverse=True)] + singles:
        if used_old.isdisjoint(match.old) and used_new.isdisjoint(match.new):
            result.append(match)
            used_old.update(match.old)
            used_new.update(match.new)
    return result


def _find_partners(similarity: np.ndarray) -> dict[int, int]:
    """Return pairs that give the most mass to each other, if each moves at least `MIN_MASS` of its own."""
    n, m = similarity.shape
    source, target = (np.ones(size, similarity.dtype) for size in (n, m))
    cost = np.maximum(1 - similarity, 0)  # rounding may make a cosine larger than 1
    transport = solve(cost, source, target, Unbalanced(TAU), Entropic(EPS, tol=1e-4))
    best, back = np.argmax(transport.plan, axis=1), np.argmax(transport.plan, axis=0)
    enough = (transport.source_marginal >= MIN_MASS) & (transport.target_marginal[best] >= MIN_MASS)
    return {i: int(best[i]) for i in range(n) if back[best[i]] == i and enough[i]}


def _find_joins(
    whole: np.ndarray, parts: np.ndarray, places: Sequence[int], partners: Mapping[int, int]
) -> Iterator[tuple[float, int, tuple[int, int]]]:
    """Yield neighbours that together are closer to a sentence than one alone: gain, sentence and pair.

    At most one of the neighbours has a partner. `places` are the positions of the parts in their text.
    """
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
            before = MIN_COSINE
        gain = float(together[i, column] - before)
        if gain >= MIN_GAIN and alone[i, list(pair)].min() >= MIN_PART_COSINE:
            yield gain, i, pair
