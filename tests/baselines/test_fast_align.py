"""fast_align compared with a reference implementation, and laws that hold for both directions."""

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign.baselines import FastAlign
from otalign.baselines.cooccurrence import CooccurrenceGrid, Vocabulary, find_cooccurrences
from otalign.baselines.diagonal import Lengths, feature, partition, prior, weighted_feature
from otalign.baselines.fast_align import DirectionalLinks
from otalign.baselines.model2 import digamma
from tests.baselines import reference
from tests.fuzz import share_of_examples

sentences = st.lists(st.sampled_from("abcdef"), max_size=5)
corpora = st.lists(st.tuples(sentences, sentences), min_size=1, max_size=6).filter(
    lambda pairs: any(source and target for source, target in pairs)
)


def translated_pairs(count, seed=0):
    """Make pairs in which word k translates word k, in about the same order; some words are left out."""
    rng = random.Random(seed)
    pairs = []
    for _ in range(count):
        source = rng.choices(range(30), k=rng.randint(1, 9))
        target = [k for k in source if rng.random() < 0.9] or source
        if rng.random() < 0.3 and len(target) > 1:
            target[0], target[1] = target[1], target[0]
        pairs.append(([f"word{k}" for k in source], [f"mot{k}" for k in target]))
    return pairs


def learnt_table(trained, direction):
    """Return t[given word, generated word] with None for null, like the reference implementation."""
    sources, targets = list(trained.source.numbers), list(trained.target.numbers)
    keys = [
        (sources[i], targets[j])
        for i, j in zip(trained.cooccurrences.sources, trained.cooccurrences.targets, strict=True)
    ]
    parameters = trained.forward if direction == "forward" else trained.reverse
    keys = keys if direction == "forward" else [(j, i) for i, j in keys]
    generated = targets if direction == "forward" else sources
    table = dict(zip(keys, parameters.table, strict=False))  # the last entry is of what was never met
    return table | {(None, word): p for word, p in zip(generated, parameters.null, strict=False)}


def assert_as_plain(pairs, iterations):
    trained = FastAlign(iterations).train(pairs)
    for direction in ("forward", "reverse"):
        swapped = direction == "reverse"
        t, tension, links = reference.train_model2(
            [pair[::-1] if swapped else pair for pair in pairs], iterations
        )
        parameters = getattr(trained, direction)
        assert parameters.tension == pytest.approx(tension, abs=1e-9)
        found = learnt_table(trained, direction)
        if iterations > 1:
            assert found.keys() == t.keys()
            assert all(found[key] == pytest.approx(t[key], rel=1e-9, abs=1e-9) for key in t)
        yield found, getattr(trained.aligned, direction), links, swapped


@share_of_examples(0.5)
@given(corpora, st.integers(1, 4))
def test_probabilities_are_those_of_the_plain_model(pairs, iterations):
    # Words drawn from a handful tie often, so links are compared in the next test.
    assert len(list(assert_as_plain(pairs, iterations))) == 2


def test_links_are_those_of_the_plain_model():
    pairs = [*translated_pairs(40), ([], ["mot1"]), (["word1"], [])]
    for _, found, expected, swapped in assert_as_plain(pairs, 5):
        expected = [{(j, i) for i, j in links} if swapped else links for links in expected]
        equal = sum(a == b for a, b in zip(found, expected, strict=False))
        assert equal >= len(expected) - 1  # rounding decides between equals
        assert list(found[-2:]) == [frozenset(), frozenset()]


def test_swapping_the_sentences_swaps_the_directions():
    pairs = translated_pairs(200)
    one, other = FastAlign().train(pairs), FastAlign().train([pair[::-1] for pair in pairs])
    for a, b in ((one.forward, other.reverse), (one.reverse, other.forward)):
        assert a.tension == pytest.approx(b.tension, rel=1e-9)
        assert np.sort(a.table) == pytest.approx(np.sort(b.table), rel=1e-9)
    transposed = [frozenset((j, i) for i, j in links) for links in other.aligned.reverse]
    assert sum(a == b for a, b in zip(one.aligned.forward, transposed, strict=True)) >= len(pairs) - 2


def test_the_order_of_the_pairs_changes_nothing_and_the_same_input_gives_the_same():
    pairs = translated_pairs(150)
    first, again = FastAlign().train(pairs), FastAlign().train(pairs)
    assert first.aligned.symmetrise() == again.aligned.symmetrise()
    assert (first.forward.table == again.forward.table).all()
    backwards = FastAlign().train(pairs[::-1])
    assert backwards.forward.tension == pytest.approx(first.forward.tension, rel=1e-9)
    equal = zip(first.aligned.symmetrise(), backwards.aligned.symmetrise()[::-1], strict=True)
    assert sum(a == b for a, b in equal) >= len(pairs) - 2


def test_pieces_and_blocks_of_any_size_give_the_same(monkeypatch):
    pairs = translated_pairs(150)
    whole = FastAlign().train(pairs)
    monkeypatch.setattr("otalign.baselines.cooccurrence.BLOCK", 20)
    monkeypatch.setattr("otalign.baselines.cooccurrence.PIECE", 50)
    parts = FastAlign().train(pairs)
    assert (whole.cooccurrences.keys == parts.cooccurrences.keys).all()
    assert parts.forward.table == pytest.approx(whole.forward.table, rel=1e-9)
    assert parts.reverse.tension == pytest.approx(whole.reverse.tension, rel=1e-9)


