"""Encoder and head as one torch module, with its loss and its scores."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from otalign.alignment import Level
from otalign.encoders.embeddings import to_numpy
from otalign.encoders.pretrained import OPTIONAL_WEIGHTS
from otalign.encoders.transformers import Transformers, run_model
from otalign.scoring import Head, PairBatch
from otalign.scoring.heads.learned_transport import CALIBRATIONS
from otalign.settings import AnySettings
from otalign.training.batches import TrainingBatch
from otalign.training.objectives import Objective
from otalign.training.recipe import HeadPart, Recipe
from otalign.training.tensors import BatchTensors

# Arrays that are kept at 0 to leave a part out. A head without spelling has fewer features instead.
ABLATED_ARRAYS: dict[HeadPart, str] = {
    "competition": "beta",
    "prices": "price",
    "neighbours": "seen",
    "support": "support",
}


class Learner(nn.Module):
    """A model that a `TrainingRun` trains and dev sets score: an encoder with something on top.

    A subclass defines the tensors that it reads of a batch, its loss (`forward`), and its scores of links.
    """

    def __init__(self, encoder: Transformers) -> None:
        super().__init__()
        self.encoder = encoder.model
        for name, weight in self.encoder.named_parameters():
            if name.startswith(OPTIONAL_WEIGHTS):  # else processes would wait for their gradients
                weight.requires_grad_(False)
        self.inputs = encoder.inputs

    def to_tensors(self, batch: Any, device: Any) -> Any:
        """Return the argument of `forward`, on a device."""
        return BatchTensors.from_batch(batch, device)

    def encode(self, inputs: dict[str, Tensor], mix: Tensor | None = None) -> Tensor:
        """Compute the states (I, L, D) of the encoder."""
        return run_model(self.encoder, {name: inputs[name] for name in self.inputs}, mix)

    def score(self, batch: Any) -> tuple[PairBatch, dict[Level, Any]]:
        """Score the links (B, N, M) at each level that is learned; the `PairBatch` masks the words."""
        raise NotImplementedError

    @property
    def device(self) -> torch.device:
        """Device of the weights."""
        return next(self.parameters()).device


class Model(Learner):
    """An encoder that is fine-tuned together with a head, towards an objective."""

    def __init__(
        self, encoder: Transformers, head: Head, objective: Objective, settings: AnySettings, recipe: Recipe
    ) -> None:
        super().__init__(encoder)
        self.objective, self.settings = objective, settings
        self.reads_spelling = head.reads_spelling
        ablated = {ABLATED_ARRAYS[part] for part in recipe.ablate if part in ABLATED_ARRAYS}
        self.arrays = nn.ParameterDict()
        for name, array in head.arrays().items():
            start = torch.tensor(array * (name not in ablated))
            self.arrays[name] = nn.Parameter(start, name not in {*CALIBRATIONS, *ablated})
        layers = recipe.layers
        mix = np.full(layers, 1 / layers) if encoder.mix is None else encoder.mix
        self.log_mix = nn.Parameter(torch.tensor(np.log(mix), dtype=torch.float32)) if layers > 1 else None

    def build_head(self) -> Any:
        """Build the head of the current weights, as tensors."""
        return self.objective.build_head(dict(self.arrays), self.settings.pairing)

    def export_head(self) -> Any:
        """Build the head of the current weights, as NumPy arrays."""
        arrays = self.build_head().arrays()
        return self.objective.head_type(**{name: to_numpy(array.detach()) for name, array in arrays.items()})

    def compute_mix(self) -> Tensor | None:
        """Compute the weights of the encoder's last layers; None if only the last is used."""
        return None if self.log_mix is None else torch.softmax(self.log_mix, 0)

    def embed_words(self, batch: BatchTensors) -> PairBatch:
        """Compute the word vectors of a batch."""
        states = self.encode(batch.inputs, self.compute_mix()).float()
        return batch.pool_words(states, self.reads_spelling)

    def forward(self, batch: BatchTensors) -> Tensor:
        """Compute the loss of a batch."""
        words = self.embed_words(batch)
        with torch.autocast(words.X.device.type, enabled=False):
            return self.objective.compute_loss(self.build_head(), self.settings, words, batch)

    @torch.inference_mode()
    def score(self, batch: TrainingBatch) -> tuple[PairBatch, dict[Level, Any]]:
        """Score the links at each level that the head knows."""
        words = self.embed_words(BatchTensors.from_batch(batch, self.device))
        return words, self.objective.score(self.build_head(), self.settings, words)
