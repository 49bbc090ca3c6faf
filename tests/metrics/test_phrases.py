"""Phrase scores: a brute-force oracle, and the laws that the strict and the soft ones obey."""

from fractions import Fraction as F
from itertools import product

import numpy as np
from hypothesis import given, settings

from otalign.metrics import compute_scores, count_pair
from tests.metrics.random_counts import scored_pairs

RATES = ("precision", "recall", "f1")


def find_blocks(links):
    """Return the word pairs of each connected group of several links, by growing it link by link."""
    rest, blocks = set(links), set()
    while rest:
        group, before = {rest.pop()}, 0
        while len(group) > before:
            before = len(group)
            group |= {link for link in rest if any(link[0] == i or link[1] == j for i, j in group)}
        rest -= group
        if len(group) > 1:
            blocks.add(frozenset(product({i for i, _ in group}, {j for _, j in group})))
    return blocks


def sum_overlaps(blocks, others):
    overlaps = ([F(2 * len(one & other), len(one) + len(other)) for other in others] for one in blocks)
    return sum(max(found, default=F(0)) for found in overlaps)


@given(scored_pairs())
@settings(max_examples=50)
def test_phrases_are_counted_as_by_brute_force(pair):
    predicted, gold, *_ = pair
    guessed, true, counts = find_blocks(predicted), find_blocks(gold), count_pair(*pair)
    tally = counts.tally("phrases")
    assert (tally.correct[0], tally.predicted[0], tally.gold[0]) == (
        len(guessed & true),
        len(guessed),
        len(true),
    )
    precision, recall = counts.soft_tallies()
    assert np.isclose(precision.correct[0], float(sum_overlaps(guessed, true)), atol=1e-5)
    assert np.isclose(recall.correct[0], float(sum_overlaps(true, guessed)), atol=1e-5)


@given(scored_pairs())
@settings(max_examples=50)
def test_soft_scores_are_between_the_strict_ones_and_one_and_do_not_depend_on_the_side(pair):
    predicted, gold, n, m = pair
    found = compute_scores(count_pair(*pair))
    swapped = compute_scores(count_pair({(j, i) for i, j in predicted}, {(j, i) for i, j in gold}, m, n))
    for average, rate in product(("", "micro_"), RATES):
        strict, soft = f"{average}phrases_{rate}", f"{average}soft_phrases_{rate}"
        assert 0 <= found[strict] <= found[soft] + 1e-12 <= 1 + 2e-12
        assert (found[strict], found[soft]) == (swapped[strict], swapped[soft])


@given(scored_pairs())
@settings(max_examples=20)
def test_a_prediction_that_is_the_gold_has_all_of_its_phrases(pair):
    found = compute_scores(count_pair(pair[1], pair[1], *pair[2:]))
    assert {value for name, value in found.items() if "phrases" in name} == {1.0}


def test_a_phrase_that_lacks_a_word_counts_by_its_overlap_alone():
    gold, predicted = {(0, 0), (0, 1), (0, 2)}, {(0, 0), (0, 1)}
    found = compute_scores(count_pair(predicted, gold, 1, 3))
    assert found["phrases_f1"] == 0
    assert np.isclose(found["soft_phrases_f1"], 0.8)  # 2 · 2 / (2 + 3)
