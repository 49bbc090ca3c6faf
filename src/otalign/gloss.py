"""Interlinear layout: two sentences above each other, word over word, like glosses.

Both sentences keep their order. A phrase that is in the same order in both gets one column with both sides; a
phrase that has moved, or a word without a counterpart, gets a column with one empty side. The layout is the
shortest of its kind: the phrases with both sides are those that save the most width.
"""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

from otalign.alignment import Alignment


class GlossColumn(NamedTuple):
    """Neighbouring words of a phrase, on one side or both; or a single null word, without a phrase."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    phrase: int | None  # index in `alignment.phrases`


class _Run(NamedTuple):
    words: tuple[int, ...]
    phrase: int | None


def arrange_columns(alignment: Alignment, saving: Callable[[GlossColumn], float]) -> tuple[GlossColumn, ...]:
    """Return the columns from left to right.

    Args:
        alignment: The alignment.
        saving: Function that returns the width saved by a column with both sides.
    """
    source = _group_words(len(alignment.source), [phrase.source for phrase in alignment.phrases])
    target = _group_words(len(alignment.target), [phrase.target for phrase in alignment.phrases])
    layout: list[GlossColumn] = []
    i = j = 0
    for next_i, next_j in [*_pair_runs(source, target, saving), (len(source), len(target))]:
        layout += [GlossColumn(run.words, (), run.phrase) for run in source[i:next_i]]
        layout += [GlossColumn((), run.words, run.phrase) for run in target[j:next_j]]
        if next_i < len(source):
            layout.append(_join(source[next_i], target[next_j]))
        i, j = next_i + 1, next_j + 1
    return tuple(layout)


def _group_words(count: int, phrases: Sequence[Sequence[int]]) -> list[_Run]:
    """Return the words of one side in runs: neighbours of a phrase together, each null alone."""
    phrase_by_word = {word: number for number, words in enumerate(phrases) for word in words}
    # Nulls have distinct negative keys, so that each is a group.
    groups = groupby(range(count), key=lambda word: phrase_by_word.get(word, -1 - word))
    return [_Run(tuple(words), key if key >= 0 else None) for key, words in groups]


def _join(source: _Run, target: _Run) -> GlossColumn:
    return GlossColumn(source.words, target.words, source.phrase)


def _pair_runs(
    source: Sequence[_Run], target: Sequence[_Run], saving: Callable[[GlossColumn], float]
) -> list[tuple[int, int]]:
    """Return pairs of runs of one phrase, in order on both sides: the heaviest common subsequence."""
    savings = {
        (i, j): saving(_join(s, t))
        for i, s in enumerate(source)
        for j, t in enumerate(target)
        if s.phrase is not None and s.phrase == t.phrase
    }
    # best[i][j] is the most that the runs from i and from j on can save.
    best = [[0.0] * (len(target) + 1) for _ in range(len(source) + 1)]
    for i in reversed(range(len(source))):
        for j in reversed(range(len(target))):
            without = max(best[i + 1][j], best[i][j + 1])
            best[i][j] = max(without, savings[i, j] + best[i + 1][j + 1]) if (i, j) in savings else without
    pairs, i, j = [], 0, 0
    while i < len(source) and j < len(target):
        if (i, j) in savings and best[i][j] == savings[i, j] + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs
