"""Training batches as tensors on the device of the model."""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from otalign.encoders.encoder import INPUTS
from otalign.scoring import PairBatch
from otalign.training.batches import TrainingBatch


class BatchTensors(NamedTuple):
    """The arrays of a `TrainingBatch` as tensors."""

    inputs: dict[str, Tensor]  # (I, L) each
    places: Tensor
    words: Tensor
    shares: Tensor
    lengths: Tensor
    ngrams: Tensor
    links: Tensor
    known: Tensor

    @classmethod
    def from_batch(cls, batch: TrainingBatch, device: Any) -> "BatchTensors":
        """Copy a batch to a device."""
        pinned = torch.device(device).type == "cuda"  # otherwise the copy waits for all earlier work

        def to_device(array: np.ndarray) -> Tensor:
            tensor = torch.from_numpy(array)
            return tensor.pin_memory().to(device, non_blocking=True) if pinned else tensor.to(device)

        inputs = dict[str, Tensor](
            zip(INPUTS, map(to_device, (batch.ids, batch.mask, batch.types)), strict=True)
        )
        rest = (
            batch.places,
            batch.words,
            batch.shares,
            batch.lengths,
            batch.ngrams,
            batch.links,
            batch.known,
        )
        tensors = cls(inputs, *map(to_device, rest))
        return tensors._replace(links=tensors.links.float())

    def pool_words(self, states: Tensor, with_spelling: bool = False) -> PairBatch:
        """Compute word vectors, each the mean of the states (I, L, D) of its subwords.

        Args:
            states: States of the encoder.
            with_spelling: Whether each word vector is followed by the vector of its spelling.
        """
        pairs, (n, m) = len(self.lengths), self.links.shape[-2:]
        width, size = max(n, m), states.shape[-1]
        # Not by indexing, whose gradient sorts the places on a GPU.
        parts = states.reshape(-1, size).index_select(0, self.places) * self.shares[:, None]
        words = states.new_zeros(2 * pairs * width, size).index_add_(0, self.words, parts)
        if with_spelling:
            counts = self.ngrams.to(states.dtype)
            norms = counts.square().sum(dim=1, keepdim=True).sqrt().clamp(min=1)
            words = torch.cat([words, counts / norms], dim=1)
        each = torch.arange(width, device=states.device)
        is_word = each < self.lengths[:, :, None]  # (B, 2, W)
        # Padding gets a vector that is not 0, since the gradient of a norm is not defined at 0.
        words = torch.where(is_word[..., None], words.view(pairs, 2, width, -1), 1.0)
        return PairBatch(words[:, 0, :n], words[:, 1, :m], is_word[:, 0, :n], is_word[:, 1, :m])
