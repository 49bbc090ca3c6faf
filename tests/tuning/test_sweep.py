"""The threshold sweep gives the scores of aligning at each threshold."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign.aligner import Aligner
from otalign.encoders.chunks import EmbeddedPairs
from otalign.gold import Gold
from otalign.metrics import compute_scores, count, count_pair
from otalign.ot import Balanced, Entropic, Exact, Partial, Unbalanced
from otalign.scoring import PairBatch
from otalign.settings import Settings
from otalign.text.words import join_words
from otalign.tuning import THRESHOLDS, sweep_thresholds
from otalign.tuning.sweep import mark_batch
from tests.tuning.random_embeddings import make_embeddings, make_golds

LEVELS = ("sure", "possible")
RATES = ("precision", "recall", "f1")


def align(pairs, embeddings, settings):
    encoder = SimpleNamespace(at_once=1, int8=False)
    aligner = Aligner(encoder, settings)
    return aligner.align_chunk(EmbeddedPairs(pairs, embeddings).append_features(aligner.scorer.word_features))


def settings(**given) -> Settings:
    quick = {"solver": Entropic(max_iterations=20)}  # whether plans have converged does not matter here
    return Settings(encoder="none", layer=0, **(quick | given))


@pytest.mark.parametrize(
    "chosen",
    [
        settings(problem=Balanced()),
        settings(problem=Partial(0.6), fertility="norm"),
        settings(problem=Unbalanced(0.3), cost="euclidean", fertility="length"),
        settings(problem=None, distortion=0.0),
    ],
    ids=lambda chosen: type(chosen.problem).__name__,
)
def test_the_sweep_equals_aligning_and_scoring_at_every_threshold(chosen):
    golds = make_golds()
    embeddings = make_embeddings(golds)
    pairs = [(join_words(gold.source), join_words(gold.target)) for gold in golds]
    found = sweep_thresholds(golds, embeddings, chosen, LEVELS)
    for k, threshold in enumerate(THRESHOLDS):
        aligned = list(align(pairs, embeddings, chosen.replace(threshold=threshold)))
        for level in LEVELS:
            expected = compute_scores(count(aligned, golds, level), RATES)
            for rate in RATES:
                assert getattr(found[level], rate)[k] == pytest.approx(expected[rate], abs=1e-14)


def test_the_sweep_of_an_exact_plan_with_many_zeros_is_exact():
    pytest.importorskip("ot")
    golds = make_golds(1)
    embeddings = make_embeddings(golds)
    pairs = [(join_words(gold.source), join_words(gold.target)) for gold in golds]
    chosen = settings(problem=Partial(0.5), solver=Exact())
    found = sweep_thresholds(golds, embeddings, chosen, thresholds=(0.0, 0.5, 1.0))["sure"]
    for k, threshold in enumerate(found.thresholds):
        aligned = align(pairs, embeddings, chosen.replace(threshold=float(threshold)))
        expected = compute_scores(count(aligned, golds), RATES)
        assert found.f1[k] == pytest.approx(expected["f1"], abs=1e-14)


@given(st.integers(0, 1000), st.sampled_from([np.float32, np.float64]))
def test_a_weight_equal_to_a_threshold_is_not_above_it(seed, dtype):
    rng = np.random.default_rng(seed)
    n, m = (int(length) for length in rng.integers(1, 7, size=2))
    gold = Gold(["x"] * n, ["x"] * m, {(int(rng.integers(n)), int(rng.integers(m))) for _ in range(4)})
    weights = np.zeros((1, 8, 8), dtype=dtype)  # more than there are words
    weights[0, :n, :m] = rng.integers(0, 101, size=(n, m)) / 100
    batch = PairBatch(None, None, *(np.arange(8)[None] < length for length in (n, m)))
    part = mark_batch([0], batch, [gold], ["sure"])
    tally = part.count({"sure": weights}, np.array(THRESHOLDS))["sure"]
    for k, threshold in enumerate(THRESHOLDS):
        linked = {(int(i), int(j)) for i, j in zip(*np.nonzero(weights[0] > threshold), strict=True)}
        expected = count_pair(linked, gold.sure, n, m).tally("links+nulls")
        assert tally.correct[0, k] == expected.correct[0]
        assert tally.predicted[0, k] == expected.predicted[0]
        assert tally.gold[0, 0] == expected.gold[0]


def test_more_thresholds_change_no_value():
    golds = make_golds()
    embeddings = make_embeddings(golds)
    few = sweep_thresholds(golds, embeddings, settings(), thresholds=(0.1, 0.45, 1.0))["sure"]
    many = sweep_thresholds(golds, embeddings, settings(), thresholds=(0.0, 0.1, 0.11, 0.45, 0.6, 0.99, 1.0))[
        "sure"
    ]
    assert few.f1.tolist() == many.f1[[1, 3, 6]].tolist()


def test_the_order_of_pairs_does_not_matter():
    golds = make_golds()
    embeddings = make_embeddings(golds)
    order = np.random.default_rng(0).permutation(len(golds))
    sentences = [k for pair in order for k in (2 * pair, 2 * pair + 1)]
    vectors = np.concatenate([embeddings[int(k)] for k in sentences])
    moved = type(embeddings)(vectors, np.cumsum([0, *(len(embeddings[int(k)]) for k in sentences)]))
    one = sweep_thresholds(golds, embeddings, settings(), LEVELS)
    other = sweep_thresholds([golds[k] for k in order], moved, settings(), LEVELS)
    for level in LEVELS:
        np.testing.assert_allclose(one[level].f1, other[level].f1, atol=1e-14)
        assert one[level].best == other[level].best


def test_pairs_with_an_empty_side_are_right_at_every_threshold():
    golds = make_golds(shapes=[(0, 3), (2, 0), (0, 0)])
    found = sweep_thresholds(golds, make_embeddings(golds), settings())["sure"]
    assert found.f1.tolist() == [1.0] * len(THRESHOLDS)


def test_embeddings_of_other_words_are_refused():
    golds = make_golds()
    with pytest.raises(ValueError, match="embeddings must be of the words of the 11 golds"):
        sweep_thresholds(golds[1:], make_embeddings(golds), settings())
