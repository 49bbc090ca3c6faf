"""Checkpoints: files from which an interrupted training continues, if it is the same training."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from otalign.atomic import open_atomic
from otalign.gold import Gold


class RunKey(NamedTuple):
    """Digests of everything that determines a training run; a run with other digests is another one."""

    train: str
    dev: str
    settings: str

    @classmethod
    def compute(
        cls, train: Iterable[Gold], dev: Mapping[str, Iterable[Gold]], settings: object = None
    ) -> "RunKey":
        """Compute the key of a training.

        Args:
            train: All training pairs.
            dev: Dev sets by name.
            settings: Everything else that determines the weights; its `repr` is used.
        """
        dev_digests = [(name, _digest_golds(golds)) for name, golds in dev.items()]
        return cls(_digest_golds(train), _digest(repr(dev_digests)), _digest(repr(settings)))

    def describe_difference(self, other: "RunKey") -> str:
        """Describe in which respects another training differs from this one."""
        names = {
            "train": "another train set",
            "dev": "another dev set",
            "settings": "other settings (encoder, problem, recipe, teachers or unlabelled pairs)",
        }
        return " and ".join(
            name for field, name in names.items() if getattr(self, field) != getattr(other, field)
        )


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _digest_golds(golds: Iterable[Gold]) -> str:
    digest = sha256()
    for gold in golds:
        digest.update(json.dumps(gold.to_dict()).encode())
    return digest.hexdigest()


@dataclass(frozen=True)
class Checkpoint:
    """The file from which an interrupted training continues.

    Attributes:
        file: The file; it is written after an epoch, completely or not at all.
        interval: Seconds at least between two writes, for epochs that take less time than writing.

    Example:
        >>> checkpoint = Checkpoint(Path("run.pt"), interval=60)
        >>> checkpoint.exists()
        False
    """

    file: Path
    interval: float = 0.0

    def exists(self) -> bool:
        """Return whether there is something to continue from."""
        return self.file.is_file()

    def remove(self) -> None:
        """Remove the file, if there is one."""
        self.file.unlink(missing_ok=True)

    def save(self, key: RunKey, state: Mapping[str, Any]) -> None:
        """Write the state of a training.

        Args:
            key: Key of the training.
            state: All that is needed to continue it.
        """
        import torch

        with open_atomic(self.file) as file:
            torch.save({"key": key._asdict(), **state}, file)

    def load(self, key: RunKey, device: Any) -> dict[str, Any]:
        """Read the state of a training.

        Args:
            key: Key of the training that is to be continued.
            device: Device of torch to load the state to.

        Returns:
            The state that was saved.

        Raises:
            ValueError: If the file belongs to another training or to another version of otalign.
        """
        import torch

        state = torch.load(self.file, map_location=device, weights_only=True)
        if "key" not in state:
            raise ValueError(
                f"{self.file} was written by another version of otalign, which this one cannot continue; "
                "choose a new folder, or remove the file to train from the start"
            )
        saved = RunKey(**state.pop("key"))
        if saved != key:
            raise ValueError(
                f"{self.file} is the checkpoint of a training with {key.describe_difference(saved)}; "
                "use the same inputs to continue it, or choose a new folder"
            )
        return state
