"""Span prediction of Nagata, Chousa and Nishino (EMNLP 2020), as a head over the states of an encoder.

Each word in turn is marked in its sentence, and the corresponding span of the other sentence is predicted
like an answer in SQuAD 2.0: a start and an end, both at the first subword of the input if there is none. The
queries go in both directions. The probability of a word pair in one direction is that of the best span, if
the word is in it, else 0. A link is a word pair whose mean over both directions exceeds a threshold.

Where the paper leaves details open, this implementation does the following. A start is the first subword of a
word, and an end the last one, so that only spans of complete words can be predicted. If a word is linked to
several spans, all of them are answers with equal weight. The best span is that of the highest probability,
even if null has a higher one, since the threshold decides. A training step reads queries of any pairs, not
all queries of a pair.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from experiments.peers.queries import QueryBatch, group_by_pairs, make_batch, make_queries
from otalign.encoders.embeddings import to_numpy
from otalign.encoders.encoder import INPUTS
from otalign.encoders.transformers import Transformers
from otalign.text.words import Pair

NEVER = -1e4


class QueryTensors(NamedTuple):
    """A batch of queries as tensors on a device."""

    inputs: dict[str, Tensor]  # (Q, L) each
    starts: Tensor
    ends: Tensor
    is_word: Tensor  # (Q, W)
    links: Tensor

    @classmethod
    def from_batch(cls, batch: QueryBatch, device: torch.device | str) -> "QueryTensors":
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
        """Compute the mean cross-entropy of start and end over queries; states are (Q, L, D)."""
        linked = (queries.links > 0.5) & queries.is_word
        none = ~linked.any(1, keepdim=True)
        before, after = F.pad(linked, (1, 0))[:, :-1], F.pad(linked, (0, 1))[:, 1:]
        loss = states.new_zeros(())
        for logits, bound in zip(
            self._compute_logits(states, queries), (linked & ~before, linked & ~after), strict=True
        ):
            answer = torch.cat([none, bound], 1).float()
            answer = answer / answer.sum(1, keepdim=True)
            loss = loss + F.cross_entropy(logits, answer) / 2
        return loss

    def score_links(
        self, batch: QueryBatch, read: Callable[[QueryBatch], tuple[Tensor, QueryTensors]]
    ) -> np.ndarray:
        """Compute the probabilities (B, N, M) of the word pairs of a batch; `read` encodes its queries."""
        spans = [to_numpy(self.predict_spans(*read(part))) for part in batch.split()]
        return average_directions(np.concatenate(spans), batch)

    def score_pairs(
        self, encoder: Transformers, pairs: Sequence[Pair]
    ) -> Iterator[tuple[Sequence[int], np.ndarray]]:
        """Yield indices of pairs, and the scores of their links (B, N, M)."""

        def read(part: QueryBatch) -> tuple[Tensor, QueryTensors]:
            states = encoder.compute_states(part.ids, part.mask, part.types)
            states = torch.as_tensor(states, device=self.bounds.weight.device)
            return states, QueryTensors.from_batch(part, states.device)

        lengths = np.array([(len(source.spans), len(target.spans)) for source, target in pairs])
        unknown = [np.zeros(shape, dtype=np.float32) for shape in lengths]  # links, which are not used here
        for queries in group_by_pairs(make_queries(pairs, encoder), encoder.batch_size):
            batch = make_batch(queries, lengths, unknown, encoder.pad)
            yield batch.pairs.tolist(), self.score_links(batch, read)

    @torch.no_grad()
    def predict_spans(self, states: Tensor, queries: QueryTensors) -> Tensor:
        """Return the probability of the best span for the words in it, else 0, (Q, W)."""
        start, end = (logits.softmax(1)[:, 1:] for logits in self._compute_logits(states, queries))
        spans = (start[:, :, None] * end[:, None, :]).triu()
        words = spans.shape[1]
        highest, index = spans.flatten(1).max(1)
        each = torch.arange(words, device=states.device)
        first, last = (index // words)[:, None], (index % words)[:, None]
        return highest[:, None] * ((each >= first) & (each <= last) & queries.is_word)

    def _compute_logits(self, states: Tensor, queries: QueryTensors) -> tuple[Tensor, Tensor]:
        """Compute the logits of start and end: for no answer and for each word, (Q, 1 + W)."""
        bounds = self.bounds(states).float()
        logits = []
        for k, positions in enumerate((queries.starts, queries.ends)):
            words = bounds[:, :, k].gather(1, positions).masked_fill(~queries.is_word, NEVER)
            logits.append(torch.cat([bounds[:, :1, k], words], 1))
        return logits[0], logits[1]


def average_directions(spans: np.ndarray, batch: QueryBatch) -> np.ndarray:
    """Average the two directions for each word pair, (B, N, M).

    Args:
        spans: The `predict_spans` of all queries of the batch's pairs. The highest value of windows counts.
        batch: The queries.
    """
    n, m = batch.lengths.max(axis=0)
    directions = np.zeros((2, len(batch.pairs), n, m), dtype=np.float32)
    for (pair, side, word, first), count, span in zip(batch.positions, batch.counts, spans, strict=True):
        links = directions[side, pair] if side == 0 else directions[side, pair].T
        cells = links[word, first : first + count]
        np.maximum(cells, span[:count], out=cells)
    return directions.mean(axis=0)
