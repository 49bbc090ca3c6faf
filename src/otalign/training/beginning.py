"""What every training begins with: an encoder with its weights, a device, and a name for the run."""

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch

from otalign.encoders import EXPORTED
from otalign.encoders.pretrained import depth
from otalign.encoders.transformers import Transformers
from otalign.progress import Progress
from otalign.training.dev import DevSet
from otalign.training.loop import Epoch, TrainingLoop
from otalign.training.model import Learner
from otalign.training.reading import TrainSet
from otalign.training.recipe import Recipe


class Beginning:
    """An encoder about to be trained. `about` is all else that decides the run."""

    def __init__(self, encoder: str, recipe: Recipe, device: str | None, progress: Progress, about: str):
        if (Path(encoder) / EXPORTED).is_file():
            raise ValueError(
                f"{encoder} is exported, and has no weights to train; give what it was made from"
            )
        self.recipe, self.progress = recipe, progress
        self.about = sha256(about.encode()).hexdigest()
        self.accelerator = make_accelerator(device)
        self.base = _encoder(encoder, recipe.depth, str(self.accelerator.device))

    def train(
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
        return TrainingLoop(model, pairs, devs, self.recipe, self.accelerator, **options)(heard)


class OneProcess:
    """The part of `accelerate.Accelerator` that the loop uses, for training in a single process."""

    num_processes, process_index, is_main_process = 1, 0, True

    def __init__(self, device: str):
        self.device = torch.device(device)

    def prepare(self, *parts: Any) -> tuple[Any, ...]:
        return parts

    def no_sync(self, module: torch.nn.Module) -> AbstractContextManager[None]:
        return nullcontext()

    def backward(self, loss: torch.Tensor) -> None:
        loss.backward()

    def clip_grad_norm_(self, weights: Iterable[torch.Tensor], norm: float) -> torch.Tensor:
        return torch.nn.utils.clip_grad_norm_(weights, norm)


def make_accelerator(device: str | None) -> Any:
    """Accelerate's own where several processes were launched to train together, else one without it."""
    on_cpu = device == "cpu" or not torch.cuda.is_available()
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        from accelerate import Accelerator

        return Accelerator(cpu=on_cpu)
    return OneProcess("cpu" if on_cpu else device or "cuda")


def _encoder(name: str, kept: int | None, device: str) -> Transformers:
    """All of its layers, or the first so many of them."""
    last = depth(name)
    if kept is not None and kept > last:
        raise ValueError(f"depth must be at most {last}, as many layers as {name} has, got {kept}")
    return Transformers(name, kept or last, device=device, kept=kept)
