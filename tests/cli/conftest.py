import os
import subprocess
import sys

import pytest

from otalign import Aligner
from tests.cli.samples import SOURCE, TARGET


@pytest.fixture(scope="session")
def model(exported, tmp_path_factory):
    """The folder of an aligner with a fixed mean, so that links do not depend on the other pairs."""
    folder = tmp_path_factory.mktemp("aligner")
    Aligner.load(exported("bert", 2)).fit_centre(zip(SOURCE, TARGET, strict=True)).save(folder)
    return folder


@pytest.fixture
def command(model, tmp_path):
    """Return the arguments, the folder and the environment for subprocess."""
    (tmp_path / "source.txt").write_text("".join(line + "\n" for line in SOURCE))
    (tmp_path / "target.txt").write_text("".join(line + "\n" for line in TARGET))
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OTALIGN")}
    environment["OTALIGN_MODEL"] = str(model)

    def command(*arguments: str) -> dict:
        return {"args": [sys.executable, "-m", "otalign", *arguments], "cwd": tmp_path, "env": environment}

    return command


@pytest.fixture
def run(command, command_server):
    def run(*arguments: str, stdin: bytes = b"", rc: int = 0) -> subprocess.CompletedProcess:
        given = command(*arguments)
        done = command_server.run([*arguments], given["cwd"], given["env"], stdin)
        assert done.returncode == rc, done.stderr.decode()
        return done

    return run
