"""Counting: from two sets of links and two lengths to the numbers of a sentence pair.

A word without a link is null, so nothing else needs to be known of the sentences. A prediction and a
gold that are not of the same words are refused, since their links would not mean the same.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from itertools import zip_longest

import numpy as np

from otalign.alignment import Alignment, Level
from otalign.gold import Gold
from otalign.metrics.counts import COLUMNS, Counts, check_level

Pairs = Collection[tuple[int, int]]


def count_pair(
    predicted: Pairs, gold: Pairs, n: int, m: int, *, possible: Pairs = (), level: Level = "sure"
) -> Counts:
    """The counts of one pair of n and m words; `gold` are its sure links if it has `possible` ones too."""
    check_level(level)
    row = _row(frozenset(predicted), frozenset(gold), frozenset(possible), (n, m), level)
    return Counts(np.array([row]), level)


def count(predicted: Iterable[Alignment], gold: Iterable[Alignment | Gold], level: Level = "sure") -> Counts:
    """The counts of a corpus, pair by pair; gold without levels is all sure.

    Both must be of the same sentences: as many, as long, of the same words but for upper and lower case.
    """
    check_level(level)
    rows, pairs, absent = [], zip_longest(predicted, gold), None
    for k, (guess, truth) in enumerate(pairs):
        if guess is absent or truth is absent:
            longer = k + 1 + sum(1 for _ in pairs)
            sizes = (k, longer) if guess is absent else (longer, k)
            raise ValueError(
                "predicted and gold must be of the same pairs, got {} and {}; "
                "a pair without links needs its empty place".format(*sizes)
            )
        try:
            _check_same_sentences(guess, truth)
            rows.append(_row(guess.pairs, *_sure_and_possible(truth), truth.shape, level))
        except ValueError as error:
            raise ValueError(f"pair {k}, counted from 0: {error}") from None
    return Counts(np.array(rows, dtype=np.int64).reshape(len(rows), len(COLUMNS)), level)


def _sure_and_possible(gold: Alignment | Gold) -> tuple[frozenset, frozenset]:
    if isinstance(gold, Gold):
        return gold.sure, gold.possible
    return gold.pairs, frozenset()


def _row(
    predicted: frozenset, sure: frozenset, possible: frozenset, shape: tuple[int, int], level: Level
) -> tuple[int, ...]:
    """One pair's numbers, in the order of `COLUMNS`."""
    allowed = sure | possible
    gold = allowed if level == "possible" else sure
    for name, links in (("predicted", predicted), ("gold", allowed)):
        _check_range(name, links, shape)
    row = [*shape, len(predicted & gold), len(predicted), len(gold)]
    for side, length in enumerate(shape):
        guessed, true = ({link[side] for link in links} for links in (predicted, gold))
        row += [length - len(guessed | true), length - len(guessed), length - len(true)]
    row += [len(sure), len(predicted & sure), len(predicted & allowed)]
    return (*row, *_groups_and_phrases(gold))


def _groups_and_phrases(links: frozenset) -> tuple[int, int]:
    """How many groups of links hang together by shared words, and how many of these have several links."""
    sources, targets = (Counter(link[side] for link in links) for side in (0, 1))
    tangled = [(i, j) for i, j in links if sources[i] > 1 or targets[j] > 1]
    group: dict[tuple[str, int], set] = {}  # word → the words of its group, one set shared by them all
    for i, j in tangled:
        one = group.setdefault(("source", i), {("source", i)})
        other = group.setdefault(("target", j), {("target", j)})
        if one is not other:
            small, large = sorted((one, other), key=len)
            large |= small
            group.update(dict.fromkeys(small, large))
    phrases = len({id(words) for words in group.values()})
    return len(links) - len(tangled) + phrases, phrases


def _check_range(name: str, links: frozenset, shape: tuple[int, int]) -> None:
    n, m = shape
    for i, j in links:
        if not (0 <= i < n and 0 <= j < m):
            raise ValueError(
                f"{name} link {i}-{j} is outside the sentences of {n} and {m} words; "
                "words count from 0, source first"
            )


def _check_same_sentences(predicted: Alignment, gold: Alignment | Gold) -> None:
    if predicted.shape != gold.shape:
        swapped = predicted.shape == gold.shape[::-1]
        remedy = "are the sentences swapped in one of them?" if swapped else "align the words of the gold"
        raise ValueError(
            "predicted has {} and {} words, gold has {} and {}; {}".format(
                *predicted.shape, *gold.shape, remedy
            )
        )
    for side in ("source", "target"):
        guessed, true = getattr(predicted, side), getattr(gold, side)
        if guessed == true:
            continue
        for k, (word, gold_word) in enumerate(zip(guessed, true, strict=True)):
            if word.casefold() != gold_word.casefold():
                raise ValueError(
                    f"{side} word {k} is {word!r} in predicted and {gold_word!r} in gold; "
                    "align the words of the gold"
                )
