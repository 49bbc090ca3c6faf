"""Encoder and head as one torch module: what it makes of a batch, and how far that is from the gold."""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from otalign.alignment import LEVELS, Level
from otalign.encoders.embeddings import to_numpy
from otalign.encoders.encoder import INPUTS
from otalign.encoders.pretrained import OPTIONAL_WEIGHTS
from otalign.encoders.transformers import Transformers, states
from otalign.scoring import Head, LearnedScorer, PairBatch, ProjectionHead, TransportScorer
from otalign.settings import AnySettings, Settings
from otalign.training.batches import TrainingBatch
from otalign.training.recipe import Part, Recipe

TINY = 1e-6  # from 0 and 1, where the logarithm of a weight is taken
FIXED = {"calibration", "null_calibration"}  # of a head: not learned from the train set
WITHOUT: dict[Part, str] = {"competition": "beta", "prices": "price", "neighbours": "seen"}  # what is then 0
SPREAD = 30.0  # the cells of which about one is a link: so that losses of all kinds are of like size


class Tensors(NamedTuple):
    """A batch on the device that it is read on."""

    inputs: dict[str, Tensor]  # (I, L) each
    places: Tensor
    words: Tensor
    shares: Tensor
    lengths: Tensor
    links: Tensor
    known: Tensor

    @classmethod
    def of(cls, batch: TrainingBatch, device: Any) -> "Tensors":
        pinned = torch.device(device).type == "cuda"  # else the copy would wait for all that was begun

        def to_device(array: np.ndarray) -> Tensor:
            tensor = torch.from_numpy(array)
            return tensor.pin_memory().to(device, non_blocking=True) if pinned else tensor.to(device)

        inputs = dict[str, Tensor](
            zip(INPUTS, map(to_device, (batch.ids, batch.mask, batch.types)), strict=True)
        )
        rest = (batch.places, batch.words, batch.shares, batch.lengths, batch.links, batch.known)
        return cls(inputs, *map(to_device, rest))

    def tile(self, states: Tensor) -> PairBatch:
        """The words of the pairs, each the mean of its subwords' states (I, L, D)."""
        pairs, (n, m) = len(self.lengths), self.links.shape[-2:]
        width, size = max(n, m), states.shape[-1]
        # Not by indexing, whose gradient sorts the places on a GPU.
        parts = states.reshape(-1, size).index_select(0, self.places) * self.shares[:, None]
        words = states.new_zeros(2 * pairs * width, size).index_add_(0, self.words, parts)
        each = torch.arange(width, device=states.device)
        is_word = each < self.lengths[:, :, None]  # (B, 2, W)
        # What is no word has a vector all the same, of some length: gradients of lengths know no 0.
        words = torch.where(is_word[..., None], words.view(pairs, 2, width, size), 1.0)
        return PairBatch(words[:, 0, :n], words[:, 1, :m], is_word[:, 0, :n], is_word[:, 1, :m])


class Learner(nn.Module):
    """An encoder's module with something over it: what the loop trains, and the dev sets score.

    A subclass says what it reads of a batch, its loss (`forward`), and the weights that it gives to links.
    """

    def __init__(self, encoder: Transformers):
        super().__init__()
        self.encoder = encoder.model
        for name, weight in self.encoder.named_parameters():
            if name.startswith(OPTIONAL_WEIGHTS):  # else processes would wait for their gradients
                weight.requires_grad_(False)
        self.inputs = encoder.inputs

    def tensors(self, batch: Any, device: Any) -> Any:
        """What `forward` takes, on a device."""
        return Tensors.of(batch, device)

    def states(self, inputs: dict[str, Tensor], mix: Tensor | None = None) -> Tensor:
        """What the encoder makes of its inputs, (I, L, D)."""
        return states(self.encoder, {name: inputs[name] for name in self.inputs}, mix)

    def weights(self, batch: Any) -> tuple[PairBatch, dict[Level, Any]]:
        """Of the links, at each level that is learned, (B, N, M), and where there are words."""
        raise NotImplementedError

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device


class Model(Learner):
    """The encoder's module, fine-tuned with the arrays of a head, at a level if the head knows but one."""

    def __init__(
        self, encoder: Transformers, head: Head, settings: AnySettings, level: Level, recipe: Recipe
    ):
        super().__init__(encoder)
        self.kind, self.settings = type(head), settings
        self.level: Level = level
        absent = {WITHOUT[part] for part in recipe.without}
        self.arrays = nn.ParameterDict()
        for name, array in head.arrays().items():
            start = torch.tensor(array * (name not in absent))
            self.arrays[name] = nn.Parameter(start, name not in FIXED | absent)
        layers = recipe.layers
        mix = np.full(layers, 1 / layers) if encoder.mix is None else encoder.mix
        self.log_mix = nn.Parameter(torch.tensor(np.log(mix), dtype=torch.float32)) if layers > 1 else None

    def head(self) -> Any:
        """As it stands now.

        Where the encoder reads a pair in one order, whichever sentence is the source, the head is symmetric
        too: a cell is seen alike from the rows and from the columns around it.
        """
        if self.kind is ProjectionHead or self.settings.pairing != "canonical":
            return self.kind(**self.arrays)
        symmetric = {name: _symmetrise(self.arrays[name]) for name in ("near", "wider")}
        return self.kind(**(dict(self.arrays) | symmetric))

    def head_in_numpy(self) -> Any:
        return self.kind(**{name: to_numpy(array.detach()) for name, array in self.head().arrays().items()})

    def mix(self) -> Tensor | None:
        return None if self.log_mix is None else torch.softmax(self.log_mix, 0)

    def tile(self, batch: Tensors) -> PairBatch:
        return batch.tile(self.states(batch.inputs, self.mix()).float())

    def forward(self, batch: Tensors) -> Tensor:
        """The loss of a batch."""
        tile = self.tile(batch)
        with torch.autocast(tile.X.device.type, enabled=False):
            return self._loss(tile, batch)

    def _loss(self, tile: PairBatch, batch: Tensors) -> Tensor:
        """Cross-entropy over all cells: of the scaled plan, as in the paper, or of learned log-odds."""
        cells = tile.cells
        if self.kind is ProjectionHead:
            plan = self._score(tile).clamp(TINY, 1 - TINY)
            gold = batch.links[LEVELS.index(self.level)].to(plan.dtype)
            return F.binary_cross_entropy(plan[cells], gold[cells])
        logits = self.head().compute_logits(tile)
        apart = F.binary_cross_entropy_with_logits(logits, batch.links, reduction="none")
        counted = cells * batch.known[:, :, None, None]
        return SPREAD * (apart * counted).sum() / counted.sum().clamp(min=1)

    @torch.inference_mode()
    def weights(self, batch: TrainingBatch) -> tuple[PairBatch, dict[Level, Any]]:
        """Of the links, at each level that the head knows, (B, N, M)."""
        tile = self.tile(Tensors.of(batch, self.device))
        if self.kind is ProjectionHead:
            return tile, {self.level: self._score(tile)}
        head = self.head()
        return tile, {level: LearnedScorer(head, level).score(tile).links for level in LEVELS}

    def _score(self, tile: PairBatch) -> Tensor:
        """Score the links by the transport problem of the settings."""
        assert isinstance(self.settings, Settings)
        return TransportScorer(self.settings, self.head()).score(tile).links


def _symmetrise(kernel: Tensor) -> Tensor:
    """The mean of a kernel (9 · C, channels) over a cell's neighbours and the same kernel transposed."""
    square = kernel.view(3, 3, -1, kernel.shape[1])
    return ((square + square.transpose(0, 1)) / 2).reshape(kernel.shape)
