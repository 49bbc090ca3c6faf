"""The supervised peers as models that a training run takes."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from experiments.peers.queries import QueryBatch, group_by_pairs, make_batch, make_queries
from experiments.peers.semi_crf import SemiCrf
from experiments.peers.settings import Peer
from experiments.peers.span_prediction import QueryTensors, SpanPrediction
from otalign.alignment import LEVELS, Level
from otalign.encoders.transformers import Transformers
from otalign.gold import Gold
from otalign.scoring import PairBatch
from otalign.text.words import join_words
from otalign.training.batches import PairSet, TrainingBatch, pool_by_size
from otalign.training.model import Learner
from otalign.training.reading import ShuffledSet
from otalign.training.tensors import BatchTensors


class SemiCrfModel(Learner):
    """An encoder with a semi-Markov CRF, which reads the same batches as an aligner in training."""

    def __init__(self, encoder: Transformers, level: Level):
        super().__init__(encoder)
        self.head = SemiCrf(encoder.model.config.hidden_size)
        self.level: Level = level

    def forward(self, batch: BatchTensors) -> Tensor:
        """Compute the loss of a batch."""
        return self.head(self._embed_words(batch), batch.links[LEVELS.index(self.level)])

    @torch.inference_mode()
    def score(self, batch: TrainingBatch) -> tuple[PairBatch, dict[Level, Any]]:
        """Predict the links of a batch; return them with the masks of its words."""
        words = self._embed_words(self.to_tensors(batch, self.device))
        return words, {self.level: self.head.score_links(words)}

    def _embed_words(self, batch: BatchTensors) -> PairBatch:
        return batch.pool_words(self.encode(batch.inputs).float())


class SpanModel(Learner):
    """An encoder with span prediction, which reads queries."""

    def __init__(self, encoder: Transformers, level: Level):
        super().__init__(encoder)
        self.head = SpanPrediction(encoder.model.config.hidden_size)
        self.level: Level = level

    def to_tensors(self, batch: QueryBatch, device: Any) -> QueryTensors:
        return QueryTensors.from_batch(batch, device)

    def forward(self, queries: QueryTensors) -> Tensor:
        """Compute the loss of a batch."""
        return self.head(self.encode(queries.inputs), queries)

    @torch.inference_mode()
    def score(self, batch: QueryBatch) -> tuple[PairBatch, dict[Level, Any]]:
        """Compute the probabilities of links; return them with the masks of the words."""
        scores = self.head.score_links(batch, self._read)
        is_word = (np.arange(size) < batch.lengths[:, k, None] for k, size in enumerate(scores.shape[1:]))
        return PairBatch(None, None, *is_word), {self.level: scores}

    def _read(self, queries: QueryBatch) -> tuple[Tensor, QueryTensors]:
        tensors = self.to_tensors(queries, self.device)
        return self.encode(tensors.inputs), tensors


class QuerySet(ShuffledSet):
    """The queries of pairs with their answers at a level. An example is one query."""

    def __init__(self, golds: Sequence[Gold], encoder: Transformers, level: Level):
        self.golds, self.pad = golds, encoder.pad
        pairs = [(join_words(gold.source), join_words(gold.target)) for gold in golds]
        self.queries = list(make_queries(pairs, encoder))
        self.sizes = np.array([len(query.ids) for query in self.queries])
        self.lengths = np.array([gold.shape for gold in golds], dtype=np.int64).reshape(-1, 2)
        self.links = [np.zeros(gold.shape, dtype=np.float32) for gold in golds]
        for links, gold in zip(self.links, golds, strict=True):
            for cell in gold.pairs(level):
                links[cell] = 1

    def __len__(self) -> int:
        return len(self.queries)

    def make_batch(self, examples: np.ndarray) -> QueryBatch:
        return make_batch([self.queries[k] for k in examples], self.lengths, self.links, self.pad)

    def shuffle(self, size: int, random: np.random.Generator) -> list[np.ndarray]:
        """Return the numbers of all queries in random batches of `size`; similar lengths come together."""
        order = random.permutation(len(self))
        return pool_by_size(order, self.sizes[order], size, random)

    def batch_by_length(self, subwords: int) -> Iterator[QueryBatch]:
        """Yield all queries, the longest first, those of a pair together."""
        for queries in group_by_pairs(self.queries, subwords):
            yield make_batch(queries, self.lengths, self.links, self.pad)


MODELS: dict[Peer, Callable[[Transformers, Level], SemiCrfModel | SpanModel]] = {
    "semi-crf": SemiCrfModel,
    "span-prediction": SpanModel,
}


def make_examples(
    peer: Peer, golds: Sequence[Gold], encoder: Transformers, level: Level, both_directions: bool = False
) -> PairSet | QuerySet:
    """Make the examples that a peer reads. Span prediction has queries in both directions anyway."""
    if peer == "span-prediction":
        return QuerySet(golds, encoder, level)
    return PairSet(golds, encoder, both_directions=both_directions)
