"""Calibration: what it finds, and that probabilities are truer for it."""

from dataclasses import replace

import numpy as np
import pytest

from otalign.training.batches import PairSet
from otalign.training.calibration import UNCHANGED, _fitted, _links, _nulls, _seen, calibrated
from otalign.training.dev import DevSet
from otalign.weights import link_probabilities

from .examples import EMPTY, GOLDS
from .test_batches import encoder_of, model_of


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def log_loss(p, facts) -> float:
    return float(-np.log(np.clip(np.where(facts > 0, p, 1 - p), 1e-12, 1)).mean())


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (0.3, -2.0), (4.0, 1.5), (0.05, -4.0)])
def test_a_known_scale_and_shift_are_found_again(scale, shift):
    random = np.random.default_rng(0)
    odds = random.normal(scale=3, size=200_000)
    facts = (random.random(len(odds)) < sigmoid(scale * odds + shift)).astype(float)
    np.testing.assert_allclose(_fitted(odds, facts), [scale, shift], atol=0.1)


@pytest.mark.parametrize("size", [1, 2, 50])
@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_facts_that_are_alike_or_foretold_without_a_fault_change_nothing(size, scale):
    odds = np.random.default_rng(size).normal(scale=scale, size=size)
    for facts in (np.zeros(size), np.ones(size), odds > odds.mean(), odds < odds.mean()):
        np.testing.assert_array_equal(_fitted(odds, facts.astype(float)), UNCHANGED)
    halves = (np.arange(size) % 2).astype(float)
    np.testing.assert_array_equal(_fitted(np.full(size, scale), halves), UNCHANGED)  # nothing to tell by


def test_probabilities_are_truer_when_calibrated(tiny_model):
    model = model_of(encoder_of(tiny_model("bert")))
    start = model.head_in_numpy()
    wild = replace(start, gamma=np.array([3.0, -4.0], np.float32), alpha=np.array([2.0, 2.0], np.float32))
    model.set_head(wild)
    dev = DevSet.of(PairSet([*GOLDS, *EMPTY], encoder_of(tiny_model("bert"))), ("s", "s+p"))
    head = calibrated(model, [dev])
    assert not np.allclose(head.calibration, wild.calibration)
    seen = list(_seen(model, dev))
    for level in (0, 1):
        odds, facts = _links(seen, level)
        before, after = (
            log_loss(sigmoid(one.calibration[0, level] * odds + one.calibration[1, level]), facts)
            for one in (wild, head)
        )
        assert after < before
        odds, facts = _nulls(seen, head.calibration, level)
        before, after = (
            log_loss(sigmoid(one.null_calibration[0, level] * odds + one.null_calibration[1, level]), facts)
            for one in (wild, head)
        )
        assert after <= before
    # On the whole, as many links are expected as there are.
    (one,) = seen
    expected = link_probabilities(one.log_odds, one.cells, head.calibration, "possible").sum()
    assert expected == pytest.approx(one.links[1].sum(), rel=1e-3)


def test_calibration_leaves_what_was_trained_as_it_was(tiny_model):
    model = model_of(encoder_of(tiny_model("bert")))
    dev = DevSet.of(PairSet(GOLDS, encoder_of(tiny_model("bert"))), ("s", "s+p"))
    before, after = model.head_in_numpy(), calibrated(model, [dev])
    for name, array in before.arrays().items():
        if "calibration" not in name:
            np.testing.assert_array_equal(getattr(after, name), array)
    model.set_head(after)
    for name, array in after.arrays().items():
        np.testing.assert_array_equal(getattr(model.head_in_numpy(), name), array)
