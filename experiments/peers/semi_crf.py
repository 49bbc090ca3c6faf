"""The neural semi-Markov CRF of Lan, Jiang and Xu (ACL 2021), as a head over the words of an encoder.

One sentence is cut into spans of up to three words, and each is labelled with a span of up to three words of
the other, or with null. A span is its two ends and a pooled inside; the score of two spans comes from both,
their difference and their product; that of a label after a label from how far apart the two target spans
are. The exact likelihood is learned, the best path decoded, in both directions with the same weights; a link
is one that both have found.

What is left open, or is read so here: sentences are encoded together, and a word is the mean of its
subwords. Span vectors are mapped to `SIZE` before they are compared, so that all pairs of spans fit into
memory. Null is a learned span. The score of a transition is learned for each signed distance from the end
of one target span to the start of the next, clipped at `FARTHEST`, and for going to, from and between nulls.
The path to learn is the one whose links differ from the gold in the fewest cells, since links that are no
pairs of spans cannot all be had; of several it has the fewest spans, but a span for each null word. Of the
ways to merge two directions, the intersection was the best on the dev sets, or as good as grow-diag.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from experiments.peers.semi_markov import NEVER, Path, best_path, log_partition, path_score
from otalign.scoring import PairBatch

LONGEST = 3  # maximum number of words of a span
SIZE = 256  # dimensions of span vectors and pair features
FARTHEST = 10  # maximum distance of two target spans that is distinguished
DROPOUT = 0.1
CELLS = 1 << 16  # word pairs decoded together; each needs nine pairs of spans in memory
TIE = 0.01  # by which the one of two equally good gold paths is better


class SemiCrf(nn.Module):
    """The head: computes a loss, or links, from the words of pairs (`PairBatch`)."""

    def __init__(self, size: int):
        super().__init__()
        self.attention = nn.Linear(size, 1)
        self.span = nn.Linear(3 * size, SIZE)
        self.null = nn.Parameter(torch.zeros(SIZE))
        self.own, self.other = nn.Linear(SIZE, SIZE), nn.Linear(SIZE, SIZE, bias=False)
        self.apart, self.alike = (nn.Linear(SIZE, SIZE, bias=False) for _ in range(2))
        self.score = nn.Sequential(nn.PReLU(), nn.Dropout(DROPOUT), nn.Linear(SIZE, 1))
        self.moves = nn.Parameter(torch.zeros(2 * FARTHEST + 4))  # by distance, and where there is a null

    def forward(self, tile: PairBatch, links: Tensor) -> Tensor:
        """The negative log-likelihood of gold links (B, N, M) per word, of both directions together."""
        forward, backward = self._both(tile)
        lost = self._lost(forward, tile.is_source, links, tile.is_target)
        lost = lost + self._lost(backward, tile.is_target, links.mT, tile.is_source)
        return lost.sum() / (tile.is_source.sum() + tile.is_target.sum())

    @torch.no_grad()
    def weights(self, tile: PairBatch) -> Tensor:
        """1 where there is a link, else 0, (B, N, M)."""
        (n, m), pairs = (tile.X.shape[1], tile.Y.shape[1]), len(tile.X)
        found = torch.zeros(pairs, n, m)
        step = max(1, CELLS // (n * m))
        for first in range(0, pairs, step):
            part = PairBatch(*(of[first : first + step] for of in tile))
            forward, backward = self._both(part)
            both = self._decode(forward, part.is_source, m) & self._decode(backward, part.is_target, n).mT
            found[first : first + step] = both
        return found

    def _both(self, tile: PairBatch) -> tuple[Tensor, Tensor]:
        """The scores of the spans of each side with those of the other, (B, N, S, S · M + 1)."""
        S, T = self._spans(tile.X), self._spans(tile.Y)
        directions = (S, T, tile.is_target), (T, S, tile.is_source)
        # What is made of two spans is made again for the gradient: of all pairs it is too much to keep.
        forward, backward = (checkpoint(self._scores, *of, use_reentrant=False) for of in directions)
        return forward, backward

    def _spans(self, words: Tensor) -> Tensor:
        """The spans that end with each word, (B, N, S, SIZE). One that begins before the text is none."""
        raised = self.attention(words).float().clamp(-30, 30).exp()  # pooled: Σ e^a x / Σ e^a
        above, below = torch.zeros_like(words), torch.zeros_like(raised)
        made = []
        for before in range(LONGEST):
            above, below = above + _shift(raised * words, before), below + _shift(raised, before)
            made.append(torch.cat([_shift(words, before), words, above / below], -1))
        return self.span(torch.stack(made, 2))

    def _scores(self, own: Tensor, other: Tensor, is_other: Tensor) -> Tensor:
        """Score each span under each label: the other's spans, (B, N, S, M, S) laid flat, and null."""
        null = self.null.to(other.dtype).expand(len(other), 1, -1)
        labels = torch.cat([other.flatten(1, 2), null], 1)
        left, right = self.own(own).flatten(1, 2)[:, :, None], self.other(labels)[:, None]
        spans, labels = own.flatten(1, 2)[:, :, None], labels[:, None]
        hidden = left + right + self.apart((spans - labels).abs()) + self.alike(spans * labels)
        scores = self.score(hidden).squeeze(-1).float().unflatten(1, own.shape[1:3])
        return scores.masked_fill(~_is_label(is_other)[:, None, None], NEVER)

    def _lost(self, scores: Tensor, is_own: Tensor, links: Tensor, is_other: Tensor) -> Tensor:
        lengths = is_own.sum(1)
        with torch.autocast(scores.device.type, enabled=False):
            transitions = self._transitions(links.shape[2])
            gold = gold_path(links, is_own, is_other)
            return log_partition(scores, transitions, lengths) - path_score(scores, transitions, gold)

    def _decode(self, scores: Tensor, is_own: Tensor, others: int) -> Tensor:
        path = best_path(scores, self._transitions(others), is_own.sum(1))
        return path_links(path, others)

    def _transitions(self, others: int) -> Tensor:
        """Score a label after each label, (S · M + 1, S · M + 1)."""
        ends, starts = torch.arange(others).repeat_interleave(LONGEST), _starts(others)
        apart = (starts[None, :] - ends[:, None] - 1).clamp(-FARTHEST, FARTHEST) + FARTHEST
        from_null, to_null, between = range(2 * FARTHEST + 1, 2 * FARTHEST + 4)
        which = F.pad(apart, (0, 1, 0, 1), value=between)
        which[-1, :-1], which[:-1, -1] = from_null, to_null
        return self.moves[which.to(self.moves.device)]


