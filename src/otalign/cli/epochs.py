"""The epochs of a run in training, as a command tells of them."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from otalign.cli.terminal import bars

if TYPE_CHECKING:
    from otalign.training import Epoch


def is_main() -> bool:
    """Whether this is the first of the processes that train together, as accelerate numbers them."""
    return os.environ.get("RANK", "0") == "0"


@dataclass(frozen=True)
class Told:
    """Where the epochs of a run are told: in files beside its checkpoint, on the terminal, to TensorBoard."""

    work: Path

    @contextmanager
    def run(self, name: str, before: str) -> Iterator[dict[str, Any]]:
        """What training takes to keep one run and to tell of it."""
        from otalign.training import Checkpoint

        board = self._board(name)

        def heard(epoch: "Epoch") -> None:
            if not is_main():
                return
            with (self.work / f"{name}.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps({"run": name} | epoch.to_dict(), allow_nan=False) + "\n")
            figures = f"loss {epoch.loss:.4f}   dev F1 {100 * epoch.f1:.2f}   {epoch.seconds:.0f} s"
            print(f"{before}epoch {epoch.number}   {figures}", file=sys.stderr)
            if board:
                board.add_scalar("loss", epoch.loss, epoch.number)
                board.add_scalar("dev F1", epoch.f1, epoch.number)

        with bars() as progress:
            yield {"checkpoint": Checkpoint(self.work / f"{name}.pt"), "progress": progress, "heard": heard}
        if board:
            board.close()

    def _board(self, name: str) -> Any:
        """TensorBoard's, where it is installed."""
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            return None
        return SummaryWriter(str(self.work.parent / "tensorboard" / name))
