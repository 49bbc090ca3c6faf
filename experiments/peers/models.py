"""The supervised peers as models of the training loop."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from experiments.peers.queries import QueryBatch, batch, by_pairs, queries
from experiments.peers.semi_crf import SemiCrf
from experiments.peers.settings import Peer
from experiments.peers.span_prediction import QueryTensors, SpanPrediction
from otalign.alignment import LEVELS, Level
from otalign.encoders.transformers import Transformers
from otalign.gold import Gold
from otalign.scoring import PairBatch
from otalign.text.words import join_words
from otalign.training.batches import PairSet, TrainingBatch, pool_by_size
from otalign.training.model import Learner, Tensors
from otalign.training.reading import ShuffledSet


class SemiCrfModel(Learner):
    """The encoder under a semi-Markov CRF; it reads pairs as those of transport do."""

    def __init__(self, encoder: Transformers, level: Level):
        super().__init__(encoder)
        self.head = SemiCrf(encoder.model.config.hidden_size)
        self.level: Level = level

    def forward(self, batch: Tensors) -> Tensor:
        """The loss of a batch."""
        return self.head(self._tile(batch), batch.links[LEVELS.index(self.level)])

    @torch.inference_mode()
    def weights(self, batch: TrainingBatch) -> tuple[PairBatch, dict[Level, Any]]:
        tile = self._tile(self.tensors(batch, self.device))
        return tile, {self.level: self.head.weights(tile)}

    def _tile(self, batch: Tensors) -> PairBatch:
        return batch.tile(self.states(batch.inputs).float())


class SpanModel(Learner):
    """The encoder under span prediction; it reads queries."""

    def __init__(self, encoder: Transformers, level: Level):
        super().__init__(encoder)
        self.head = SpanPrediction(encoder.model.config.hidden_size)
        self.level: Level = level

    def tensors(self, batch: QueryBatch, device: Any) -> QueryTensors:
        return QueryTensors.of(batch, device)

    def forward(self, queries: QueryTensors) -> Tensor:
        """The loss of a batch."""
        return self.head(self.states(queries.inputs), queries)

    @torch.inference_mode()
    def weights(self, batch: QueryBatch) -> tuple[PairBatch, dict[Level, Any]]:
        found = self.head.weights(batch, self._read)
        is_word = (np.arange(size) < batch.lengths[:, k, None] for k, size in enumerate(found.shape[1:]))
        return PairBatch(None, None, *is_word), {self.level: found}

    def _read(self, queries: QueryBatch) -> tuple[Tensor, QueryTensors]:
        asked = self.tensors(queries, self.device)
        return self.states(asked.inputs), asked


class QuerySet(ShuffledSet):
    """The queries of pairs with their answers at a level. An example is a query; a dev set goes by pairs."""

    def __init__(self, golds: Sequence[Gold], encoder: Transformers, level: Level):
        self.golds, self.pad = golds, encoder.pad
        pairs = [(join_words(gold.source), join_words(gold.target)) for gold in golds]
        self.queries = list(queries(pairs, encoder))
        self.sizes = np.array([len(query.ids) for query in self.queries])
        self.lengths = np.array([gold.shape for gold in golds], dtype=np.int64).reshape(-1, 2)
        self.links = [np.zeros(gold.shape, dtype=np.float32) for gold in golds]
        for links, gold in zip(self.links, golds, strict=True):
            for cell in gold.pairs(level):
                links[cell] = 1

    def __len__(self) -> int:
        return len(self.queries)

    def batch(self, examples: np.ndarray) -> QueryBatch:
        return batch([self.queries[k] for k in examples], self.lengths, self.links, self.pad)

    def shuffle(self, size: int, random: np.random.Generator) -> list[np.ndarray]:
        """The numbers of all queries once, `size` at a time, at random but that those of like length come
        together."""
        order = random.permutation(len(self))
        return pool_by_size(order, self.sizes[order], size, random)

    def by_length(self, subwords: int) -> Iterator[QueryBatch]:
        """All queries of all pairs, the longest first, those of a pair together."""
        for of in by_pairs(self.queries, subwords):
            yield batch(of, self.lengths, self.links, self.pad)


MODELS: dict[Peer, Callable[[Transformers, Level], SemiCrfModel | SpanModel]] = {
    "semi-crf": SemiCrfModel,
    "span-prediction": SpanModel,
}


def examples(
    peer: Peer, golds: Sequence[Gold], encoder: Transformers, level: Level, both_directions: bool = False
) -> PairSet | QuerySet:
    """Return the training examples of a peer. Span prediction always has both directions."""
    if peer == "span-prediction":
        return QuerySet(golds, encoder, level)
    return PairSet(golds, encoder, both_directions=both_directions)
