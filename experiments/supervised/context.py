"""The inputs of all trainings, shared by the workers: gold, an encoder, and a folder for the results."""

from dataclasses import dataclass, fields
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Literal, get_args

import torch

import otalign
from experiments.columns import COLUMNS, DEVS
from experiments.study_data import Material, StudySource
from experiments.supervised.jobs import ResultKey
from experiments.supervised.results import Result, Results
from experiments.supervised.rows import ROWS
from otalign.training import CorpusSplits

Precision = Literal["float32", "bfloat16"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)


@dataclass(frozen=True)
class Ground:
    """The inputs of all trainings: a plain value that is sent to every worker."""

    source: StudySource
    folder: Path
    precision: Precision
    encoder: str  # name
    encoder_digest: str  # digest of its files

    @classmethod
    def of(cls, source: StudySource, folder: Path, precision: Precision | None = None) -> "Ground":
        """Return the inputs, after checking that all of them are available.

        Raises:
            ValueError: If the device is not available.
            FileNotFoundError: If a corpus is missing.
        """
        if source.device not in (None, "cpu", "cuda"):
            raise ValueError(f"device must be cpu or cuda, got {source.device!r}")
        if source.device == "cuda" and not torch.cuda.is_available():
            raise ValueError("device must be one that torch can use here, got 'cuda'")
        on_gpu = source.device != "cpu" and torch.cuda.is_available()
        on_cpu = StudySource(source.encoder, source.data, source.limit, "cpu")
        material = Material(on_cpu, folder, 0)
        ground = cls(
            source,
            folder,
            precision or ("bfloat16" if on_gpu else "float32"),
            material.encoder.name,
            material.encoder_digest,
        )
        for corpus in {column.corpus for column in COLUMNS}:
            ground.material.golds(corpus, "test")
        for corpus in DEVS:
            ground.get_splits(corpus)
        return ground

    @cached_property
    def material(self) -> Material:
        return Material(self.source, self.folder, None)

    @cached_property
    def results(self) -> Results:
        return Results(self.folder / "runs")

    def get_splits(self, corpus: str) -> CorpusSplits:
        """Return the train and dev sets of a corpus."""
        return CorpusSplits(self.material.golds(corpus, "train"), self.material.golds(corpus, "dev"))

    def size(self, place: ResultKey) -> int:
        """Return the number of pairs that a model is trained on."""
        return sum(len(self.material.golds(corpus, "train")) for corpus in place.corpora)

    def result(self, place: ResultKey) -> Result | None:
        """Return a result, if there is one with the same inputs."""
        return self.results.get(place, self.key(place))

    def key(self, place: ResultKey) -> str:
        """Return a digest of all inputs of a result."""
        row = ROWS[place.row]
        splits = [(corpus, split) for corpus in place.corpora for split in ("train", "dev")]
        if row.after:
            splits += [(corpus, split) for corpus in DEVS for split in ("train", "dev")]
        splits += [(column.corpus, "test") for column in place.columns]
        inputs = [otalign.__version__, self.encoder_digest, self.precision, *place]
        inputs += [self.material.gold_digest(*split) for split in dict.fromkeys(splits)]
        rows = [row, *([ROWS[row.after]] if row.after else [])]
        # The title and the number of seeds do not change a result.
        values = [
            {f.name: getattr(row, f.name) for f in fields(row) if f.name not in ("title", "seeds")}
            for row in rows
        ]
        return sha256(f"{inputs} {values}".encode()).hexdigest()
