"""Trained aligners that several test modules share."""

from pathlib import Path

import pytest

from otalign.cli.export import export
from otalign.training import TrainingResult
from tests.training.tiny_runs import PROBLEMS, train_tiny


class TrainedAligners:
    """Training results by the name of their problem, with their folders, made on first use."""

    def __init__(self, model: Path, home: Path):
        self.model, self.home = model, home
        self.results: dict[str, TrainingResult] = {}

    def get_result(self, name: str) -> TrainingResult:
        if name not in self.results:
            self.results[name] = train_tiny(self.model, *PROBLEMS[name])
        return self.results[name]

    def get_folder(self, name: str) -> Path:
        folder = self.home / name
        if not folder.exists():
            self.get_result(name).aligner.save(folder)
        return folder

    def get_exported(self, name: str) -> Path:
        """Return the folder of the exported aligner, which takes seconds to make."""
        folder = self.home / f"{name}-exported"
        if not folder.exists():
            export(str(self.get_folder(name)), folder)
        return folder


@pytest.fixture(scope="session")
def trained_aligners(tiny_model, tmp_path_factory) -> TrainedAligners:
    return TrainedAligners(tiny_model("bert"), tmp_path_factory.mktemp("trained"))
