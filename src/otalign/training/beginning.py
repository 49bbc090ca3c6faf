"""What every training begins with: an encoder with its weights, a device, and a name for the run."""

from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch

from otalign.encoders import EXPORTED
from otalign.encoders.pretrained import depth
from otalign.encoders.transformers import Transformers
from otalign.training.dev import DevSet
from otalign.training.loop import Epoch, Run
from otalign.training.model import Learner
from otalign.training.reading import TrainSet
from otalign.training.recipe import Recipe
from otalign.tuning.store import Progress


class Beginning:
    """An encoder about to be trained. `about` is all else that decides the run."""

    def __init__(self, encoder: str, recipe: Recipe, device: str | None, progress: Progress, about: str):
        from accelerate import Accelerator

        if (Path(encoder) / EXPORTED).is_file():
            raise ValueError(
                f"{encoder} is exported, and has no weights to train; give what it was made from"
            )
        self.recipe, self.progress = recipe, progress
        self.about = sha256(about.encode()).hexdigest()
        self.accelerator = Accelerator(cpu=device == "cpu" or not torch.cuda.is_available())
        self.base = _encoder(encoder, recipe.depth, str(self.accelerator.device))

    def trained(
        self,
        model: Learner,
        pairs: TrainSet,
        devs: Mapping[str, DevSet],
        *,
        half: bool,
        heard: Callable[[Epoch], None],
        **options: Any,
    ) -> list[Epoch]:
        """The epochs of the model, which then is as good as it got."""
        if half:
            torch.set_float32_matmul_precision("high")  # where the rest is no more exact than that
        options |= {"half": half, "about": self.about, "progress": self.progress}
        return Run(model, pairs, devs, self.recipe, self.accelerator, **options)(heard)


def _encoder(name: str, kept: int | None, device: str) -> Transformers:
    """All of its layers, or the first so many of them."""
    last = depth(name)
    if kept is not None and kept > last:
        raise ValueError(f"depth must be at most {last}, as many layers as {name} has, got {kept}")
    return Transformers(name, kept or last, device=device, kept=kept)
