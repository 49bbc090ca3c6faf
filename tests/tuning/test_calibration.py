"""Calibration: the fitted parameters, and better calibrated probabilities."""

from dataclasses import replace

import numpy as np
import pytest

from otalign import Aligner, encoders
from otalign.scoring.heads import TransportHead
from otalign.scoring.learned import calibrate as calibrated_odds
from otalign.scoring.learned import compute_link_probabilities
from otalign.settings import LearnedSettings
from otalign.tuning.calibration import (
    IDENTITY,
    DevLogits,
    _choose_threshold,
    _collect_links,
    _collect_nulls,
    _fit_calibration,
    calibrate,
    calibrate_head,
)
from otalign.tuning.sweep import THRESHOLDS, Curve
from tests.training.examples import EMPTY, GOLDS

SETTINGS = LearnedSettings(encoder="tiny", layer=3)


def make_aligner(folder) -> Aligner:
    encoder = encoders.load(folder, 3, device="cpu")
    head = TransportHead.initialize(16, np.random.default_rng(0))
    wild = replace(head, gamma=np.array([3.0, -4.0], np.float32), alpha=np.array([2.0, 2.0], np.float32))
    return Aligner(encoder, SETTINGS, head=wild)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def log_loss(p, facts) -> float:
    return float(-np.log(np.clip(np.where(facts > 0, p, 1 - p), 1e-12, 1)).mean())


@pytest.mark.parametrize(
    "known",
    [(1.0, 0.0, 0.0, 0.0), (0.3, 0.0, -2.0, 0.0), (0.5, 0.0, 0.5, -0.3), (1.0, 0.0, 1.0, 0.2)],
)
def test_a_known_calibration_is_found_again(known):
    random = np.random.default_rng(0)
    odds = random.normal(scale=4, size=400_000)
    facts = (random.random(len(odds)) < sigmoid(calibrated_odds(odds, np.array(known)))).astype(float)
    np.testing.assert_allclose(
        calibrated_odds(np.linspace(-8, 8), _fit_calibration([(odds, facts)])),
        calibrated_odds(np.linspace(-8, 8), np.array(known)),
        atol=0.15,
    )


def test_negative_logits_without_links_have_a_slope_that_is_finite():
    logits = np.random.default_rng(0).normal(scale=4, size=10_000)
    links = (logits > np.random.default_rng(1).exponential(scale=2, size=len(logits))).astype(float)
    scale, bend, _, tilt = _fit_calibration([(logits, links)])
    assert bend == 0
    assert 0 < scale + tilt < 5
    assert 1 < scale - tilt < 5


def test_calibration_keeps_the_order_of_probabilities():
    """Even where the few labels at the ends are reversed."""
    random = np.random.default_rng(0)
    odds = np.concatenate([random.normal(scale=1, size=5000), random.normal(scale=20, size=200)])
    so = sigmoid(np.where(abs(odds) > 10, -odds, odds))
    facts = (random.random(len(odds)) < so).astype(float)
    found = calibrated_odds(np.linspace(-50, 50, 1001), _fit_calibration([(odds, facts)]))
    assert (np.diff(found) >= 0).all()


@pytest.mark.parametrize("size", [1, 2, 50])
@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_labels_that_are_equal_or_separable_change_nothing(size, scale):
    odds = np.random.default_rng(size).normal(scale=scale, size=size)
    for facts in (np.zeros(size), np.ones(size), odds > odds.mean(), odds < odds.mean()):
        np.testing.assert_array_equal(_fit_calibration([(odds, facts.astype(float))]), IDENTITY)
    halves = (np.arange(size) % 2).astype(float)
    np.testing.assert_array_equal(
        _fit_calibration([(np.full(size, scale), halves)]), IDENTITY
    )  # nothing to distinguish them by


def test_dev_sets_count_alike_whatever_their_size():
    random = np.random.default_rng(0)
    sets = []
    for shift in (-1, 1):
        odds = random.normal(scale=3, size=20_000)
        sets.append((odds, (random.random(len(odds)) < sigmoid(odds + shift)).astype(float)))
    expected = _fit_calibration(sets)
    repeated = tuple(np.tile(part, 5) for part in sets[1])
    np.testing.assert_allclose(_fit_calibration([sets[0], repeated]), expected, atol=1e-4)
    assert abs(expected[2]) < 0.1


def test_probabilities_are_truer_when_calibrated(tiny_model):
    aligner = make_aligner(tiny_model("bert"))
    wild, dev = aligner.head, DevLogits.compute(aligner, [*GOLDS, *EMPTY])
    assert isinstance(wild, TransportHead)
    head, seen = calibrate_head(wild, [dev]), dev.batches
    assert not np.allclose(head.calibration, wild.calibration)
    for level in (0, 1):
        odds, facts = _collect_links(seen, level)
        before, after = (
            log_loss(sigmoid(calibrated_odds(odds, one.calibration[:, level])), facts) for one in (wild, head)
        )
        assert after < before
        odds, facts = _collect_nulls(seen, head.calibration, level)
        before, after = (
            log_loss(sigmoid(calibrated_odds(odds, one.null_calibration[:, level])), facts)
            for one in (wild, head)
        )
        assert after <= before
    # The expected number of links is the actual one.
    expected = sum(
        compute_link_probabilities(one.logits, one.cells, head.calibration, "possible").sum() for one in seen
    )
    assert expected == pytest.approx(sum(one.get_links(1).sum() for one in seen), rel=1e-3)


def test_a_calibrated_aligner_scores_as_its_curves_say(tiny_model):
    from otalign.metrics import compute_scores, count

    golds = [*GOLDS, *EMPTY]
    aligner, curves = calibrate(make_aligner(tiny_model("bert")), {"all": golds})
    pairs = [(gold.source, gold.target) for gold in golds]
    for links, level in (("sure", "sure"), ("possible", "possible")):
        at_level = replace(aligner, settings=aligner.settings.replace(links=links))
        found = compute_scores(count(at_level.align_many(pairs), golds, level), ["precision", "recall"])
        curve = curves["all"][level]
        assert found["precision"] == pytest.approx(curve.precision[curve.best])
        assert found["recall"] == pytest.approx(curve.recall[curve.best])


def test_what_was_trained_stays_as_it_was(tiny_model):
    aligner = make_aligner(tiny_model("bert"))
    after, _ = calibrate(aligner, {"some": GOLDS[:4], "rest": GOLDS[4:]})
    assert aligner.head
    assert after.head
    for name, array in aligner.head.arrays().items():
        if "calibration" not in name:
            np.testing.assert_array_equal(getattr(after.head, name), array)


def test_a_hysteresis_is_chosen_where_it_raises_f1_and_only_there():
    none, some, most = ({"dev": {"sure": make_curve(f1)}} for f1 in (0.8, 0.9, 0.86))
    assert _choose_threshold({0.0: none, 0.2: some, 0.3: most, 0.4: none}, "sure") == (0.01, 0.3)
    assert _choose_threshold({0.0: some, 0.2: some, 0.3: most}, "sure") == (0.01, 0.0)
    assert _choose_threshold({0.0: none, 0.2: some}, "possible") is None
    assert _choose_threshold({0.0: {}, 0.2: {}}, "sure") is None


def make_curve(f1: float) -> Curve:
    """Return the curve of an F1 that is highest at the second threshold."""
    values = np.where(np.arange(len(THRESHOLDS)) == 1, f1, 0.5)
    return Curve(np.array(THRESHOLDS), values, values)
