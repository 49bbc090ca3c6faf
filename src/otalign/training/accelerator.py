"""Devices: one process, or several that `accelerate launch` has started to train together."""

import os
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch

from otalign.encoders import EXPORTED
from otalign.encoders.pretrained import read_depth
from otalign.encoders.transformers import Transformers

MAX_WORKERS = 12


class OneProcess:
    """The part of `accelerate.Accelerator` that a training uses, for training in a single process."""

    num_processes, process_index, is_main_process = 1, 0, True

    def __init__(self, device: str) -> None:
        self.device = torch.device(device)

    def prepare(self, *parts: Any) -> tuple[Any, ...]:
        """Return model and optimizer as they are."""
        return parts

    def no_sync(self, module: torch.nn.Module) -> AbstractContextManager[None]:
        """Return a context that does nothing: there is no other process."""
        return nullcontext()

    def backward(self, loss: torch.Tensor) -> None:
        """Compute the gradients of a loss."""
        loss.backward()

    def clip_grad_norm_(self, weights: Iterable[torch.Tensor], norm: float) -> torch.Tensor:
        """Limit the norm of the gradients."""
        return torch.nn.utils.clip_grad_norm_(weights, norm)


def make_accelerator(device: str | None) -> Any:
    """Make an `accelerate.Accelerator` if several processes train together, and `OneProcess` otherwise."""
    on_cpu = device == "cpu" or not torch.cuda.is_available()
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        from accelerate import Accelerator

        return Accelerator(cpu=on_cpu)
    return OneProcess("cpu" if on_cpu else device or "cuda")


def choose_workers(accelerator: Any) -> int:
    """Return as many workers as keep a GPU busy; a CPU is busy with the model itself."""
    if accelerator.device.type != "cuda":
        return 0
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(MAX_WORKERS, cores // accelerator.num_processes - 1))


def load_encoder(name: str, kept: int | None, device: Any) -> Transformers:
    """Load an encoder to train.

    Args:
        name: Folder of the encoder, or its name on the Hugging Face hub.
        kept: Number of its first layers to keep; None for all.
        device: Device of torch.

    Raises:
        ValueError: If it has no weights to train, or fewer layers.
    """
    if (Path(name) / EXPORTED).is_file():
        raise ValueError(
            f"{name} is exported and has no weights to train; give the encoder that was exported"
        )
    last = read_depth(name)
    if kept is not None and kept > last:
        raise ValueError(f"depth must be at most {last}, the number of layers of {name}, got {kept}")
    return Transformers(name, kept or last, device=str(device), kept=kept)
