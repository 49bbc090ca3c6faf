"""Word embeddings as sums of the states of subwords, equal in NumPy and torch."""

import numpy as np
import pytest
import torch

from otalign.encoders.embeddings import Sums, WordParts, to_numpy

LIBRARIES = [np.asarray, torch.from_numpy]  # a GPU's states stay in torch


def draw_parts(seed: int = 0, words: int = 40, size: int = 8):
    """Draw states (B, L, D), and for each word the positions and weights of one to five of them."""
    random = np.random.default_rng(seed)
    states = random.standard_normal((6, 50, size)).astype(np.float32)
    owners = np.repeat(np.arange(words), random.integers(1, 6, words))
    places = random.permutation(300)[: len(owners)]
    return states, places, owners, random.random(len(owners)).astype(np.float32)


def sum_by_hand(states, places, owners, weights):
    flat, sums = states.reshape(-1, states.shape[-1]), {}
    for place, word, weight in zip(places, owners, weights, strict=True):
        sums[word] = sums.get(word, 0) + weight * flat[place].astype(float)
    return sums


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_word_is_the_weighted_sum_of_its_places(library):
    states, *rest = draw_parts()
    parts = WordParts(*rest)
    words, sums = parts.words, parts.sum(library(states))
    wanted = sum_by_hand(states, *rest)
    assert words.tolist() == list(wanted)
    np.testing.assert_allclose(to_numpy(sums), np.array(list(wanted.values())), atol=1e-6)


@pytest.mark.parametrize("library", LIBRARIES)
def test_words_that_come_again_are_added_up(library):
    """In one batch, as those of windows do, and in the next."""
    sums = Sums(10, library(np.zeros((0, 2), dtype=np.float32)))
    once = library(np.array([[1, 2], [3, 4], [5, 6]], dtype=np.float32))
    sums.add(np.array([7, 2, 7]), once)
    sums.add(np.array([2, 0, 1]), once)
    found = to_numpy(sums.vectors)
    assert found[[0, 1, 2, 7]].tolist() == [[3, 4], [5, 6], [4, 6], [6, 8]]
    assert not found[[3, 4, 5, 6, 8, 9]].any()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="a CPU adds in order anyway")
def test_a_gpu_gives_the_same_sums_each_time():
    """Added in any order, they would differ by rounding."""
    states = torch.randn(600, 50, 64, device="cuda")
    random = np.random.default_rng(0)
    words, places = np.repeat(np.arange(6_000), 5), random.permutation(30_000)
    rest = places, words, random.random(30_000).astype(np.float32)
    made = [WordParts(*rest).sum(states) for _ in range(20)]
    assert all(torch.equal(one, made[0]) for one in made)


@pytest.mark.parametrize("library", LIBRARIES)
def test_there_may_be_no_words(library):
    states, places, owners, weights = draw_parts()
    parts = WordParts(places[:0], owners[:0], weights[:0])
    assert len(parts.words) == 0
    assert tuple(parts.sum(library(states)).shape) == (0, 8)
