"""Intervals and significance tests: matrices give the result of loops, and p-values are valid."""

from itertools import product

import numpy as np
import pytest

from otalign.metrics import (
    MEASURES,
    Counts,
    Resampling,
    compare,
    compute_intervals,
    compute_scores,
    resampling,
)
from tests.metrics.random_counts import count_pairs, two_systems

FEW = Resampling(trials=200, seed=3)


def test_a_resample_is_scored_as_if_its_pairs_were_counted_again():
    counts, _ = two_systems(30, seed=0)
    draws = np.random.default_rng(FEW.seed).integers(30, size=(FEW.trials, 30))
    found = compute_intervals(counts, MEASURES, FEW)
    for name, measure in MEASURES.items():
        values = [measure(counts[draw]) for draw in draws]
        assert (found[name].low, found[name].high) == pytest.approx(
            tuple(np.quantile(values, [0.025, 0.975]))
        )


def test_intervals_are_the_same_for_a_seed_and_whatever_the_block(monkeypatch):
    counts, other = two_systems(30, seed=0)
    assert compute_intervals(counts, ["f1"], FEW) == compute_intervals(counts, ["f1"], FEW)
    assert compute_intervals(counts, ["f1"], FEW) != compute_intervals(
        counts, ["f1"], Resampling(trials=200, seed=4)
    )
    whole = compute_intervals(counts, ["f1"], FEW)["f1"], compare(counts, other, ["f1"], FEW)["f1"]
    monkeypatch.setattr(resampling, "BLOCK", 7 * 30)
    pieces = compute_intervals(counts, ["f1"], FEW)["f1"], compare(counts, other, ["f1"], FEW)["f1"]
    assert (pieces[0].low, pieces[0].high) == pytest.approx((whole[0].low, whole[0].high))
    assert pieces[1].p_bootstrap == whole[1].p_bootstrap
    assert pieces[1].p_randomisation == whole[1].p_randomisation


def test_other_measures_do_not_change_an_answer():
    counts, other = two_systems(30, seed=0)
    assert compute_intervals(counts, ["f1"], FEW)["f1"].low == pytest.approx(
        compute_intervals(counts, MEASURES, FEW)["f1"].low
    )
    one, all_of_them = compare(counts, other, ["f1"], FEW), compare(counts, other, MEASURES, FEW)
    assert one["f1"].p_randomisation == all_of_them["f1"].p_randomisation


def test_an_interval_holds_the_score_and_narrows_with_more_pairs_and_less_confidence():
    wide, narrow = (two_systems(size, seed=1)[0] for size in (50, 800))
    widths = []
    for counts in (wide, narrow):
        interval = compute_intervals(counts, ["f1"], FEW)["f1"]
        assert interval.low < compute_scores(counts)["f1"] < interval.high
        widths.append(interval.high - interval.low)
    assert widths[1] < widths[0] / 2
    half = compute_intervals(wide, ["f1"], Resampling(200, 3, confidence=0.5))["f1"]
    assert half.high - half.low < widths[0]


def test_pairs_that_are_all_alike_leave_no_doubt():
    counts = count_pairs([({(0, 0)}, {(0, 0)}, 2, 1)] * 20)
    interval = compute_intervals(counts, ["f1"], FEW)["f1"]
    assert interval.low == pytest.approx(interval.high) == pytest.approx(compute_scores(counts)["f1"])


def test_a_system_does_not_differ_from_itself():
    counts, _ = two_systems(40, seed=2)
    for found in compare(counts, counts, MEASURES, FEW).values():
        assert found.difference == 0
        assert found.p_bootstrap == found.p_randomisation == 1


def test_comparing_the_other_way_round_negates_the_difference_and_keeps_p():
    one, other = two_systems(40, seed=2, first_right=0.70, second_right=0.75)
    there, back = compare(one, other, MEASURES, FEW), compare(other, one, MEASURES, FEW)
    for name, found in there.items():
        assert found.difference == pytest.approx(-back[name].difference)
        assert found.interval.low == pytest.approx(-back[name].interval.high)
        assert found.p_bootstrap == back[name].p_bootstrap
        assert found.p_randomisation == back[name].p_randomisation


def share_of_all_swaps(measure, one: Counts, other: Counts) -> float:
    """Return the share of the 2^N ways to swap pairs that give so large a difference."""
    observed = abs(measure(other) - measure(one))
    differences = []
    for swap in product([False, True], repeat=len(one)):
        swapped = np.array(swap)[:, None]
        first, second = np.where(swapped, other.table, one.table), np.where(swapped, one.table, other.table)
        differences.append(abs(measure(Counts(second)) - measure(Counts(first))))
    return float(np.mean(np.array(differences) >= observed - 1e-12))


def test_randomisation_comes_near_the_share_of_all_swaps():
    one, other = two_systems(8, seed=5, first_right=0.6, second_right=0.75)
    found = compare(one, other, MEASURES, Resampling(trials=20_000))
    shares = {name: share_of_all_swaps(measure, one, other) for name, measure in MEASURES.items()}
    assert 0.02 < shares["f1"] < 0.98
    assert {name: found[name].p_randomisation for name in found} == pytest.approx(shares, abs=0.015)


def test_a_system_without_nulls_causes_no_division_by_rounding_errors():
    # Means of thirds do not add up to exactly 0 when all three pairs are swapped; sums do.
    gold = {(0, 0)}
    never = count_pairs([({(0, 0), (1, 1)}, gold, 2, 2)] * 3)
    some = count_pairs([(gold, gold, 2, 2), (set(), gold, 2, 2), (gold, gold, 2, 2)])
    found = compare(never, some, MEASURES, Resampling(trials=20_000))
    shares = {name: share_of_all_swaps(measure, never, some) for name, measure in MEASURES.items()}
    assert {name: found[name].p_randomisation for name in found} == pytest.approx(shares, abs=0.015)


def test_a_clear_difference_is_seen_and_p_is_never_0():
    one, other = two_systems(200, seed=6, first_right=0.5, second_right=0.9)
    found = compare(one, other, ["f1"], FEW)["f1"]
    assert found.difference == pytest.approx(found.system - found.baseline)
    assert 0 < found.interval.low < found.difference < found.interval.high
    assert found.p_bootstrap == found.p_randomisation == 1 / 201


def test_equal_systems_differ_significantly_about_as_often_as_p_says():
    below = np.zeros(2)
    for seed in range(200):
        one, other = two_systems(40, seed, first_right=0.7, second_right=0.7)
        found = compare(one, other, ["f1"], FEW)["f1"]
        below += [found.p_bootstrap < 0.1, found.p_randomisation < 0.1]
    # 20 of 200 are expected, with a standard deviation of 4.2; the bootstrap is known to be a little bold.
    assert np.all((below > 7) & (below < 36)), below
