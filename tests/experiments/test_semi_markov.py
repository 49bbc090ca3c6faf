"""Dynamic programming for the semi-Markov CRF, compared with the enumeration of all paths."""

import math
from collections.abc import Iterator
from itertools import product

import pytest
import torch

from experiments.peers.semi_markov import NEVER, Path, find_best_path, log_partition, score_path

LONGEST = 3
CASES = [(1, 1, 0), (1, 4, 1), (2, 3, 2), (4, 3, 3), (5, 2, 4)]  # words, labels, seed


def segmentations(words: int) -> Iterator[tuple[int, ...]]:
    """Yield all segmentations of a number of words into spans, by the sizes of the spans."""
    if words == 0:
        yield ()
    for size in range(1, min(LONGEST, words) + 1):
        yield from ((*rest, size) for rest in segmentations(words - size))


def paths(words: int, labels: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    for sizes in segmentations(words):
        for chosen in product(range(labels), repeat=len(sizes)):
            yield sizes, chosen


def score_by_loop(scores, transitions, sizes, labels):
    total, end = 0, -1
    for k, (size, label) in enumerate(zip(sizes, labels, strict=True)):
        end += size
        total = total + scores[end, size - 1, label]
        if k:
            total = total + transitions[labels[k - 1], label]
    return total


def to_path(sizes, labels, words: int) -> Path:
    made, end = torch.zeros(2, 1, words, dtype=torch.long), -1
    for size, label in zip(sizes, labels, strict=True):
        end += size
        made[:, 0, end] = torch.tensor([size, label])
    return Path(*made)


def make_scores(words: int, labels: int, seed: int):
    random = torch.Generator().manual_seed(seed)
    scores = torch.randn(1, words, LONGEST, labels, generator=random, dtype=torch.float64)
    transitions = torch.randn(labels, labels, generator=random, dtype=torch.float64)
    return scores.requires_grad_(), transitions.requires_grad_(), torch.tensor([words])


@pytest.mark.parametrize(("words", "labels", "seed"), CASES)
def test_likelihood_and_gradient_are_those_of_all_paths(words, labels, seed):
    scores, transitions, lengths = make_scores(words, labels, seed)
    every = torch.stack([score_by_loop(scores[0], transitions, *path) for path in paths(words, labels)])
    expected, found = torch.logsumexp(every, 0), log_partition(scores, transitions, lengths)[0]
    assert found.item() == pytest.approx(expected.item(), abs=1e-10)
    of = (scores, transitions) if words > 1 else (scores,)
    for one, other in zip(torch.autograd.grad(expected, of), torch.autograd.grad(found, of), strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize(("words", "labels", "seed"), CASES)
def test_the_best_path_is_the_best_of_all(words, labels, seed):
    scores, transitions, lengths = make_scores(words, labels, seed)
    with torch.inference_mode():
        best = max(paths(words, labels), key=lambda path: float(score_by_loop(scores[0], transitions, *path)))
        found = find_best_path(scores, transitions, lengths)
    for one, other in zip(found, to_path(*best, words), strict=True):
        assert one.tolist() == other.tolist()


@pytest.mark.parametrize(("words", "labels", "seed"), CASES)
def test_the_score_of_a_path_is_the_sum_of_its_parts(words, labels, seed):
    scores, transitions, _ = make_scores(words, labels, seed)
    for path in paths(words, labels):
        found = score_path(scores, transitions, to_path(*path, words))
        assert found.item() == pytest.approx(score_by_loop(scores[0], transitions, *path).item(), abs=1e-10)


def test_without_scores_paths_are_counted():
    labels, words = 4, 9
    counts = [1]
    for n in range(words):
        counts.append(labels * sum(counts[max(0, n - LONGEST + 1) :]))
    assert counts[5] == sum(1 for _ in paths(5, labels))
    scores, transitions = torch.zeros(words, words, LONGEST, labels), torch.zeros(labels, labels)
    found = log_partition(scores, transitions, torch.arange(1, words + 1))
    torch.testing.assert_close(found, torch.tensor([math.log(count) for count in counts[1:]]))


def test_sentences_of_all_lengths_are_as_they_are_alone():
    random = torch.Generator().manual_seed(7)
    scores, transitions = torch.randn(4, 6, LONGEST, 5, generator=random), torch.randn(5, 5, generator=random)
    lengths = torch.tensor([6, 1, 4, 2])
    together, best = log_partition(scores, transitions, lengths), find_best_path(scores, transitions, lengths)
    for b, n in enumerate(lengths.tolist()):
        alone = scores[b : b + 1, :n], transitions, lengths[b : b + 1]
        torch.testing.assert_close(log_partition(*alone)[0], together[b])
        for one, other in zip(best, find_best_path(*alone), strict=True):
            assert one[b].tolist() == other[0].tolist() + [0] * (6 - n)


def test_what_never_is_changes_nothing_and_is_never_taken():
    random = torch.Generator().manual_seed(8)
    scores, transitions = torch.randn(2, 5, LONGEST, 3, generator=random), torch.randn(6, 6, generator=random)
    padded = torch.full((2, 5, LONGEST, 6), NEVER)
    padded[..., :3] = scores
    padded.requires_grad_()
    lengths = torch.tensor([5, 3])
    found = log_partition(padded, transitions, lengths)
    torch.testing.assert_close(found, log_partition(scores, transitions[:3, :3], lengths))
    (gradient,) = torch.autograd.grad(found.sum(), padded)
    assert gradient.isfinite().all()
    assert not gradient[..., 3:].any()
    assert find_best_path(padded, transitions, lengths).labels.max() < 3


def test_among_equals_there_is_still_one_path():
    path = find_best_path(torch.zeros(3, 7, LONGEST, 4), torch.zeros(4, 4), torch.tensor([7, 6, 1]))
    assert path.sizes.sum(1).tolist() == [7, 6, 1]
