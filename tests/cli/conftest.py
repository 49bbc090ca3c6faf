import os
import subprocess
import sys

import pytest

from otalign import Aligner, cli
from tests.cli.samples import SOURCE, TARGET


@pytest.fixture(scope="session")
def model(exported, tmp_path_factory):
    """The folder of an aligner with a fixed mean, so that links do not depend on the other pairs."""
    folder = tmp_path_factory.mktemp("aligner")
    Aligner.load(exported("bert", 3)).fit_centre(zip(SOURCE, TARGET, strict=True)).save(folder)
    return folder


@pytest.fixture
def texts(tmp_path) -> tuple[str, str]:
    """Write two files of sentences and return their names."""
    (tmp_path / "source.txt").write_text("".join(line + "\n" for line in SOURCE))
    (tmp_path / "target.txt").write_text("".join(line + "\n" for line in TARGET))
    return "source.txt", "target.txt"


@pytest.fixture
def command(model, texts, tmp_path):
    """Return the arguments, the folder and the environment for the command server."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OTALIGN")}
    environment["OTALIGN_MODEL"] = str(model)

    def command(*arguments: str) -> dict:
        return {"args": [sys.executable, "-m", "otalign", *arguments], "cwd": tmp_path, "env": environment}

    return command


@pytest.fixture
def main(tmp_path, monkeypatch, capfdbinary):
    """Run the program in this process, which has imported much: arguments → its status, output and errors."""
    monkeypatch.chdir(tmp_path)

    def main(*arguments: str) -> tuple[int, bytes, str]:
        monkeypatch.setattr(sys, "argv", ["otalign", *arguments])
        status = 0
        try:
            cli.main()
        except SystemExit as end:
            status = int(end.code or 0)
        captured = capfdbinary.readouterr()
        return status, captured.out, captured.err.decode()

    return main


@pytest.fixture
def run(command, command_server):
    def run(*arguments: str, stdin: bytes = b"", rc: int = 0) -> subprocess.CompletedProcess:
        done = command_server.run(**command(*arguments), input=stdin)
        assert done.returncode == rc, done.stderr.decode()
        return done

    return run
