"""Trained aligners that several files of tests share."""

import os
from contextlib import suppress
from pathlib import Path

import pytest

from otalign.cli.export import export
from otalign.training import TrainingResult
from tests.training.tiny_runs import PROBLEMS, train_tiny


class Trained:
    """Results of training by the name of their problem, with their folders, each made when first needed."""

    def __init__(self, model: Path, home: Path, shared: Path):
        self.model, self.home, self.shared = model, home, shared
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
        folder = self.shared / f"{name}-exported"
        if not folder.exists():
            made = self.home / folder.name
            export(str(self.get_folder(name)), made)
            with suppress(OSError):  # another process has made it at the same time
                made.rename(folder)
        return folder


@pytest.fixture(scope="session")
def trained(tiny_model, tmp_path_factory) -> Trained:
    home = tmp_path_factory.mktemp("trained")
    base = tmp_path_factory.getbasetemp()
    # Processes of one test run share a folder: training gives the same weights in all of them.
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    return Trained(tiny_model("bert"), home, shared)
