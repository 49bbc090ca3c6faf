"""The inputs and the results of all trainings, which the workers share."""

from dataclasses import dataclass, fields
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Literal, get_args

import torch

import otalign
from experiments.columns import COLUMNS, DEVS
from experiments.study_data import StudyData, StudySource
from experiments.supervised.jobs import ModelId
from experiments.supervised.results import Result, Results
from experiments.supervised.rows import ROWS
from otalign.training import CorpusSplits

Precision = Literal["float32", "bfloat16"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)


@dataclass(frozen=True)
class StudyContext:
    """The inputs of all trainings, and the folder of their results: a plain value, sent to every worker."""

    source: StudySource
    folder: Path
    precision: Precision
    encoder: str  # name
    encoder_digest: str  # digest of its files

    @classmethod
    def prepare(cls, source: StudySource, folder: Path, precision: Precision | None = None) -> "StudyContext":
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
        data = StudyData(on_cpu, folder, 0)
        context = cls(
            source,
            folder,
            precision or ("bfloat16" if on_gpu else "float32"),
            data.encoder.name,
            data.encoder_digest,
        )
        for corpus in {column.corpus for column in COLUMNS}:
            context.data.get_golds(corpus, "test")
        for corpus in DEVS:
            context.get_splits(corpus)
        return context

    @cached_property
    def data(self) -> StudyData:
        """The corpora and the encoder."""
        return StudyData(self.source, self.folder, None)

    @cached_property
    def results(self) -> Results:
        """The folder of results."""
        return Results(self.folder / "runs")

    def get_splits(self, corpus: str) -> CorpusSplits:
        """Return the train and dev sets of a corpus."""
        return CorpusSplits(self.data.get_golds(corpus, "train"), self.data.get_golds(corpus, "dev"))

    def count_pairs(self, model: ModelId) -> int:
        """Return the number of pairs that a model is trained on."""
        return sum(len(self.data.get_golds(corpus, "train")) for corpus in model.corpora)

    def find_result(self, model: ModelId) -> Result | None:
        """Return the result of a model, if there is one with the same inputs."""
        return self.results.get(model, self.compute_key(model))

    def compute_key(self, model: ModelId) -> str:
        """Compute a digest of all inputs of a result."""
        row = ROWS[model.row]
        splits = [(corpus, split) for corpus in model.corpora for split in ("train", "dev")]
        if row.after:
            splits += [(corpus, split) for corpus in DEVS for split in ("train", "dev")]
        splits += [(column.corpus, "test") for column in model.columns]
        inputs = [otalign.__version__, self.encoder_digest, self.precision, *model]
        inputs += [self.data.digest_golds(*split) for split in dict.fromkeys(splits)]
        rows = [row, *([ROWS[row.after]] if row.after else [])]
        # The title and the number of seeds do not change a result.
        values = [
            {f.name: getattr(row, f.name) for f in fields(row) if f.name not in ("title", "seeds")}
            for row in rows
        ]
        return sha256(f"{inputs} {values}".encode()).hexdigest()