def test_translations_are_learned():
    pairs = translated_pairs(300)
    trained = FastAlign().train(pairs)
    found = right = 0
    for (source, target), links in zip(pairs, trained.aligned.symmetrise("intersection"), strict=True):
        found += len(links)
        right += sum(source[i][4:] == target[j][3:] for i, j in links)
    assert right / found > 0.98
    assert found > 0.9 * sum(len(target) for _, target in pairs)


def test_training_pairs_are_aligned_alike_later():
    pairs = [([], ["mot1"]), *translated_pairs(100)]
    trained = FastAlign().train(pairs)
    later = trained.align(pairs)
    assert list(later.forward) == list(trained.aligned.forward)
    assert list(later.reverse) == list(trained.aligned.reverse)
    assert list(trained.align([]).forward) == []


def test_unknown_words_leave_the_known_ones_alone():
    trained = FastAlign().train(translated_pairs(300))
    links = trained.align([(["word1", "word2", "new"], ["mot1", "mot2", "neuf"])]).symmetrise("intersection")
    assert {(0, 0), (1, 1)} <= links[0]


def test_each_word_has_at_most_one_link_in_its_direction():
    aligned = FastAlign().train(translated_pairs(100)).aligned
    for forward, reverse in zip(aligned.forward, aligned.reverse, strict=True):
        assert max(Counter(j for _, j in forward).values(), default=0) <= 1
        assert max(Counter(i for i, _ in reverse).values(), default=0) <= 1


def test_progress_is_reported_after_each_iteration_and_likelihood_grows():
    steps = []
    FastAlign(iterations=4).train(translated_pairs(100), steps.append)
    assert [(s.direction, s.iteration) for s in steps] == [
        (d, k) for d in ("forward", "reverse") for k in (1, 2, 3)
    ]
    for direction in (steps[:3], steps[3:]):
        assert direction[0].log_likelihood < direction[1].log_likelihood < direction[2].log_likelihood
        assert direction[0].tension == 4.0  # the first iteration leaves it


def test_a_tension_that_is_not_fitted_stays():
    steps = []
    FastAlign(tension=2.5, fit_tension=False).train(translated_pairs(30), steps.append)
    assert {step.tension for step in steps} == {2.5}


@given(st.integers(1, 12), st.integers(1, 12), st.floats(0.1, 14))
def test_closed_forms_are_the_sums_that_they_stand_for(n, m, tension):
    h = feature(n, m)
    weights = np.exp(tension * h)
    j = np.arange(1, m + 1)
    assert partition(j, np.full(m, n), np.full(m, m), tension) == pytest.approx(weights.sum(0))
    found = weighted_feature(j, np.full(m, n), np.full(m, m), tension)
    assert found == pytest.approx((h * weights).sum(0), abs=1e-9)
    assert prior(n, m, tension).sum(0) == pytest.approx(np.ones(m))


def test_a_prior_that_agrees_with_the_posterior_keeps_its_tension():
    lengths = Lengths.from_shapes([(3, 5, 5), (2, 7, 7), (4, 5, 5)])
    assert lengths.words == 49
    assert lengths.fit_tension(6.0, lengths.mean_feature(6.0)) == pytest.approx(6.0)
    assert lengths.fit_tension(6.0, 1.0) == 14.0
    assert lengths.fit_tension(6.0, -1.0) == 0.1


def test_digamma_is_the_slope_of_log_gamma():
    x = np.array([1e-6, 0.01, 0.3, 1, 2.5, 7, 40, 1e5])
    expected = [reference.digamma(value) for value in x]
    assert digamma(x) == pytest.approx(expected, rel=1e-11)
    assert digamma(np.array(1.0)) == pytest.approx(-0.5772156649015329, abs=1e-12)


@given(corpora)
def test_every_cell_finds_its_meeting(pairs):
    source, target = (Vocabulary.from_sentences([pair[side] for pair in pairs]) for side in (0, 1))
    grid = CooccurrenceGrid.from_pairs(pairs, source, target)
    cooccurrences, cells = find_cooccurrences(grid, len(target) + 1)
    assert len(cooccurrences) == len({(s, t) for words in pairs for s in words[0] for t in words[1]})
    for block in grid.blocks(cells):
        for k, place in enumerate(block.indices):
            for i, s in enumerate(pairs[place][0]):
                for j, t in enumerate(pairs[place][1]):
                    number = block.cooccurrences[k, i, j]
                    assert cooccurrences.sources[number] == source.numbers[s]
                    assert cooccurrences.targets[number] == target.numbers[t]


def test_choices_are_a_sequence_of_link_sets():
    choices = DirectionalLinks([np.array([1, -1]), np.array([0])], "target")
    assert choices[0] == {(1, 0)}
    assert list(choices[1:]) == [{(0, 0)}]
    assert DirectionalLinks([np.array([1, -1])], "source")[-1] == {(0, 1)}


def test_bad_options_and_pairs_are_named():
    with pytest.raises(ValueError, match="iterations must be at least 1, got 0"):
        FastAlign(iterations=0)
    with pytest.raises(ValueError, match="null_probability must be between 0 and 1, got 1"):
        FastAlign(null_probability=1)
    with pytest.raises(ValueError, match="alpha must be positive and finite, got 0"):
        FastAlign(alpha=0)
    with pytest.raises(ValueError, match=r"tension must be from 0.1 to 14.0, got 20"):
        FastAlign(tension=20)
    with pytest.raises(
        TypeError, match="the target of pair 1 must be a list of words, got the str 'a b'; split it"
    ):
        FastAlign().train([(["a"], ["b"]), (["a"], "a b")])
    with pytest.raises(ValueError, match="pairs must include one with words on both sides, got 1 without"):
        FastAlign().train([(["a"], [])])
