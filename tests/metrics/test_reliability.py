"""Reliability: bins hold all values, and the error is that of the definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign.metrics.reliability import Reliability

outcomes = st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=40)


def make_reliability(pairs) -> Reliability:
    return Reliability.from_outcomes([p for p, _ in pairs], [so for _, so in pairs])


@given(outcomes)
def test_nothing_is_lost_between_the_bins(pairs):
    found = make_reliability(pairs)
    assert found.counts.sum() == len(pairs)
    assert found.expected.sum() == pytest.approx(sum(p for p, _ in pairs))
    assert found.observed.sum() == sum(so for _, so in pairs)
    some = found.counts > 0
    assert (np.floor(found.probability[some] * 10 - 1e-9) <= np.flatnonzero(some)).all()
    assert np.isnan(found.share[~some]).all()


@given(outcomes, outcomes)
def test_parts_add_up_to_the_whole(some, others):
    whole, added = make_reliability(some + others), make_reliability(some) + make_reliability(others)
    for name in ("counts", "expected", "observed", "error"):
        assert getattr(added, name) == pytest.approx(getattr(whole, name))


@given(outcomes)
def test_the_error_is_the_mean_gap_of_bins_weighted_by_their_counts(pairs):
    gaps = []
    for k in range(10):
        here = [(p, so) for p, so in pairs if min(int(p * 10), 9) == k]
        if here:
            gaps.append(
                len(here) / len(pairs) * abs(np.mean([p for p, _ in here]) - np.mean([s for _, s in here]))
            )
    assert make_reliability(pairs).error == pytest.approx(sum(gaps))


def test_probabilities_that_are_facts_have_no_error_and_their_opposites_all():
    facts = [0, 1, 1, 0]
    assert Reliability.from_outcomes(facts, facts).error == 0
    assert Reliability.from_outcomes(facts, [1 - fact for fact in facts]).error == 1


def test_facts_drawn_as_the_probabilities_say_make_little_error():
    rng = np.random.default_rng(0)
    p = rng.random(20_000)
    assert Reliability.from_outcomes(p, rng.random(p.size) < p).error < 0.02
    assert Reliability.from_outcomes(p, rng.random(p.size) < p**3).error > 0.2


@given(outcomes)
def test_it_comes_back_from_json(pairs):
    found = make_reliability(pairs)
    assert Reliability.from_dict(found.to_dict()).to_dict() == found.to_dict()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5], [1, 0]), "probabilities and outcomes must have one length, got 1 and 2"),
        (([1.5], [1]), "probabilities must be from 0 to 1, got 1.5"),
        (([0.5], [1], 0), "bins must be at least 1, got 0"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Reliability.from_outcomes(*arguments)
