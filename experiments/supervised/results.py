"""Results of training runs in a folder: a JSON file for each, and a file of the counts of each test pair.

The name ends in a digest of all inputs of the model and its tests. A result is written atomically and never
overwritten.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from experiments.columns import Column
from experiments.supervised.jobs import ModelId
from otalign.atomic import open_atomic, write_atomic
from otalign.metrics import Counts


@dataclass(frozen=True)
class Result:
    """The result of a training. Figures are shares."""

    model: ModelId
    chosen: int  # index among the tries of the row
    problem: dict[str, Any]
    recipe: dict[str, Any]
    tried: list[dict[str, Any]]  # the dev F1 of each try
    epochs: list[dict[str, Any]]
    dev: dict[str, dict[str, dict[str, float]]]  # by corpus and level
    test: dict[str, dict[str, Any]]  # by key of column
    reliability: dict[str, Any]  # by kind
    seconds: float
    key: str

    @property
    def dev_f1(self) -> float:
        """Mean F1 over dev sets and levels."""
        return mean(score["f1"] for levels in self.dev.values() for score in levels.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON-serializable values."""
        rest = {name: value for name, value in self.__dict__.items() if name != "model"}
        return self.model._asdict() | rest

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Result":
        """Return the result that `to_dict` wrote."""
        model = ModelId(*(data[name] for name in ModelId._fields))
        return cls(model, **{name: value for name, value in data.items() if name not in ModelId._fields})


@dataclass(frozen=True)
class Results:
    """A folder of results."""

    folder: Path
    _read: dict[Path, Result] = field(default_factory=dict)

    def get(self, model: ModelId, key: str) -> Result | None:
        """Return the result of a model with these inputs, if there is one."""
        file = self._file(model, key)
        if file not in self._read and file.is_file():
            self._read[file] = Result.from_dict(json.loads(file.read_text(encoding="utf-8")))
        return self._read.get(file)

    def read_counts(self, result: Result, column: Column) -> Counts:
        """Read the counts of a result in each pair of a test set."""
        table = np.load(self._file(result.model, result.key).with_suffix(".npy"), allow_pickle=False)
        keys = list(result.test)
        ends = np.cumsum([result.test[key]["pairs"] for key in keys])
        parts = dict(zip(keys, np.split(table.astype(np.int64), ends[:-1]), strict=True))
        return Counts(parts[column.key], column.level)

    def write(self, result: Result, counts: Sequence[Counts]) -> None:
        """Write a result, the counts of all columns first, so that an existing result is complete."""
        file = self._file(result.model, result.key)
        self.folder.mkdir(parents=True, exist_ok=True)
        if counts:
            with open_atomic(file.with_suffix(".npy")) as table:
                np.save(table, np.concatenate([column.table for column in counts]).astype(np.int32))
        write_atomic(file, json.dumps(result.to_dict(), indent=2, allow_nan=False) + "\n")

    def _file(self, model: ModelId, key: str) -> Path:
        name = "_".join(map(str, model))
        return self.folder / f"{name}_{key[:12]}.json"
