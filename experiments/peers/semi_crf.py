"""The neural semi-Markov CRF of Lan, Jiang and Xu (ACL 2021), as a head over the words of an encoder.

One sentence is segmented into spans of up to three words, and each is labelled with a span of up to three
words of the other, or with null. A span is represented by its two ends and its pooled words. The score of two
spans depends on both, their difference and their product; the score of a transition depends on the distance
of the two target spans. Training maximizes the exact likelihood, and decoding finds the best path, in both
directions with the same weights. A link is one that both directions predict.

Where the paper leaves details open, this implementation does the following. Sentences are encoded jointly,
and a word is the mean of its subwords. Span vectors are projected to `SIZE` dimensions before they are
compared, so that all pairs of spans fit into memory. Null is a learned span. The score of a transition is
learned for each signed distance from the end of one target span to the start of the next, clipped at
`FARTHEST`, and for transitions to, from and between nulls. The gold path is the one whose links differ from
the gold in the fewest cells, since not all links are pairs of spans; among several, it has the fewest spans,
and one span for each null word. The intersection of the two directions was the best combination on the dev
sets, or as good as grow-diag.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from experiments.peers.semi_markov import NEVER, Path, find_best_path, log_partition, score_path
from otalign.encoders.transformers import Transformers
from otalign.scoring import PairBatch, split_into_batches
from otalign.scoring.learned import BUDGET
from otalign.text.words import Pair

LONGEST = 3  # maximum number of words of a span
SIZE = 256  # dimensions of span vectors and pair features
FARTHEST = 10  # maximum distance of two target spans that is distinguished
DROPOUT = 0.1
CELLS = 1 << 16  # word pairs decoded together; each needs nine pairs of spans in memory
TIE = 0.01  # difference in score that decides between gold paths with the same links


class SemiCrf(nn.Module):
    """The head: computes a loss or links from the words of pairs (`PairBatch`)."""

    def __init__(self, size: int):
        super().__init__()
        self.attention = nn.Linear(size, 1)
        self.span = nn.Linear(3 * size, SIZE)
        self.null = nn.Parameter(torch.zeros(SIZE))
        self.own, self.other = nn.Linear(SIZE, SIZE), nn.Linear(SIZE, SIZE, bias=False)
        self.apart, self.alike = (nn.Linear(SIZE, SIZE, bias=False) for _ in range(2))
        self.score = nn.Sequential(nn.PReLU(), nn.Dropout(DROPOUT), nn.Linear(SIZE, 1))
        # Scores of transitions: by distance, and to, from and between nulls.
        self.moves = nn.Parameter(torch.zeros(2 * FARTHEST + 4))

    def forward(self, batch: PairBatch, links: Tensor) -> Tensor:
        """Compute the negative log-likelihood of gold links (B, N, M) per word, over both directions."""
        forward, backward = self._score_directions(batch)
        loss = self._compute_loss(forward, batch.is_source, links, batch.is_target)
        loss = loss + self._compute_loss(backward, batch.is_target, links.mT, batch.is_source)
        return loss.sum() / (batch.is_source.sum() + batch.is_target.sum())

    @torch.no_grad()
    def score_links(self, batch: PairBatch) -> Tensor:
        """Predict links (B, N, M): 1 where there is a link, else 0."""
        (n, m), pairs = (batch.X.shape[1], batch.Y.shape[1]), len(batch.X)
        found = torch.zeros(pairs, n, m)
        step = max(1, CELLS // (n * m))
        for first in range(0, pairs, step):
            part = PairBatch(*(array[first : first + step] for array in batch))
            forward, backward = self._score_directions(part)
            both = self._decode(forward, part.is_source, m) & self._decode(backward, part.is_target, n).mT
            found[first : first + step] = both
        return found

    def score_pairs(
        self, encoder: Transformers, pairs: Sequence[Pair]
    ) -> Iterator[tuple[Sequence[int], np.ndarray]]:
        """Yield indices of pairs, and the scores of their links (B, N, M)."""
        for indices, batch in split_into_batches(encoder.embed(pairs, "joint"), BUDGET):
            words = PairBatch(*(torch.as_tensor(array, device=self.null.device) for array in batch))
            yield indices, self.score_links(words).numpy()

    def _score_directions(self, batch: PairBatch) -> tuple[Tensor, Tensor]:
        """Score the spans of each side with those of the other, (B, N, S, S · M + 1)."""
        S, T = self._embed_spans(batch.X), self._embed_spans(batch.Y)
        directions = (S, T, batch.is_target), (T, S, batch.is_source)
        # The features of all pairs of spans are too large to keep; they are computed again for the gradient.
        forward, backward = (checkpoint(self._score_spans, *args, use_reentrant=False) for args in directions)
        return forward, backward

    def _embed_spans(self, words: Tensor) -> Tensor:
        """Embed the spans that end with each word, (B, N, S, SIZE), and impossible ones at the start."""
        raised = self.attention(words).float().clamp(-30, 30).exp()  # pooled: Σ e^a x / Σ e^a
        above, below = torch.zeros_like(words), torch.zeros_like(raised)
        spans = []
        for before in range(LONGEST):
            above, below = above + _shift(raised * words, before), below + _shift(raised, before)
            spans.append(torch.cat([_shift(words, before), words, above / below], -1))
        return self.span(torch.stack(spans, 2))

    def _score_spans(self, own: Tensor, other: Tensor, is_other: Tensor) -> Tensor:
        """Score each span with each label: spans of the other side, (B, N, S, M, S) flattened, and null."""
        null = self.null.to(other.dtype).expand(len(other), 1, -1)
        labels = torch.cat([other.flatten(1, 2), null], 1)
        left, right = self.own(own).flatten(1, 2)[:, :, None], self.other(labels)[:, None]
        spans, labels = own.flatten(1, 2)[:, :, None], labels[:, None]
        hidden = left + right + self.apart((spans - labels).abs()) + self.alike(spans * labels)
        scores = self.score(hidden).squeeze(-1).float().unflatten(1, own.shape[1:3])
        return scores.masked_fill(~_mask_labels(is_other)[:, None, None], NEVER)

    def _compute_loss(self, scores: Tensor, is_own: Tensor, links: Tensor, is_other: Tensor) -> Tensor:
        lengths = is_own.sum(1)
        with torch.autocast(scores.device.type, enabled=False):
            transitions = self._score_transitions(links.shape[2])
            gold = find_gold_path(links, is_own, is_other)
            return log_partition(scores, transitions, lengths) - score_path(scores, transitions, gold)

    def _decode(self, scores: Tensor, is_own: Tensor, others: int) -> Tensor:
        path = find_best_path(scores, self._score_transitions(others), is_own.sum(1))
        return get_path_links(path, others)

    def _score_transitions(self, others: int) -> Tensor:
        """Score a label after each label, (S · M + 1, S · M + 1)."""
        ends, starts = torch.arange(others).repeat_interleave(LONGEST), _find_starts(others)
        apart = (starts[None, :] - ends[:, None] - 1).clamp(-FARTHEST, FARTHEST) + FARTHEST
        from_null, to_null, between = range(2 * FARTHEST + 1, 2 * FARTHEST + 4)
        which = F.pad(apart, (0, 1, 0, 1), value=between)
        which[-1, :-1], which[:-1, -1] = from_null, to_null
        return self.moves[which.to(self.moves.device)]


@torch.no_grad()
def find_gold_path(links: Tensor, is_own: Tensor, is_other: Tensor) -> Path:
    """Find the path whose links differ from gold links (B, N, M) in the fewest cells."""
    gained = 2 * (links > 0.5).float() - 1  # 1 for a correct link, -1 for a wrong one
    batch, n, m = gained.shape
    blocks = gained.new_full((batch, n, LONGEST, m, LONGEST), NEVER)
    rows = torch.zeros_like(gained)
    for size in range(LONGEST):
        rows = rows + _shift(gained, size)
        total = torch.zeros_like(gained)
        for width in range(LONGEST):
            total = total + _shift(rows.mT, width).mT
            blocks[:, :, size, :, width] = total + TIE * size
    nulls = -TIE * torch.arange(LONGEST, device=links.device).expand(batch, n, LONGEST)
    scores = torch.cat([blocks.flatten(3), nulls[..., None]], 3)
    scores = scores.masked_fill(~_mask_labels(is_other)[:, None, None], NEVER)
    free = scores.new_zeros(scores.shape[-1], scores.shape[-1])
    return find_best_path(scores, free, is_own.sum(1))


def get_path_links(path: Path, others: int) -> Tensor:
    """Return the links of all words of a span with all words of its label, (B, N, M)."""
    label = torch.full_like(path.labels, LONGEST * others)
    for k in range(LONGEST):  # the span that ends k words later, if it is long enough
        sizes, labels = (F.pad(part[:, k:], (0, k)) for part in path)
        label = torch.where(sizes > k, labels, label)
    ends, starts = label // LONGEST, _find_starts(others).to(label.device)
    starts = F.pad(starts, (0, 1))[label]
    each = torch.arange(others, device=label.device)
    inside = (each >= starts[..., None]) & (each <= ends[..., None])
    return inside & (label < LONGEST * others)[..., None]


def _find_starts(others: int) -> Tensor:
    """Return the first word of each label but null: word j ends spans of 1, 2, … words."""
    return (torch.arange(others)[:, None] - torch.arange(LONGEST)).flatten()


def _mask_labels(is_other: Tensor) -> Tensor:
    """Return the mask of labels that start and end with a word, and of null, (B, S · M + 1)."""
    others = is_other.shape[1]
    exists = is_other.repeat_interleave(LONGEST, 1) & (_find_starts(others) >= 0).to(is_other.device)
    return F.pad(exists, (0, 1), value=True)


def _shift(words: Tensor, steps: int) -> Tensor:
    """Shift by a number of words, (B, N, …); 0 before the first."""
    steps = min(steps, words.shape[1])
    return F.pad(words[:, : words.shape[1] - steps], (0, 0, steps, 0))
