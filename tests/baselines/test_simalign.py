"""SimAlign compared with a reference implementation, and with its own package if that is installed."""

import sys
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from otalign.baselines.simalign import (
    ArgMax,
    IterMax,
    MaximumMatching,
    SimAlign,
    apply_distortion,
    compute_link_entropy,
    compute_similarity,
)
from tests.baselines import reference

shapes = st.tuples(st.integers(1, 7), st.integers(1, 7))
similarities = arrays(np.float64, shapes, elements=st.floats(0.01, 1))
ties = arrays(np.float64, shapes, elements=st.sampled_from([0.0, 0.25, 0.5, 1.0]))
MATCHINGS = [ArgMax(), IterMax(), IterMax(rounds=4), IterMax(discount=0.5)]


def random_similarities(count, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.random((n, m)) for n, m in rng.integers(1, 12, size=(count, 2))]


@given(similarities | ties, st.integers(1, 4), st.sampled_from([0, 0.4, 0.5, 0.9, 1]), st.floats(0, 1))
def test_links_are_those_of_the_plain_loops(S, rounds, discount, distortion):
    M = reference.apply_distortion(S.tolist(), distortion)
    assert SimAlign(ArgMax(), distortion).align(S) == reference.link_mutual_argmax(M)
    assert SimAlign(IterMax(rounds, discount), distortion).align(S) == reference.itermax(M, rounds, discount)


@given(similarities)
def test_every_round_adds_links_to_those_of_argmax(S):
    links = [SimAlign(ArgMax()).align(S), *(SimAlign(IterMax(rounds)).align(S) for rounds in (1, 2, 3, 4))]
    assert links[0] == links[1]
    for fewer, more in pairwise(links):
        assert fewer <= more


@pytest.mark.parametrize("matching", MATCHINGS)
def test_swapping_the_sentences_transposes_the_links(matching):
    for S in random_similarities(100):
        made = SimAlign(matching, distortion=0.3, threshold=0.95).align(S)
        swapped = SimAlign(matching, distortion=0.3, threshold=0.95).align(S.T)
        assert {(j, i) for i, j in swapped} == made


@pytest.mark.parametrize("matching", MATCHINGS)
def test_scaling_all_similarities_changes_nothing(matching):
    for S in random_similarities(50):
        aligner = SimAlign(matching, distortion=0.2, threshold=0.9)
        assert aligner.align(S) == aligner.align(8 * S)


def test_match_gives_the_heaviest_full_matching():
    pytest.importorskip("scipy", reason="MaximumMatching() needs SciPy")
    rng = np.random.default_rng(1)
    for n, m in [(1, 1), (3, 3), (2, 5), (5, 2), (4, 6)]:
        S = rng.random((n, m))
        links = SimAlign(MaximumMatching()).align(S)
        assert len(links) == min(n, m) == len({i for i, _ in links}) == len({j for _, j in links})
        short, long = sorted((n, m))
        T = S if n <= m else S.T
        best = max(sum(T[range(short), p]) for p in permutations(range(long), short))
        assert sum(S[i, j] for i, j in links) == pytest.approx(best)


def test_match_without_scipy_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(ImportError, match="pip install scipy"):
        SimAlign(MaximumMatching()).align(np.eye(2))


@given(similarities)
def test_entropies_are_those_of_the_plain_loops(S):
    n, m = S.shape
    found = compute_link_entropy(S)
    for i in range(n):
        for j in range(m):
            row = reference.compute_entropy(S[i]) if m > 1 else 0
            column = reference.compute_entropy(S[:, j]) if n > 1 else 0
            assert found[i, j] == pytest.approx(min(row, column), abs=1e-12)


def test_a_lower_threshold_drops_links_and_never_adds_any():
    for S in random_similarities(50):
        links = [SimAlign(threshold=threshold).align(S) for threshold in (1.0, 0.97, 0.9, 0.8, 0.0)]
        for more, fewer in pairwise(links):
            assert fewer <= more
    assert SimAlign(threshold=0.5).align(np.full((4, 4), 0.3)) == frozenset()
    assert SimAlign(threshold=0.5).align(np.eye(3)) == {(0, 0), (1, 1), (2, 2)}


