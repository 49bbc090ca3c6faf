"""Trained aligners that several test modules share."""

import os
from pathlib import Path

import pytest

from otalign.cli.export import export
from otalign.training import TrainingResult
from tests.training.tiny_runs import PROBLEMS, train_tiny

try:
    import fcntl
except ImportError:  # on Windows, where two processes may then export the same
    fcntl = None


class Trained:
    """Training results by the name of their problem, with their folders, made on first use."""

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
        original = str(self.get_folder(name))
        with (self.shared / f"{name}.lock").open("w") as lock:  # another process may need it too
            if fcntl:
                fcntl.flock(lock, fcntl.LOCK_EX)
            if not folder.exists():
                export(original, folder)
        return folder


@pytest.fixture(scope="session")
def trained(tiny_model, tmp_path_factory) -> Trained:
    home = tmp_path_factory.mktemp("trained")
    base = tmp_path_factory.getbasetemp()
    # Processes of one test run share a folder: training gives the same weights in all of them.
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    return Trained(tiny_model("bert"), home, shared)
