"""Functions that run an experiment, and list the files that it has written."""

from pathlib import Path

import pytest

from experiments.cli import app
from otalign import cli


def run_experiment(capsys, *arguments, rc: int = 0) -> tuple[str, str]:
    """Run `python -m experiments` in this process; return its standard output and error."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("OTALIGN_DATA", raising=False)
        patch.setattr("sys.argv", ["experiments", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            cli.run(app)
    output = capsys.readouterr()
    assert stop.value.code == rc, output.err
    return output.out, output.err


def files(folder: Path) -> dict[str, int]:
    """Return the times at which the files of a folder were written."""
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