def test_a_percentile_keeps_its_share_of_the_links():
    S = [matrix for matrix in random_similarities(300) if min(matrix.shape) > 1]
    aligner = SimAlign(distortion=0.2)
    before = sum(len(aligner.align(matrix)) for matrix in S)
    for percentile in (100, 95, 50):
        stricter = aligner.with_percentile(S, percentile)
        after = sum(len(stricter.align(matrix)) for matrix in S)
        assert after / before == pytest.approx(percentile / 100, abs=0.01)
    assert aligner.with_percentile([]).threshold == 1


def test_distortion_takes_nothing_from_the_diagonal_and_most_from_the_corners():
    S = apply_distortion(np.ones((3, 5)), 0.4)
    assert (S[0, 0], S[1, 2], S[2, 4]) == (1, 1, 1)
    assert S[0, 4] == S[2, 0] == pytest.approx(0.6)
    assert (apply_distortion(np.ones((1, 5)), 0.4) == 1).all()


def test_similarity_is_the_cosine_from_0_to_1():
    X = np.array([[1.0, 0], [0, 2], [0, 0]])
    assert compute_similarity(X, np.array([[3.0, 0], [-1, 0]])) == pytest.approx(
        np.array([[1, 0], [0.5, 0.5], [0.5, 0.5]])
    )


@pytest.mark.parametrize("matching", [*MATCHINGS, MaximumMatching()])
def test_a_pair_with_an_empty_side_has_no_links(matching):
    for shape in [(0, 0), (0, 3), (3, 0)]:
        assert SimAlign(matching, 0.3, 0.9).align(np.zeros(shape)) == frozenset()


def test_bad_options_and_matrices_are_named():
    with pytest.raises(ValueError, match="rounds must be at least 1, got 0"):
        IterMax(rounds=0)
    with pytest.raises(ValueError, match=r"discount must be .*, got 1.5"):
        IterMax(discount=1.5)
    with pytest.raises(ValueError, match=r"distortion must be from 0 to 1, got 2; 0 turns it off"):
        SimAlign(distortion=2)
    with pytest.raises(ValueError, match=r"threshold must be from 0 to 1, got -1; 1 turns it off"):
        SimAlign(threshold=-1)
    with pytest.raises(
        TypeError, match=r"matching must be ArgMax\(\), IterMax\(\) or MaximumMatching\(\), got 'itermax'"
    ):
        SimAlign("itermax")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="percentile must be from 0 to 100, got 101"):
        SimAlign().with_percentile([], 101)
    with pytest.raises(ValueError, match=r"S must be a matrix .*, got shape \(3,\)"):
        SimAlign().align(np.ones(3))
    for bad in (-0.1, np.nan, np.inf):
        with pytest.raises(ValueError, match="S must be finite and at least 0"):
            SimAlign().align(np.array([[bad, 1.0]]))


@pytest.mark.filterwarnings("default")
def test_links_are_those_of_the_simalign_package():
    peer = pytest.importorskip("simalign", reason="simalign is not installed: pip install simalign==0.4")
    theirs = peer.SentenceAligner
    rng = np.random.default_rng(3)
    for n, m in rng.integers(1, 30, size=(60, 2)):
        X, Y = (rng.normal(1, 1, size=(size, 24)).astype(np.float32) for size in (n, m))
        for distortion in (0.0, 0.5):
            S = theirs.apply_distortion(theirs.get_similarity(X, Y), distortion)
            forward, backward = theirs.get_alignment_matrix(S)
            expected = {
                ArgMax(): forward * backward,
                IterMax(): theirs.iter_max(S),
                IterMax(rounds=4): theirs.iter_max(S, max_count=4),
                MaximumMatching(): theirs.get_max_weight_match(S),
            }
            for matching, matrix in expected.items():
                links = SimAlign(matching, distortion).align(compute_similarity(X, Y))
                assert links == {(int(i), int(j)) for i, j in np.argwhere(matrix > 0)}
