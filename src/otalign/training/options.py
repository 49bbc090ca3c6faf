"""Options of training that do not affect what is learned: hardware, checkpoints, progress."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from otalign.progress import Progress, no_progress
from otalign.training.checkpoints import Checkpoint
from otalign.training.epochs import Epoch


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of training that do not affect what is learned.

    Attributes:
        device: Device of torch, such as `cuda`; by default a GPU if there is one.
        bf16: Whether to compute in bfloat16 where that is safe.
        accumulate: Number of parts in which a batch is read, for devices with little memory.
        workers: Number of processes that prepare batches; the default suits the device.
        checkpoint: File from which an interrupted training continues.
        progress: Function that is called with a description, the amount done, and the total.
        on_epoch: Function that is called with each epoch when it is finished.

    Raises:
        ValueError: If a number is out of its range.

    Example:
        >>> RunOptions(device="cpu").replace(accumulate=2).accumulate
        2
    """

    device: str | None = None
    bf16: bool = False
    accumulate: int = 1
    workers: int | None = None
    checkpoint: Checkpoint | None = None
    progress: Progress = no_progress
    on_epoch: Callable[[Epoch], None] | None = None

    def __post_init__(self) -> None:
        if self.accumulate < 1:
            raise ValueError(f"accumulate must be at least 1, got {self.accumulate}")
        if self.workers is not None and self.workers < 0:
            raise ValueError(f"workers must be at least 0, got {self.workers}")

    def replace(self, **changes: Any) -> "RunOptions":
        """Return a copy with other values.

        Args:
            **changes: The other values, by field.
        """
        return replace(self, **changes)


DEFAULT_OPTIONS = RunOptions()
