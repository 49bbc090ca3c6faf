"""Matching of the sentences of two versions: 1-1, 1-2 or 2-1, which may be extended to 1-n and n-1.

Identical sentences are matched first, in order, as in any diff; then those between them that were edited in
place, which share most of their words and need no encoder. For the others an unbalanced transport
problem is solved over the cosines of their vectors, and two sentences are matched if each gives the most mass
to the other. Then neighbours without a match join, if two sentences together are closer to a third than one
of them alone, or if the third has the words of both.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from otalign.diff.vectors import cosines, sentence_vectors
from otalign.encoders import Encoder
from otalign.ot import Entropic, Unbalanced, solve
from otalign.progress import Progress, no_progress
from otalign.text.matching import match_identical
from otalign.text.sentences import Document
from otalign.text.words import tokenize

# A single pair moves exp(-cost / (2 tau + eps)) of its mass, which is half of it if the cosine is MIN_COSINE.
# Chosen on the dev sets of Wiki, Edinburgh++ and MTRef, as two documents: at 0.3, 0.35 and 0.4 the F1 of
# the matches has a mean of 90.9, 91.9 and 91.5. Lower values match unrelated sentences, higher ones miss
# reworded ones.
MIN_COSINE = 0.35
EPS = 0.05
TAU = ((1 - MIN_COSINE) / float(np.log(2)) - EPS) / 2
MIN_MASS = 0.5  # share of its mass that a matched sentence must move
DISTANCE_PENALTY, HALF_DISTANCE = (
    0.1,
    10.0,
)  # penalty of the cosine for moving far; half of it at this distance
MIN_GAIN = 0.05  # gain in cosine for which a second sentence joins
MIN_COVERAGE = 0.6  # share of its letters in words of another sentence for which one joins, at any cosine
MIN_PART_COSINE = 0.25  # minimum cosine of a sentence with one that it is a part of
MIN_OVERLAP = 0.6  # share of letters in common words for which sentences are matched without vectors
MAX_IN_PLACE = 8  # sentences between two identical ones that are matched so
MIN_SENTENCES = 256  # sentences whose mean vector is subtracted, if the texts have so many


class SentenceMatch(NamedTuple):
    """Neighbouring sentences of the old text that match neighbouring ones of the new, by index."""

    old: tuple[int, ...]
    new: tuple[int, ...]


def matches(
    old: Document,
    new: Document,
    encoder: Encoder,
    key: Callable[[str], str] = str,
    progress: Progress = no_progress,
) -> list[SentenceMatch]:
    """Match sentences, each at most once; matches are in the order of the old text.

    Args:
        old: The old text.
        new: The new text.
        encoder: Encoder for the vectors of sentences that are not identical.
        key: Function whose value is the same for identical sentences.
        progress: Function that is called with a description, the amount done, and the total.
    """
    same = match_identical(old, new, key)
    anchors = same | _match_in_place(old, new, same)
    left = [i for i in range(len(old)) if i not in anchors]
    right = sorted(set(range(len(new))) - set(anchors.values()))
    result = [SentenceMatch((i,), (j,)) for i, j in anchors.items()]
    if left and right:
        texts = [old.sentences[i] for i in left] + [new.sentences[j] for j in right]
        others = [old.sentences[i] for i in anchors][: max(MIN_SENTENCES - len(texts), 0)]
        vectors = sentence_vectors([*texts, *others], encoder, progress)
        distances = _compute_distances(left, right, anchors, len(old), len(new))
        words = [_count_words(text) for text in texts]
        n = len(left)
        similar = _match_similar(
            _Side(left, vectors[:n], words[:n]), _Side(right, vectors[n : len(texts)], words[n:]), distances
        )
        result += [
            SentenceMatch(tuple(left[i] for i in m.old), tuple(right[j] for j in m.new)) for m in similar
        ]
    return sorted(result)


def extend_splits(matched: Sequence[SentenceMatch], old: Document, new: Document) -> Iterator[SentenceMatch]:
    """Yield the matches; a split or joined one has further neighbours whose words the whole sentence has.

    Args:
        matched: The matches of sentences, 1-1, 1-2 or 2-1.
        old: The old text.
        new: The new text.
    """
    free_old = set(range(len(old))) - {i for match in matched for i in match.old}
    free_new = set(range(len(new))) - {j for match in matched for j in match.new}
    for one in matched:
        match one:
            case SentenceMatch((i,), (_, _, *_)):
                yield one._replace(new=_extend_parts(old.sentences[i], one.new, new, free_new))
            case SentenceMatch((_, _, *_), (j,)):
                yield one._replace(old=_extend_parts(new.sentences[j], one.old, old, free_old))
            case _:
                yield one


def _extend_parts(whole: str, parts: tuple[int, ...], document: Document, free: set[int]) -> tuple[int, ...]:
    """Return the parts of a sentence with the neighbours that have its other words; they are free no more."""
    rest = _count_words(whole)
    rest.subtract(sum((_count_words(document.sentences[k]) for k in parts), Counter[str]()))
    while True:
        for k in {parts[0] - 1, parts[-1] + 1} & free:
            words = _count_words(document.sentences[k])
            if 0 < MIN_COVERAGE * _count_letters(words) <= _count_letters(rest & words):
                rest.subtract(words)
                parts = tuple(sorted((*parts, k)))
                free.remove(k)
                break
        else:
            return parts


def _match_in_place(old: Document, new: Document, same: Mapping[int, int]) -> dict[int, int]:
    """Match the sentences between two identical ones in order, if each shares most of its words.

    There must be equally many on both sides, so that none is left that could be a part of another.
    """
    matched: dict[int, int] = {}
    for (i, j), (next_i, next_j) in pairwise([(-1, -1), *sorted(same.items()), (len(old), len(new))]):
        if not 0 < next_i - i - 1 == next_j - j - 1 <= MAX_IN_PLACE:
            continue
        pairs = list(zip(range(i + 1, next_i), range(j + 1, next_j), strict=True))
        if all(_compute_overlap(old.sentences[k], new.sentences[m]) >= MIN_OVERLAP for k, m in pairs):
            matched |= pairs
    return matched


def _compute_overlap(first: str, second: str) -> float:
    """Return the share of the letters of two sentences that are in common words, in the longer of them."""
    words, others = _count_words(first), _count_words(second)
    return _count_letters(words & others) / max(_count_letters(words), _count_letters(others), 1)


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


class _Side(NamedTuple):
    """The sentences of a text that are not matched yet: their indices, vectors and words."""

    places: Sequence[int]
    vectors: np.ndarray
    words: Sequence[Counter[str]]


def _match_similar(old: _Side, new: _Side, distances: np.ndarray) -> list[SentenceMatch]:
    """Match sentences by their rows, given how far each would move."""
    partners = _find_partners(
        cosines(old.vectors, new.vectors) - DISTANCE_PENALTY * distances / (distances + HALF_DISTANCE)
    )
    backwards = {j: i for i, j in partners.items()}
    joins = [(gain, SentenceMatch((i,), pair)) for gain, i, pair in _find_joins(old, new, backwards)]
    joins += [(gain, SentenceMatch(pair, (j,))) for gain, j, pair in _find_joins(new, old, partners)]
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
    whole: _Side, parts: _Side, partners: Mapping[int, int]
) -> Iterator[tuple[float, int, tuple[int, int]]]:
    """Yield neighbours that together are like a sentence: the gain in cosine, the sentence and the pair.

    At most one of the neighbours has a partner.
    """
    places = parts.places
    firsts = [k for k in range(len(places) - 1) if places[k] + 1 == places[k + 1]]
    if not firsts:
        return
    seconds = [k + 1 for k in firsts]
    alone = cosines(whole.vectors, parts.vectors)
    together = cosines(whole.vectors, parts.vectors[firsts] + parts.vectors[seconds])
    free = np.array(sorted(set(range(len(whole.places))) - set(partners.values())), dtype=int)
    for column, pair in enumerate(zip(firsts, seconds, strict=True)):
        matched = [k for k in pair if k in partners]
        if len(matched) == 2 or (not matched and not len(free)):
            continue
        if matched:
            i = partners[matched[0]]
            before, covered = alone[i, matched[0]], _is_covered(whole.words[i], parts.words, pair, matched[0])
        else:
            i = int(free[np.argmax(together[free, column])])
            before, covered = MIN_COSINE, False
        gain = float(together[i, column] - before)
        closer = gain >= MIN_GAIN and alone[i, list(pair)].min() >= MIN_PART_COSINE
        if covered or closer:
            yield gain, i, pair


def _is_covered(
    whole: Counter[str], parts: Sequence[Counter[str]], pair: tuple[int, int], matched: int
) -> bool:
    """Return whether a sentence has most words of the part without a match, beside those of the other."""
    other = sum(pair) - matched
    found = (whole - parts[matched]) & parts[other]
    return _count_letters(found) >= MIN_COVERAGE * max(_count_letters(parts[other]), 1)


def _count_letters(words: Counter[str]) -> int:
    return sum(len(word) * count for word, count in words.items())


def _count_words(sentence: str) -> Counter[str]:
    return Counter(word for word in tokenize(sentence.casefold()).words if any(map(str.isalnum, word)))
