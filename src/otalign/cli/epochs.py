"""Reports of a training: files beside its checkpoint, the terminal, and TensorBoard."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from otalign.aligner import Aligner
from otalign.cli.terminal import show_bars

if TYPE_CHECKING:
    from otalign.training import Epoch, RunOptions
    from otalign.training.epochs import DevScores

PREPARING = "preparing"  # what a bar shows until the first epoch


def is_main_process() -> bool:
    """Return whether this is the first of the processes that train together, as accelerate numbers them."""
    return os.environ.get("RANK", "0") == "0"


@dataclass(frozen=True)
class EpochLog:
    """Writes the epochs of one run or several.

    Attributes:
        folder: Folder of checkpoints and of the files of epochs.
    """

    folder: Path

    @contextmanager
    def open(self, name: str, prefix: str, options: "RunOptions") -> Iterator["RunOptions"]:
        """Yield options with which a run keeps its checkpoint and reports its epochs.

        Args:
            name: Name of the run, and of its files.
            prefix: Text in front of each line on the terminal.
            options: All other options.
        """
        from otalign.training import Checkpoint

        board = self._open_tensorboard(name)

        def write_epoch(epoch: "Epoch") -> None:
            if not is_main_process():
                return
            with (self.folder / f"{name}.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps({"run": name} | epoch.to_dict(), allow_nan=False) + "\n")
            figures = f"loss {epoch.loss:.4f}   dev F1 {100 * epoch.f1:.2f}   {epoch.seconds:.0f} s"
            print(f"{prefix}epoch {epoch.number}   {figures}", file=sys.stderr)
            if board:
                board.add_scalar("loss", epoch.loss, epoch.number)
                board.add_scalar("dev F1", epoch.f1, epoch.number)

        with show_bars() as progress:
            progress(PREPARING, 0, None)

            def report(description: str, done: int, total: int | None) -> None:
                progress(PREPARING, 1, 1)
                progress(description, done, total)

            checkpoint = Checkpoint(self.folder / f"{name}.pt")
            yield options.replace(checkpoint=checkpoint, progress=report, on_epoch=write_epoch)
        if board:
            board.close()

    def _open_tensorboard(self, name: str) -> Any:
        """Open a log of TensorBoard; None if it is not installed."""
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            return None
        return SummaryWriter(str(self.folder.parent / "tensorboard" / name))


def print_scores(dev: "DevScores", aligner: Aligner, folder: Path) -> None:
    """Print the scores of a trained aligner by dev set and level, and the folder that it was saved in."""
    for name, levels in dev.items():
        for level, score in levels.items():
            figures = f"F1 {100 * score.f1:.1f}   precision {100 * score.precision:.1f}"
            print(f"{name} dev {level}   {figures}   recall {100 * score.recall:.1f}   at {score.threshold}")
    print(aligner.signature)
    print(f"{folder}: ready; otalign align --model {folder} …")
