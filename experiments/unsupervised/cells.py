"""Finished cells in a folder: a JSON file for each, and a file of the counts of each test pair.

The name of a cell ends in a digest of its inputs, so that another encoder, layer, grid or corpus gives
another cell. A cell is written atomically and never overwritten.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from experiments.columns import Column
from experiments.unsupervised.system import Figures, System
from otalign.alignment import Level
from otalign.atomic import open_atomic, write_atomic
from otalign.metrics import Counts


@dataclass(frozen=True)
class Cell:
    """A row on a test set at a level: its settings, its figures, and the time it took."""

    row: str
    corpus: str
    level: Level
    settings: dict[str, Any]
    signature: str
    dev: Figures | None
    test: Figures
    seconds: dict[str, float]  # of tuning, which the cells of a dev set share, and of the test set
    key: str

    def to_dict(self) -> dict[str, Any]:
        figures = {"dev": self.dev and self.dev.to_dict(), "test": self.test.to_dict()}
        return self.__dict__ | figures

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Cell":
        dev = data["dev"] and Figures.from_dict(data["dev"])
        return cls(**(data | {"dev": dev, "test": Figures.from_dict(data["test"])}))


@dataclass(frozen=True)
class CellStore:
    """A folder of cells."""

    folder: Path
    _read: dict[Path, Cell] = field(default_factory=dict)

    def get(self, row: System, column: Column, key: str) -> Cell | None:
        file = self._file(row, column, key)
        if file not in self._read and file.is_file():
            self._read[file] = Cell.from_dict(json.loads(file.read_text(encoding="utf-8")))
        return self._read.get(file)

    def read_counts(self, row: System, column: Column, key: str) -> Counts:
        """Read the counts of an existing cell in each test pair."""
        table = np.load(self._file(row, column, key).with_suffix(".npy"), allow_pickle=False)
        return Counts(table.astype(np.int64), column.level)

    def write(self, row: System, column: Column, cell: Cell, counts: Counts) -> None:
        """Write a cell. The counts are written first, so that an existing cell is complete."""
        file = self._file(row, column, cell.key)
        self.folder.mkdir(parents=True, exist_ok=True)
        with open_atomic(file.with_suffix(".npy")) as table:
            np.save(table, counts.table.astype(np.int32))
        write_atomic(file, json.dumps(cell.to_dict(), indent=2, allow_nan=False) + "\n")

    def _file(self, row: System, column: Column, key: str) -> Path:
        return self.folder / f"{row.name}_{column.corpus}_{column.level}_{key[:12]}.json"
