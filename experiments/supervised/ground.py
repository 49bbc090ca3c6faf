"""What models are made from, the same for all workers: gold, an encoder, and a folder for the results."""

from dataclasses import dataclass, fields
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Literal

import torch

import otalign
from experiments.columns import COLUMNS, DEVS
from experiments.material import Material, StudySource
from experiments.supervised.jobs import ResultKey
from experiments.supervised.results import Result, Results
from experiments.supervised.rows import ROWS
from otalign.training import CorpusSplits as Learnt

Precision = Literal["float32", "bfloat16"]


@dataclass(frozen=True)
class Ground:
    """A plain value, the gold included, that is sent to every worker."""

    source: StudySource
    folder: Path
    precision: Precision
    encoder: str  # its name, and …
    encoder_digest: str  # … what is in its files

    @classmethod
    def of(cls, source: StudySource, folder: Path, precision: Precision | None = None) -> "Ground":
        """That there is all that is needed is found out here, before the work."""
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

    def get_splits(self, corpus: str) -> Learnt:
        return Learnt(self.material.golds(corpus, "train"), self.material.golds(corpus, "dev"))

    def size(self, place: ResultKey) -> int:
        """The pairs that it is trained on."""
        return sum(len(self.material.golds(corpus, "train")) for corpus in place.corpora)

    def result(self, place: ResultKey) -> Result | None:
        """If it is made and still what would be made."""
        return self.results.get(place, self.key(place))

    def key(self, place: ResultKey) -> str:
        """A digest of all that decides a result."""
        row = ROWS[place.row]
        splits = [(corpus, split) for corpus in place.corpora for split in ("train", "dev")]
        if row.after:
            splits += [(corpus, split) for corpus in DEVS for split in ("train", "dev")]
        splits += [(column.corpus, "test") for column in place.columns]
        about = [otalign.__version__, self.encoder_digest, self.precision, *place]
        about += [self.material.gold_digest(*split) for split in dict.fromkeys(splits)]
        rows = [row, *([ROWS[row.after]] if row.after else [])]
        # A title is for the reader, and how many other seeds there are changes nothing.
        said = [
            {f.name: getattr(one, f.name) for f in fields(one) if f.name not in ("title", "seeds")}
            for one in rows
        ]
        return sha256(f"{about} {said}".encode()).hexdigest()
