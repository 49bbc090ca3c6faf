"""Span prediction of Nagata, Chousa and Nishino (EMNLP 2020), as a head over the states of an encoder.

Each word in turn is marked in its sentence, and the span of the other sentence that it corresponds to is
predicted as an answer is in SQuAD 2.0: a start and an end, both at the first subword of the input where
there is none. Both directions are asked. The probability of a word pair in one direction is that of the best
span, if the word is in it, else 0; a link is where the mean of the two passes a threshold.

What is left open, or is read so here: a start is the first subword of a word, and an end the last one, so
that spans are of whole words and nothing else can be predicted. Where a word is linked to several spans, all
are answers alike. The best span is that of the highest probability whether or not null has a higher one,
since the threshold decides. In training a step reads queries of any pairs, not all of a pair.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from experiments.peers.queries import QueryBatch
from otalign.encoders.embeddings import to_numpy
from otalign.encoders.encoder import INPUTS

NEVER = -1e4


class QueryTensors(NamedTuple):
    """A batch of queries as tensors on a device."""

    inputs: dict[str, Tensor]  # (Q, L) each
    starts: Tensor
    ends: Tensor
    is_word: Tensor  # (Q, W)
    links: Tensor

    @classmethod
    def of(cls, batch: QueryBatch, device: torch.device | str) -> "QueryTensors":
        def to_device(array: np.ndarray) -> Tensor:
            return torch.from_numpy(array).to(device, non_blocking=True)

        inputs = dict[str, Tensor](
            zip(INPUTS, map(to_device, (batch.ids, batch.mask, batch.types)), strict=True)
        )
        is_word = np.arange(batch.starts.shape[1]) < batch.counts[:, None]
        return cls(inputs, *map(to_device, (batch.starts, batch.ends, is_word, batch.links)))


class SpanPrediction(nn.Module):
    """The head: computes a loss, or probabilities of links, from the states of queries."""

    def __init__(self, size: int):
        super().__init__()
        self.bounds = nn.Linear(size, 2)

    def forward(self, states: Tensor, queries: QueryTensors) -> Tensor:
        """The cross-entropy of start and end, a mean over queries; states are (Q, L, D)."""
        linked = (queries.links > 0.5) & queries.is_word
        none = ~linked.any(1, keepdim=True)
        before, after = F.pad(linked, (1, 0))[:, :-1], F.pad(linked, (0, 1))[:, 1:]
        lost = states.new_zeros(())
        for logits, bound in zip(
            self._log_odds(states, queries), (linked & ~before, linked & ~after), strict=True
        ):
            wanted = torch.cat([none, bound], 1).float()
            wanted = wanted / wanted.sum(1, keepdim=True)
            lost = lost + F.cross_entropy(logits, wanted) / 2
        return lost

    def weights(
        self, batch: QueryBatch, read: Callable[[QueryBatch], tuple[Tensor, QueryTensors]]
    ) -> np.ndarray:
        """Return the probabilities (B, N, M) of the word pairs of a batch; `read` encodes its queries."""
        spans = [to_numpy(self.best_spans(*read(part))) for part in batch.parts()]
        return average_directions(np.concatenate(spans), batch)

    @torch.no_grad()
    def best_spans(self, states: Tensor, queries: QueryTensors) -> Tensor:
        """The probability of the best span at the words in it, else 0, (Q, W)."""
        start, end = (logits.softmax(1)[:, 1:] for logits in self._log_odds(states, queries))
        spans = (start[:, :, None] * end[:, None, :]).triu()
        words = spans.shape[1]
        most, where = spans.flatten(1).max(1)
        each = torch.arange(words, device=states.device)
        first, last = (where // words)[:, None], (where % words)[:, None]
        return most[:, None] * ((each >= first) & (each <= last) & queries.is_word)

    def _log_odds(self, states: Tensor, queries: QueryTensors) -> tuple[Tensor, Tensor]:
        """Return the logits of start and end: at none and at each word, (Q, 1 + W)."""
        bounds = self.bounds(states).float()
        made = []
        for k, places in enumerate((queries.starts, queries.ends)):
            words = bounds[:, :, k].gather(1, places).masked_fill(~queries.is_word, NEVER)
            made.append(torch.cat([bounds[:, :1, k], words], 1))
        return made[0], made[1]


def average_directions(spans: np.ndarray, batch: QueryBatch) -> np.ndarray:
    """The mean of the two directions for each word pair, (B, N, M), from the `best_spans` of all queries of
    the batch's pairs. Of windows, the surest counts."""
    n, m = batch.lengths.max(axis=0)
    directions = np.zeros((2, len(batch.pairs), n, m), dtype=np.float32)
    for (pair, side, word, first), count, span in zip(batch.places, batch.counts, spans, strict=True):
        of = directions[side, pair] if side == 0 else directions[side, pair].T
        here = of[word, first : first + count]
        np.maximum(here, span[:count], out=here)
    return directions.mean(axis=0)
