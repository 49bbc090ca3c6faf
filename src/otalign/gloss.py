"""Two sentences written above each other, word over word, as glosses are.

Both keep their order. A phrase that stands in the same order in both gets one column, so that its words meet;
what has moved, or has no counterpart, gets a column with one side empty. Of all such layouts this is the
shortest: it lets those phrases meet that save the most width.
"""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

from otalign.alignment import Alignment


class GlossColumn(NamedTuple):
    """Neighbouring words of one phrase, on one side or both; without a phrase, one null word."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    phrase: int | None  # its place in `alignment.phrases`


class _Run(NamedTuple):
    words: tuple[int, ...]
    phrase: int | None


def columns(alignment: Alignment, saving: Callable[[GlossColumn], float]) -> tuple[GlossColumn, ...]:
    """The columns from left to right; `saving` says what it is worth that a column has both sides."""
    source = _runs(len(alignment.source), [phrase.source for phrase in alignment.phrases])
    target = _runs(len(alignment.target), [phrase.target for phrase in alignment.phrases])
    made: list[GlossColumn] = []
    i = j = 0
    for meet_i, meet_j in [*_meetings(source, target, saving), (len(source), len(target))]:
        made += [GlossColumn(run.words, (), run.phrase) for run in source[i:meet_i]]
        made += [GlossColumn((), run.words, run.phrase) for run in target[j:meet_j]]
        if meet_i < len(source):
            made.append(_met(source[meet_i], target[meet_j]))
        i, j = meet_i + 1, meet_j + 1
    return tuple(made)


def _runs(count: int, phrases: Sequence[Sequence[int]]) -> list[_Run]:
    """The words of one side: neighbours of one phrase together, nulls each alone."""
    of_word = {word: number for number, words in enumerate(phrases) for word in words}
    # A null is its own group: no two share a key.
    groups = groupby(range(count), key=lambda word: of_word.get(word, -1 - word))
    return [_Run(tuple(words), key if key >= 0 else None) for key, words in groups]


def _met(source: _Run, target: _Run) -> GlossColumn:
    return GlossColumn(source.words, target.words, source.phrase)


def _meetings(
    source: Sequence[_Run], target: Sequence[_Run], saving: Callable[[GlossColumn], float]
) -> list[tuple[int, int]]:
    """Where runs of one phrase meet, in order on both sides: the heaviest common subsequence."""
    worth = {
        (i, j): saving(_met(s, t))
        for i, s in enumerate(source)
        for j, t in enumerate(target)
        if s.phrase is not None and s.phrase == t.phrase
    }
    # best[i][j]: what the runs from i and from j on can save.
    best = [[0.0] * (len(target) + 1) for _ in range(len(source) + 1)]
    for i in reversed(range(len(source))):
        for j in reversed(range(len(target))):
            apart = max(best[i + 1][j], best[i][j + 1])
            best[i][j] = max(apart, worth[i, j] + best[i + 1][j + 1]) if (i, j) in worth else apart
    meetings, i, j = [], 0, 0
    while i < len(source) and j < len(target):
        if (i, j) in worth and best[i][j] == worth[i, j] + best[i + 1][j + 1]:
            meetings.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return meetings
