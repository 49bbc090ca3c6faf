"""Scorers: probabilities of links and nulls, and the scores of transport plans."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign.ot import Balanced, Entropic, Partial, Unbalanced
from otalign.scoring import LearnedScorer, PairBatch, extract_links, make_scorer
from otalign.scoring.completion import SPAN, complete_phrases, compute_span_cosines
from otalign.scoring.learned import compute_link_probabilities, compute_null_logits
from otalign.scoring.mutuality import scale_by_mutuality
from otalign.settings import LearnedSettings, Settings
from tests.scoring.random_heads import make_batch, make_projection_head, make_transport_head

LEARNED = LearnedSettings(encoder="", layer=0)
PLAIN = Settings(encoder="", layer=0, centring=False)


@given(st.integers(0, 2**32), st.floats(-8, 8), st.floats(-8, 8))
def test_what_is_sure_is_possible_and_all_is_a_probability(seed, sure, possible):
    random = np.random.default_rng(seed)
    odds = random.normal(scale=20, size=(2, 3, 4, 5))
    cells = random.random((3, 4, 5)) < 0.8
    calibration = np.array([[1.0, 0.7], [0.2, 0.0], [sure, possible], [0.0, 0.3]])
    found = [compute_link_probabilities(odds, cells, calibration, level) for level in ("sure", "possible")]
    assert (found[0] <= found[1]).all()
    for links in found:
        assert ((links >= 0) & (links <= 1)).all()
        assert (links[~cells] == 0).all()


@pytest.mark.parametrize("seed", range(5))
def test_all_weights_of_a_head_are_from_0_to_1(seed):
    batch, head = make_batch(seed=seed), make_transport_head(seed)
    sure, possible = (LearnedScorer(head, level).score(batch) for level in ("sure", "possible"))
    assert (sure.links <= possible.links).all()
    for found in (
        sure,
        possible,
        make_scorer(PLAIN.replace(problem=Unbalanced(0.5)), make_projection_head(seed)).score(batch),
    ):
        for part in found[:3]:
            assert ((part >= 0) & (part <= 1)).all()
            assert np.isfinite(part).all()


@given(st.integers(0, 2**32), st.floats(0.01, 1))
def test_a_null_is_less_probable_the_more_probable_the_links(seed, share):
    random = np.random.default_rng(seed)
    links = random.random((2, 4, 5)) * random.random()
    more = links.copy()
    more[0, 1, 2] += share * (1 - more[0, 1, 2])
    for axis, word in ((2, 1), (1, 2)):
        before, after = compute_null_logits(links, axis), compute_null_logits(more, axis)
        assert np.isfinite(before).all()
        assert np.isfinite(after).all()
        assert after[0, word] <= before[0, word]
        np.testing.assert_array_equal(after[1], before[1])


def test_words_without_any_chance_of_a_link_are_null_and_those_with_a_sure_one_are_not():
    odds = compute_null_logits(np.array([[[0.0, 0.0], [1.0, 0.0], [0.5, 0.0]]]), 2)
    assert odds[0, 0] > 15
    assert odds[0, 1] < -15
    assert odds[0, 2] == pytest.approx(0.0, abs=1e-6)


def test_a_pair_may_be_without_links_only_where_links_are_probabilities():
    batch = make_batch()
    distant = make_transport_head(gamma=np.full(2, -90.0, np.float32))
    for found in extract_links(make_scorer(LEARNED, distant).score(batch), batch, 0.5):
        assert found.links == ()
    for found in extract_links(make_scorer(PLAIN.replace(problem=Partial(1.0))).score(batch), batch, 0.5):
        assert found.links


def test_the_level_is_that_of_the_settings():
    batch, head = make_batch(), make_transport_head()
    for level in ("sure", "possible"):
        found = make_scorer(LEARNED.replace(links=level), head).score(batch)
        for one, other in zip(found[:3], LearnedScorer(head, level).score(batch)[:3], strict=True):
            np.testing.assert_array_equal(one, other)


def test_torch_gives_the_same_probabilities():
    torch = pytest.importorskip("torch")
    from tests.scoring.random_heads import to_torch

    batch, head = make_batch(), make_transport_head()
    lent = LearnedScorer(head, "sure").to_device(torch.tensor(batch.X)).score(to_torch(batch))
    for one, other in zip(lent[:3], LearnedScorer(head, "sure").score(batch)[:3], strict=True):
        np.testing.assert_allclose(one.numpy(), other, atol=1e-5)


def draw_pairs(seed: int) -> tuple[np.ndarray, PairBatch]:
    """Draw scores of links, most of them 0, and a batch of two pairs."""
    random = np.random.default_rng(seed)
    links = random.random((2, 4, 5)) * (random.random((2, 4, 5)) < 0.3)
    X, Y = random.normal(size=(2, 4, 3)) + 1, random.normal(size=(2, 5, 3)) + 1
    return links, PairBatch(X, Y, np.ones((2, 4), bool), np.ones((2, 5), bool))


@given(st.integers(0, 2**32), st.floats(0, 1))
def test_completion_raises_scores_of_free_words_near_links_and_no_others(seed, weight):
    links, batch = draw_pairs(seed)
    masses = batch.X[..., 0] ** 2, batch.Y[..., 0] ** 2
    similarity = np.random.default_rng(seed).random(links.shape)
    completed = complete_phrases(links, similarity, compute_span_cosines(batch), masses, weight)
    assert ((completed >= links) & (completed <= 1)).all()
    for pair, i, j in np.argwhere(completed > links):
        rows, columns = (slice(max(0, k - 2), k + 3) for k in (i, j))
        assert max(links[pair, rows, j].max(), links[pair, i, columns].max()) > 0
        assert links[pair, i].max() < 1 or links[pair, :, j].max() < 1
    reverse = compute_span_cosines(PairBatch(batch.Y, batch.X, batch.is_target, batch.is_source))
    flipped = complete_phrases(links.swapaxes(1, 2), similarity.swapaxes(1, 2), reverse, masses[::-1], weight)
    np.testing.assert_allclose(flipped.swapaxes(1, 2), completed)


@given(st.integers(0, 2**32))
def test_the_cosine_of_a_span_is_that_of_the_sum_of_its_vectors(seed):
    _, batch = draw_pairs(seed)
    found = compute_span_cosines(batch)
    for length in range(1, SPAN + 1):
        for i, j in np.ndindex(4, 5):
            alone = batch.Y[0, j] / np.linalg.norm(batch.Y[0, j])
            span = batch.X[0, i : i + length].sum(axis=0) / np.linalg.norm(
                batch.X[0, i : i + length].sum(axis=0)
            )
            expected = alone @ span if i + length <= 4 else -np.inf
            assert found.source[length - 1][0, i, j] == pytest.approx(expected)


def test_a_word_joins_the_link_of_its_neighbour_if_both_together_are_as_similar():
    up, down, aside = np.array([1.0, 1.0, 0.0]), np.array([1.0, -1.0, 0.0]), np.array([0.0, 0.0, 3.0])
    links, similarity = np.zeros((1, 3, 1)), np.ones((1, 3, 1))
    links[0, 1, 0] = 1.0
    whole = np.array([[[1.0, 0.0, 0.0]]])  # the sum of up and down
    for words, joins in (([down, up, aside], [True, False]), ([aside, up, aside], [False, False])):
        batch = PairBatch(np.array([words]), whole, np.ones((1, 3), bool), np.ones((1, 1), bool))
        completed = complete_phrases(links, similarity, compute_span_cosines(batch), None, 0.5)
        assert (completed[0, [0, 2], 0] > 0).tolist() == joins
        assert completed[0, 1, 0] == 1.0


@given(st.integers(0, 2**32), st.floats(0.01, 1))
def test_mutuality_lowers_scores_and_keeps_those_of_pairs_whose_words_all_prefer_each_other(seed, weight):
    links, batch = draw_pairs(seed)
    scaled = scale_by_mutuality(links, compute_span_cosines(batch).source[0], batch, weight)
    assert ((scaled >= 0) & (scaled <= links)).all()
    same = batch._replace(Y=batch.X, is_target=batch.is_source)
    diagonal = np.broadcast_to(np.eye(4), (2, 4, 4))
    cosines = compute_span_cosines(same).source[0]
    np.testing.assert_allclose(scale_by_mutuality(diagonal, cosines, same, weight), diagonal)


def test_sentences_with_nothing_in_common_get_lower_scores():
    links, one = np.eye(2)[None], np.ones((1, 2), bool)
    cosines = {"alike": [[0.9, 0.1], [0.1, 0.9]], "unlike": [[0.2, 0.1], [0.3, 0.2]]}
    batch = PairBatch(np.zeros((1, 2, 1)), np.zeros((1, 2, 1)), one, one)
    alike, unlike = (scale_by_mutuality(links, np.array([values]), batch, 1.0) for values in cosines.values())
    np.testing.assert_allclose(alike, links)
    assert unlike.max() < 0.9


@pytest.mark.parametrize(
    "settings", [{"order": 0.1}, {"structure": 0.2}, {"structure": 0.2, "mutuality": 1.0, "completion": 0.5}]
)
@pytest.mark.parametrize("problem", [Balanced(), Partial(0.8), Unbalanced(0.5)], ids=repr)
@pytest.mark.parametrize("fertility", ["uniform", "norm"])
def test_scores_with_priors_depend_neither_on_padding_nor_on_the_library(settings, problem, fertility):
    torch = pytest.importorskip("torch")
    solver = Entropic(tol=1e-9, max_iterations=10_000)
    scorer = make_scorer(PLAIN.replace(problem=problem, solver=solver, fertility=fertility, **settings))
    batch = make_batch(seed=3)
    found = scorer.score(batch).links
    in_torch = scorer.score(PairBatch(*map(torch.from_numpy, batch))).links
    np.testing.assert_allclose(in_torch, found, atol=1e-6)
    for k, (n, m) in enumerate(zip(batch.is_source.sum(1), batch.is_target.sum(1), strict=True)):
        if n and m:
            sides = batch.X[k : k + 1, :n], batch.Y[k : k + 1, :m]
            alone = PairBatch(*sides, batch.is_source[k : k + 1, :n], batch.is_target[k : k + 1, :m])
            np.testing.assert_allclose(scorer.score(alone).links[0], found[k, :n, :m], atol=1e-6)
    weak = make_scorer(PLAIN.replace(problem=problem, solver=solver, fertility=fertility)).score(batch).links
    assert not np.allclose(weak, found, atol=1e-3)
