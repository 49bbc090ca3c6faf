"""Dynamic programming for a semi-Markov CRF, on batches of tensors, in the log domain.

A path segments a sentence into spans of 1 to S words, each with a label. Its score is the sum of the scores
of its spans, `scores[b, i, d, l]` for the d + 1 words that end with word i with the label l, and of
`transitions[k, l]` for each label l that follows a label k; the first span has no transition. Impossible
spans have the score `NEVER`. The recursion is over positions, and vectorized over everything else.

`log_partition` sums over all paths; its gradient is the probability of each span. `find_best_path` reads the
path of the highest score from the gradient of the maximum, so that both share one recursion.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

NEVER = -1e4  # finite, so that gradients are too, and its exponential is 0


class Path(NamedTuple):
    """A path: the length and the label of the span that ends at each word, else 0, (B, N) each."""

    sizes: Tensor
    labels: Tensor


def log_partition(scores: Tensor, transitions: Tensor, lengths: Tensor) -> Tensor:
    """Compute log Σ exp(score) over all paths of the first `lengths` (B,) words of each sentence, (B,)."""
    return _combine_paths(scores, transitions, lengths, torch.logsumexp)


def find_best_path(scores: Tensor, transitions: Tensor, lengths: Tensor) -> Path:
    """Find a path of the highest score."""
    with torch.inference_mode(False), torch.enable_grad():  # the caller may have disabled gradients
        scores = scores.detach().clone().requires_grad_()
        best = _combine_paths(scores, transitions.detach().clone(), lengths.clone(), _maximum)
        (taken,) = torch.autograd.grad(best.sum(), scores)
    taken = taken > 0
    sizes = (taken.any(3) * torch.arange(1, scores.shape[2] + 1, device=scores.device)).sum(2)
    return Path(sizes, taken.any(2).int().argmax(2) * (sizes > 0))


def score_path(scores: Tensor, transitions: Tensor, path: Path) -> Tensor:
    """Compute the score of one path for each sentence, (B,)."""
    ends = path.sizes > 0
    pairs, words = (
        grid.to(scores.device) for grid in torch.meshgrid(*map(torch.arange, ends.shape), indexing="ij")
    )
    spans = scores[pairs, words, (path.sizes - 1).clamp(min=0), path.labels]
    before = words - path.sizes  # end of the previous span
    steps = transitions[path.labels.gather(1, before.clamp(min=0)), path.labels]
    return (spans * ends + steps * (ends & (before >= 0))).sum(1)


def _combine_paths(
    scores: Tensor, transitions: Tensor, lengths: Tensor, reduce: Callable[[Tensor, int], Tensor]
) -> Tensor:
    """Combine the scores of all paths: their log-sum-exp, or their maximum."""
    batch, words, longest, labels = scores.shape
    before = [scores.new_zeros(batch, labels)]  # scores of paths over the first i words, before label l
    after = []  # scores of paths over i + 1 words, whose last label is l
    for i in range(words):
        spans = [scores[:, i, d] + before[i - d] for d in range(min(longest, i + 1))]
        after.append(reduce(torch.stack(spans), 0))
        if i + 1 < words:
            before.append(reduce(after[i][:, :, None] + transitions, 1))
    last = (lengths - 1)[:, None, None].expand(batch, 1, labels)
    return reduce(torch.stack(after, 1).gather(1, last)[:, 0], 1)


def _maximum(scores: Tensor, axis: int) -> Tensor:
    return scores.max(axis).values  # its gradient goes to a single element, even among equals
