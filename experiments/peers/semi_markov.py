"""The dynamic programme of a semi-Markov CRF, on batches of tensors, in the log domain.

A sentence is cut into spans of 1 to S words, each with a label; a path says how. Its score is the sum of the
scores of its spans, `scores[b, i, d, l]` for the d + 1 words that end with word i under the label l, and of
`transitions[k, l]` for each label l that follows a label k. The first span follows none. What cannot be has
a score of `NEVER`. Positions are gone through one by one, all that is within one is done at once.

`log_partition` sums over all paths, and its gradient is the probability of each span; `best_path` is the
path of the highest score, read off the gradient of the maximum, so that there is one recursion for both.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

NEVER = -1e4  # finite, so that gradients are too, and its exponential is 0


class Path(NamedTuple):
    """A path: the length and the label of the span that ends at each word; elsewhere 0, (B, N) each."""

    sizes: Tensor
    labels: Tensor


def log_partition(scores: Tensor, transitions: Tensor, lengths: Tensor) -> Tensor:
    """The logarithm of the sum of exp(score) over all paths (B,), of the first `lengths` (B,) words each."""
    return _over_paths(scores, transitions, lengths, torch.logsumexp)


def best_path(scores: Tensor, transitions: Tensor, lengths: Tensor) -> Path:
    """The one of the highest score; of several, some one."""
    with torch.inference_mode(False), torch.enable_grad():  # whoever calls may need no gradients
        scores = scores.detach().clone().requires_grad_()
        best = _over_paths(scores, transitions.detach().clone(), lengths.clone(), _maximum)
        (taken,) = torch.autograd.grad(best.sum(), scores)
    taken = taken > 0
    sizes = (taken.any(3) * torch.arange(1, scores.shape[2] + 1, device=scores.device)).sum(2)
    return Path(sizes, taken.any(2).int().argmax(2) * (sizes > 0))


def path_score(scores: Tensor, transitions: Tensor, path: Path) -> Tensor:
    """The score of one path for each sentence, (B,)."""
    ends = path.sizes > 0
    pairs, words = (
        grid.to(scores.device) for grid in torch.meshgrid(*map(torch.arange, ends.shape), indexing="ij")
    )
    spans = scores[pairs, words, (path.sizes - 1).clamp(min=0), path.labels]
    before = words - path.sizes  # where the span before ends
    steps = transitions[path.labels.gather(1, before.clamp(min=0)), path.labels]
    return (spans * ends + steps * (ends & (before >= 0))).sum(1)


def _over_paths(
    scores: Tensor, transitions: Tensor, lengths: Tensor, taken: Callable[[Tensor, int], Tensor]
) -> Tensor:
    """Combine the scores of all paths: their log-sum-exp, or their maximum."""
    batch, words, longest, labels = scores.shape
    begun = [scores.new_zeros(batch, labels)]  # of paths over the first i words: before a label l comes, …
    over = []  # … and after label l is the last
    for i in range(words):
        spans = [scores[:, i, d] + begun[i - d] for d in range(min(longest, i + 1))]
        over.append(taken(torch.stack(spans), 0))
        if i + 1 < words:
            begun.append(taken(over[i][:, :, None] + transitions, 1))
    last = (lengths - 1)[:, None, None].expand(batch, 1, labels)
    return taken(torch.stack(over, 1).gather(1, last)[:, 0], 1)


def _maximum(of: Tensor, axis: int) -> Tensor:
    return of.max(axis).values  # whose gradient goes to one place, also among equals
