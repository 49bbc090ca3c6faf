"""Runs of `otalign align` with a method that fails at chosen places."""

from pathlib import Path

import pytest

from tests.failures.faults import PAIRS, SIZE, Loading, Run, make_command, read_bytes, run_command


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("corpus") / "pairs.tsv"
    file.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS))
    return file


@pytest.fixture
def run(corpus, command_server) -> Run:
    """Return a function that runs `otalign align`, and returns its exit code and standard error."""

    def run(loading: Loading, output: Path | str, *options: str) -> tuple[int, str]:
        arguments = ("align", str(corpus), "-o", str(output), *options)
        done = command_server.run(make_command(loading, *arguments), text=True)
        return done.returncode, done.stderr

    return run


@pytest.fixture
def run_here(corpus, capsys) -> Run:
    """Return the same function, which runs the command in this process."""

    def run(loading: Loading, output: Path | str, *options: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            run_command(loading, "align", str(corpus), "-o", str(output), *options)
        return ended.value.code or 0, capsys.readouterr().err

    return run


@pytest.fixture
def shards(run) -> Run:
    """Return a function that runs the command for a folder of shards."""
    return lambda loading, folder, *options: run(loading, f"{folder}/", "--shard-size", str(SIZE), *options)


@pytest.fixture(scope="module")
def expected(corpus, tmp_path_factory) -> dict[str, bytes]:
    """Return the files of an undisturbed run."""
    folder = tmp_path_factory.mktemp("whole") / "out"
    with pytest.raises(SystemExit):
        run_command(Loading(), "align", str(corpus), "-o", f"{folder}/", "--shard-size", str(SIZE))
    return read_bytes(folder)
