"""The paper's head: a linear layer with tanh before the transport problem of the settings."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from otalign.arrays import Array, array_namespace
from otalign.scoring.batches import PairBatch
from otalign.scoring.heads.head import Head, draw_weights, multiply


@dataclass(frozen=True, eq=False)
class ProjectionHead(Head):
    """The paper's head: word vectors become tanh(x A + b), then a transport problem is solved."""

    name = "Projection"
    map: Array  # (D, D)
    offset: Array  # (D,)

    @classmethod
    def initialize(cls, size: int, random: "np.random.Generator") -> Self:
        """Return a head with random weights."""
        return cls(draw_weights(random, size, size), np.zeros(size, dtype=np.float32))

    def compute_shapes(self, size: int) -> dict[str, tuple[int, ...]]:
        """Return the shapes of map and offset."""
        return {"map": (size, size), "offset": (size,)}

    def project(self, batch: PairBatch) -> PairBatch:
        """Return the batch with projected word vectors."""
        xp = array_namespace(batch.X)
        X, Y = (xp.tanh(multiply(xp, x, self.map) + self.offset) for x in (batch.X, batch.Y))
        return batch._replace(X=X, Y=Y)
