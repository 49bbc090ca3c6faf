"""Devices: one process, or several that `accelerate launch` has started to train together."""

import os
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from otalign.encoders import EXPORTED
from otalign.encoders.pretrained import read_config, read_depth
from otalign.encoders.restoration import restore
from otalign.encoders.transformers import Transformers

MAX_WORKERS = 12


class OneProcess:
    """The part of the interface of `accelerate.Accelerator` that training uses, for a single process."""

    num_processes, process_index, is_main_process = 1, 0, True

    def __init__(self, device: str) -> None:
        self.device = torch.device(device)

    def prepare(self, *parts: Any) -> tuple[Any, ...]:
        """Return model and optimizer unchanged."""
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
    """Return a number of workers that keeps a GPU busy; a CPU is busy with the model itself."""
    if accelerator.device.type != "cuda":
        return 0
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(MAX_WORKERS, cores // accelerator.num_processes - 1))


def load_encoder(name: str, depth: int | None, device: Any) -> Transformers:
    """Load an encoder to train; one that was exported is restored first.

    Args:
        name: Folder of the encoder, or its name on the Hugging Face hub.
        depth: Number of its first layers to keep; None for all.
        device: Device of torch.

    Raises:
        ValueError: If it cannot be restored, has fewer layers, or has a decoder.
    """
    if not (Path(name) / EXPORTED).is_file():
        return _load_layers(name, depth, device)
    with TemporaryDirectory(prefix="otalign-restored-") as folder:
        restore(Path(name), Path(folder))
        encoder = _load_layers(folder, depth, device)
    encoder.name = Path(name).resolve().name
    encoder.folder = encoder.origin = Path(name)  # which has the head, the settings and the tokenizer
    return encoder


def _load_layers(name: str, depth: int | None, device: Any) -> Transformers:
    last = read_depth(name)
    if depth is not None and depth > last:
        raise ValueError(f"depth must be at most {last}, the number of layers of {name}, got {depth}")
    encoder = Transformers(name, depth or last, device=str(device), depth=depth)
    if read_config(name, encoder.origin).is_encoder_decoder:
        raise ValueError(f"only encoders can be trained, and {encoder.name} has a decoder too")
    return encoder
