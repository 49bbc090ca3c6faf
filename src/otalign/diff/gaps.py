"""Matches between sentences that are left at the same place of both texts, by the links of their words.

Vectors of short sentences say little, the aligner more. So the sentences without a match between two matched
ones are aligned with those of the other text, and belong together if most of their words are linked. Since an
aligner that was not trained may also link words of unrelated sentences, the vectors must not contradict it.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from otalign.aligner import Aligner
from otalign.alignment import Alignment
from otalign.diff.matching import SentenceMatch
from otalign.diff.vectors import cosines, sentence_vectors
from otalign.encoders import Encoder
from otalign.progress import Progress, no_progress
from otalign.text.sentences import Document

MAX_SENTENCES = 4  # in a gap, on either side
# Share of the letters of each sentence in linked words. By the model `small`, 92 to 99% of the pairs of three
# dev sets (MTRef, Wiki, Edinburgh++; 150 each) reach it, and none of 447 pairs of sentences that differ.
MIN_LINKED = 0.5
MIN_COSINE = 0.25  # of the vectors; short sentences of different content have up to 0.2


class Gap(NamedTuple):
    """Neighbouring sentences of both texts without a match."""

    old: range
    new: range


class _Letters(NamedTuple):
    """Letters of the words of a gap: of each sentence, and those linked with each one of the other text."""

    total: Counter[int]
    linked: Counter[tuple[int, int]]

    def share(self, sentence: int, others: Sequence[int]) -> float:
        """Return the share of the letters of a sentence that are linked with others."""
        return sum(self.linked[sentence, other] for other in others) / max(self.total[sentence], 1)


def match_gaps(
    old: Document,
    new: Document,
    matched: Sequence[SentenceMatch],
    aligner: Aligner,
    progress: Progress = no_progress,
) -> list[SentenceMatch]:
    """Return matches of sentences that have none: 1-1, 1-2 or 2-1.

    Args:
        old: The old text.
        new: The new text.
        matched: Matches so far.
        aligner: Aligner for their words.
        progress: Function that is called with a description, the amount done, and the total.
    """
    gaps = list(_find_gaps(matched, len(old), len(new)))
    texts = [(_join(old, gap.old), _join(new, gap.new)) for gap in gaps]
    alignments = aligner.align_many(texts) if texts else ()
    linked: list[SentenceMatch] = []
    for number, (gap, alignment) in enumerate(zip(gaps, alignments, strict=True)):
        progress("matching split sentences", number, len(gaps))
        linked += _match_by_links(gap, alignment, old, new)
    return [
        match
        for match, near in zip(linked, _are_near(linked, old, new, aligner.encoder), strict=True)
        if near
    ]


def _are_near(
    linked: Sequence[SentenceMatch], old: Document, new: Document, encoder: Encoder
) -> Sequence[bool]:
    """Return, for each match, whether the vectors of its two sides are close to each other."""
    if not linked:
        return ()
    texts = [_join(old, match.old) for match in linked] + [_join(new, match.new) for match in linked]
    vectors = sentence_vectors(texts, encoder)
    found = cosines(vectors[: len(linked)], vectors[len(linked) :])
    return [found[k, k] >= MIN_COSINE for k in range(len(linked))]


def _find_gaps(matched: Sequence[SentenceMatch], n: int, m: int) -> Iterator[Gap]:
    """Yield the gaps that begin or end at the same match, or at the same end of the texts."""
    ends = {match.old[-1] + 1: match.new[-1] + 1 for match in matched} | {0: 0}
    starts = {match.old[0]: match.new[0] for match in matched} | {n: m}
    runs = list(_find_runs({j for match in matched for j in match.new}, m))
    for run in _find_runs({i for match in matched for i in match.old}, n):
        other = next(
            (one for one in runs if one.start == ends.get(run.start) or one.stop == starts.get(run.stop)),
            None,
        )
        if other and max(len(run), len(other)) <= MAX_SENTENCES:
            runs.remove(other)
            yield Gap(run, other)


def _find_runs(taken: set[int], count: int) -> Iterator[range]:
    """Yield the runs of numbers below a count that are not taken."""
    for before, after in pairwise([-1, *sorted(taken), count]):
        if after - before > 1:
            yield range(before + 1, after)


def _match_by_links(gap: Gap, alignment: Alignment, old: Document, new: Document) -> Iterator[SentenceMatch]:
    """Yield the matches within a gap, given its alignment; those of most letters come first."""
    first, second = _count_letters(gap, alignment, old, new)
    found = []
    for match in _list_candidates(gap):
        shares = [first.share(i, match.new) for i in match.old] + [
            second.share(j, match.old) for j in match.new
        ]
        if min(shares) >= MIN_LINKED:
            found.append((sum(first.linked[i, j] for i in match.old for j in match.new), match))
    used_old: set[int] = set()
    used_new: set[int] = set()
    for _, match in sorted(found, reverse=True):
        if used_old.isdisjoint(match.old) and used_new.isdisjoint(match.new):
            used_old.update(match.old)
            used_new.update(match.new)
            yield match


def _list_candidates(gap: Gap) -> Iterator[SentenceMatch]:
    for i in gap.old:
        for j in gap.new:
            yield SentenceMatch((i,), (j,))
            if i + 1 in gap.old:
                yield SentenceMatch((i, i + 1), (j,))
            if j + 1 in gap.new:
                yield SentenceMatch((i,), (j, j + 1))


def _count_letters(gap: Gap, alignment: Alignment, old: Document, new: Document) -> tuple[_Letters, _Letters]:
    """Return the letters of the old sentences and of the new ones; punctuation has none."""
    source = _number_words(alignment.source_spans, old, gap.old)
    target = _number_words(alignment.target_spans, new, gap.new)
    sizes = [
        [len(word) if any(map(str.isalnum, word)) else 0 for word in side]
        for side in (alignment.source, alignment.target)
    ]
    linked = ({(i, target[j]) for i, j in alignment.pairs}, {(j, source[i]) for i, j in alignment.pairs})
    result = []
    for numbers, size, partners in zip((source, target), sizes, linked, strict=True):
        total: Counter[int] = Counter()
        letters: Counter[tuple[int, int]] = Counter()
        for number, count in zip(numbers, size, strict=True):
            total[number] += count
        for word, other in partners:
            letters[numbers[word], other] += size[word]
        result.append(_Letters(total, letters))
    return result[0], result[1]


def _number_words(spans: Sequence[tuple[int, int]] | None, document: Document, sentences: range) -> list[int]:
    """Return the sentence that each word of a gap is in."""
    assert spans is not None
    origin = document.spans[sentences[0]][0]
    starts = [document.spans[k][0] - origin for k in sentences]
    return [sentences[bisect_right(starts, start) - 1] for start, _ in spans]


def _join(document: Document, sentences: Sequence[int]) -> str:
    return document.text[document.spans[sentences[0]][0] : document.spans[sentences[-1]][1]]