@torch.no_grad()
def gold_path(links: Tensor, is_own: Tensor, is_other: Tensor) -> Path:
    """The path whose links differ from gold links (B, N, M) in the fewest cells."""
    gained = 2 * (links > 0.5).float() - 1  # links are right or wrong; what is left out gains nothing
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
    scores = scores.masked_fill(~_is_label(is_other)[:, None, None], NEVER)
    free = scores.new_zeros(scores.shape[-1], scores.shape[-1])
    return best_path(scores, free, is_own.sum(1))


def path_links(path: Path, others: int) -> Tensor:
    """The links of all words of a span with all words of its label, (B, N, M)."""
    label = torch.full_like(path.labels, LONGEST * others)
    for k in range(LONGEST):  # of the span that ends k words further on, if it reaches back so far
        sizes, labels = (F.pad(of[:, k:], (0, k)) for of in path)
        label = torch.where(sizes > k, labels, label)
    ends, starts = label // LONGEST, _starts(others).to(label.device)
    starts = F.pad(starts, (0, 1))[label]
    each = torch.arange(others, device=label.device)
    inside = (each >= starts[..., None]) & (each <= ends[..., None])
    return inside & (label < LONGEST * others)[..., None]


def _starts(others: int) -> Tensor:
    """The first word of each label but null: those of the word j are the spans of 1, 2, … that end there."""
    return (torch.arange(others)[:, None] - torch.arange(LONGEST)).flatten()


def _is_label(is_other: Tensor) -> Tensor:
    """Return the mask of existing labels, (B, S · M + 1): it ends with a word, and starts with one."""
    others = is_other.shape[1]
    there = is_other.repeat_interleave(LONGEST, 1) & (_starts(others) >= 0).to(is_other.device)
    return F.pad(there, (0, 1), value=True)


def _shift(of: Tensor, steps: int) -> Tensor:
    """Shift by a number of words, (B, N, …); 0 before the first."""
    steps = min(steps, of.shape[1])
    return F.pad(of[:, : of.shape[1] - steps], (0, 0, steps, 0))
