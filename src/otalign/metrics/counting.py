"""Counting: from two sets of links and two lengths to the counts of a sentence pair.

A word without a link is null, so that nothing else about the sentences matters. A prediction and a gold with
different words are refused, since their links would not mean the same.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from itertools import zip_longest

import numpy as np

from otalign.alignment import Alignment, Level
from otalign.gold import Gold
from otalign.metrics.counts import COLUMNS, OVERLAP_UNIT, Counts, check_level
from otalign.phrases import PhraseLink, find_phrase_links

Pairs = Collection[tuple[int, int]]


def count_pair(
    predicted: Pairs, gold: Pairs, n: int, m: int, *, possible: Pairs = (), level: Level = "sure"
) -> Counts:
    """Count the links and nulls of one pair.

    Args:
        predicted: Predicted links.
        gold: Gold links; the sure ones if there are `possible` ones.
        n: Number of source words.
        m: Number of target words.
        possible: Possible links of the gold.
        level: Level of the gold to count at.

    Returns:
        Counts of one pair.

    Raises:
        ValueError: If a link is outside the sentences, or the level is unknown.

    Example:
        >>> from otalign.metrics import count_pair
        >>> tally = count_pair([(0, 0), (1, 1)], [(0, 0)], n=2, m=2).tally("links")
        >>> float(tally.precision[0]), float(tally.recall[0])
        (0.5, 1.0)
    """
    check_level(level)
    row = _count_row(frozenset(predicted), frozenset(gold), frozenset(possible), (n, m), level)
    return Counts(np.array([row]), level)


def count(predicted: Iterable[Alignment], gold: Iterable[Alignment | Gold], level: Level = "sure") -> Counts:
    """Count the links and nulls of a corpus, pair by pair.

    Args:
        predicted: Predicted alignments.
        gold: Gold of the same sentences, equal word for word except for case. Gold without levels is sure.
        level: Level of the gold to count at.

    Returns:
        Counts of all pairs.

    Raises:
        ValueError: If the sentences differ in number, length or words.
        TypeError: If something is no alignment.

    Example:
        >>> from otalign import Alignment, Link
        >>> from otalign.metrics import count, compute_scores
        >>> gold = Alignment(("a", "house"), ("ein", "Haus"), (Link(0, 0), Link(1, 1)))
        >>> compute_scores(count([gold], [gold]), ["f1"])
        {'f1': 1.0}
    """
    check_level(level)
    for name, given in (("predicted", predicted), ("gold", gold)):
        if isinstance(given, Alignment | Gold):
            raise TypeError(f"{name} must be a list with an alignment for each pair, got a single alignment")
    rows, pairs, missing = [], zip_longest(predicted, gold), None
    for k, (guess, truth) in enumerate(pairs):
        if guess is missing or truth is missing:
            longer = k + 1 + sum(1 for _ in pairs)
            sizes = (k, longer) if guess is missing else (longer, k)
            raise ValueError(
                "predicted and gold must hold the same pairs, got {} and {}; "
                "a pair without links must still have an entry".format(*sizes)
            )
        if not (isinstance(guess, Alignment) and isinstance(truth, Alignment | Gold)):
            kinds = f"{type(guess).__name__} and {type(truth).__name__}"
            raise TypeError(
                f"pair {k}, counted from 0: an Alignment is scored against an Alignment or Gold, got {kinds}"
            )
        try:
            _check_same_sentences(guess, truth)
            rows.append(_count_row(guess.pairs, *_split_levels(truth), truth.shape, level))
        except ValueError as error:
            raise ValueError(f"pair {k}, counted from 0: {error}") from None
    return Counts(np.array(rows, dtype=np.int64).reshape(len(rows), len(COLUMNS)), level)


def _split_levels(gold: Alignment | Gold) -> tuple[frozenset, frozenset]:
    if isinstance(gold, Gold):
        return gold.sure, gold.possible
    return gold.pairs, frozenset()


def _count_row(
    predicted: frozenset, sure: frozenset, possible: frozenset, shape: tuple[int, int], level: Level
) -> tuple[int, ...]:
    """Count one pair, in the order of `COLUMNS`."""
    allowed = sure | possible
    gold = allowed if level == "possible" else sure
    for name, links in (("predicted", predicted), ("gold", allowed)):
        _check_range(name, links, shape)
    row = [*shape, len(predicted & gold), len(predicted), len(gold)]
    for side, length in enumerate(shape):
        guessed, true = ({link[side] for link in links} for links in (predicted, gold))
        row += [length - len(guessed | true), length - len(guessed), length - len(true)]
    row += [len(sure), len(predicted & sure), len(predicted & allowed)]
    return (*row, *_count_phrases(predicted, gold))


def _count_phrases(predicted: frozenset, gold: frozenset) -> tuple[int, ...]:
    """Count the gold's groups of links; then phrases that are correct, predicted and gold, and overlaps."""
    guessed, true = _find_phrases(predicted), _find_phrases(gold)
    groups = len(true) + len(gold) - len(gold & {pair for phrase in true for pair in phrase.pairs})
    correct = len({phrase[:2] for phrase in guessed} & {phrase[:2] for phrase in true})
    overlaps = (_sum_overlaps(guessed, true), _sum_overlaps(true, guessed))
    return groups, correct, len(guessed), len(true), *overlaps


def _find_phrases(links: frozenset) -> tuple[PhraseLink, ...]:
    """Find the phrases with more than two words; most words have one link and are passed over."""
    sources, targets = (Counter(link[side] for link in links) for side in (0, 1))
    return find_phrase_links((i, j, 1.0) for i, j in links if sources[i] > 1 or targets[j] > 1)


def _sum_overlaps(phrases: Collection[PhraseLink], others: Collection[PhraseLink]) -> int:
    """Sum the best overlap of each phrase with one of the others, in units of 1 / OVERLAP_UNIT."""
    return sum(max((_compute_overlap(one, other) for other in others), default=0) for one in phrases)


def _compute_overlap(one: PhraseLink, other: PhraseLink) -> int:
    """Compute Dice's coefficient of the word pairs of two phrases: 1 if they are equal."""
    source, target = len({*one.source} & {*other.source}), len({*one.target} & {*other.target})
    sizes = (len(phrase.source) * len(phrase.target) for phrase in (one, other))
    return 2 * source * target * OVERLAP_UNIT // sum(sizes)


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
