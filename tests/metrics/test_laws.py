"""Laws of the metrics, for every corpus, prediction and gold."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign.metrics import MEASURES, Counts, break_down, compute_scores, count_pair, score_pairs
from tests.metrics.random_counts import corpora, count_pairs, scored_pairs


def count_links(links, n, m):
    """Return the links and nulls of an alignment."""
    lonely = [("source", i) for i in range(n) if all(i != k for k, _ in links)]
    return {*links, *lonely, *(("target", j) for j in range(m) if all(j != k for _, k in links))}


def close(found: dict, expected: dict):
    assert found == pytest.approx(expected, abs=1e-12)


@given(scored_pairs())
def test_counting_is_counting_what_each_says(pair):
    predicted, gold, n, m = pair
    guess, truth = count_links(predicted, n, m), count_links(gold, n, m)
    tally = count_pair(*pair).tally("links+nulls")
    assert (tally.correct[0], tally.predicted[0], tally.gold[0]) == (
        len(guess & truth),
        len(guess),
        len(truth),
    )


@given(corpora)
def test_scores_are_between_0_and_1(pairs):
    assert all(0 <= value <= 1 for value in compute_scores(count_pairs(pairs)).values())


RATES = [name for name in MEASURES if name.split("_")[-1] in ("precision", "recall", "f1")]


@given(corpora)
def test_swapping_prediction_and_gold_swaps_precision_and_recall_and_keeps_f1(pairs):
    swapped = [(gold, predicted, n, m) for predicted, gold, n, m in pairs]
    there, back = compute_scores(count_pairs(pairs), RATES), compute_scores(count_pairs(swapped), RATES)
    swap = {"precision": "recall", "recall": "precision"}
    renamed = {"_".join(swap.get(word, word) for word in name.split("_")): v for name, v in back.items()}
    close(there, renamed)


@given(corpora)
def test_exchanging_source_and_target_changes_no_score(pairs):
    swapped = [({(j, i) for i, j in p}, {(j, i) for i, j in g}, m, n) for p, g, n, m in pairs]
    close(compute_scores(count_pairs(pairs)), compute_scores(count_pairs(swapped)))


@given(scored_pairs(), st.randoms())
def test_the_order_of_words_means_nothing(pair, random):
    predicted, gold, n, m = pair
    rows, columns = random.sample(range(n), n), random.sample(range(m), m)
    moved = [{(rows[i], columns[j]) for i, j in links} for links in (predicted, gold)]
    assert np.array_equal(count_pair(*pair).table, count_pair(*moved, n, m).table)


@given(corpora, st.randoms())
def test_the_order_of_pairs_means_nothing(pairs, random):
    close(compute_scores(count_pairs(pairs)), compute_scores(count_pairs(random.sample(pairs, len(pairs)))))


@given(corpora)
def test_repeating_a_corpus_changes_no_score(pairs):
    close(compute_scores(count_pairs(pairs)), compute_scores(count_pairs(pairs * 3)))


@given(corpora)
def test_a_pair_is_a_corpus_of_one_and_there_macro_is_micro(pairs):
    figures = score_pairs(count_pairs(pairs))
    for k, pair in enumerate(pairs):
        alone = compute_scores(count_pair(*pair))
        known = alone.keys() & figures.keys()
        close({name: figures[name][k] for name in known}, {name: alone[name] for name in known})
        for name in alone:
            assert alone[name] == pytest.approx(alone[name.removeprefix("micro_")])


@given(scored_pairs())
def test_a_pair_matches_exactly_when_nothing_is_missed_and_nothing_is_too_much(pair):
    found = compute_scores(count_pair(*pair))
    for part in ("precision", "recall"):
        assert found["exact_match"] <= found[part]
    assert found["exact_match"] == (pair[0] == pair[1]) == (found["precision"] == found["recall"] == 1)


@given(corpora)
def test_without_possible_links_aer_is_what_micro_f1_of_links_lacks(pairs):
    found = compute_scores(count_pairs(pairs))
    assert found["aer"] == pytest.approx(1 - found["micro_links_f1"], abs=1e-12)


@given(scored_pairs(), scored_pairs())
def test_aer_is_the_same_at_both_levels(pair, other):
    predicted, gold, n, m = pair
    possible = {(i, j) for i, j in other[0] if i < n and j < m}
    rows = [
        count_pair(predicted, gold, n, m, possible=possible, level=level) for level in ("sure", "possible")
    ]
    assert compute_scores(rows[0], ["aer"]) == compute_scores(rows[1], ["aer"])
    assert np.array_equal(rows[1].tally("links").gold, [len(gold | possible)])


@given(scored_pairs())
def test_phrases_are_the_connected_components_of_several_links(pair):
    rest, sizes = set(pair[1]), []
    while rest:
        group, before = {rest.pop()}, 0
        while len(group) > before:
            before = len(group)
            group |= {link for link in rest if any(link[0] == i or link[1] == j for i, j in group)}
        rest -= group
        sizes.append(len(group))
    counts = count_pair(*pair)
    assert counts.column("gold_groups")[0] == len(sizes)
    assert counts.column("phrases_gold")[0] == sum(size > 1 for size in sizes)


@given(corpora, st.sampled_from(["null_rate", "length", "phrase_share"]), st.integers(1, 10))
def test_bins_share_out_all_pairs_by_ascending_value(pairs, by, bins):
    counts = count_pairs(pairs)
    found = break_down(counts, by, bins)
    assert 1 <= len(found) <= bins
    assert sorted(map(tuple, Counts.concatenate(b.counts for b in found).table)) == sorted(
        map(tuple, counts.table)
    )
    edges = [edge for b in found for edge in (b.low, b.high)]
    assert edges == sorted(edges)
    assert all(one.high < next_one.low for one, next_one in pairwise(found))


@given(st.integers(1, 40), st.integers(1, 40))
def test_bins_of_distinct_values_differ_by_one_pair_at_most(pairs, bins):
    found = break_down(count_pairs([(set(), set(), n, 0) for n in range(pairs)]), "length", bins)
    sizes = [len(b.counts) for b in found]
    assert len(found) == min(bins, pairs)
    assert max(sizes) - min(sizes) <= 1


def test_every_measure_has_as_many_terms_for_any_number_of_pairs():
    counts = count_pair({(0, 0)}, {(0, 0)}, 2, 2)
    for measure in MEASURES.values():
        assert measure.terms(counts).shape == (1, measure.width)
