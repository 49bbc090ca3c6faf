"""Failures while one file is written leave the old file; errors are reported wherever they occur."""

import sys
from pathlib import Path

import pytest

from otalign.encoders import prefetch as ahead
from otalign.failures import capture
from tests.failures.faults import PAIRS, Fault, FaultyReader, Loading, Panic, Plain, draw, one_line

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal that kills")


@pytest.fixture
def old(tmp_path) -> Path:
    """A file that is to be replaced."""
    file = tmp_path / "links.txt"
    file.write_text("old\n")
    return file


def test_a_kill_leaves_the_old_file(run, old, tmp_path):
    loading = Loading(Plain(Fault("kill", tmp_path / "graves"), draw.randrange(len(PAIRS))))
    assert run(loading, old) == (-9, "")
    assert old.read_text() == "old\n"
    assert run(Loading(), old) == (0, "")
    assert len(old.read_text().splitlines()) == len(PAIRS)


def test_a_full_disk_leaves_the_old_file(run_here, old):
    resource = pytest.importorskip("resource", reason="the system has no limits to set")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        rc, output = run_here(Loading(), old)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (rc, "file too large" in one_line(output)) == (2, True)
    assert old.read_text() == "old\n"
    assert [file.name for file in old.parent.iterdir()] == [old.name]


def test_a_file_that_cannot_be_written_is_named(run, tmp_path):
    (tmp_path / "file").touch()
    rc, output = run(Loading(), tmp_path / "file" / "links.txt")
    assert (rc, "cannot write" in one_line(output)) == (2, True)


def test_an_error_while_aligning_leaves_the_old_file(run, old, tmp_path):
    rc, _ = run(Loading(Plain(Fault("full disk", tmp_path / "graves"), at=40)), old)
    assert rc == 2
    assert old.read_text() == "old\n"


# Workers that prepare pairs for a GPU


@pytest.mark.parametrize(
    ("kind", "message"), [("panic", r"at pair 42: Panic: index out of bounds"), ("kill", "died")]
)
def test_a_worker_that_fails_to_prepare_pairs_is_named(monkeypatch, tmp_path, kind, message):
    monkeypatch.setattr(ahead, "TASK_PAIRS", 25)
    reader = FaultyReader(Fault(kind, tmp_path / "graves"), at=41)
    with pytest.raises(ChildProcessError, match=message):
        list(ahead.prepare_ahead(PAIRS, reader, "joint", 1, 1000))  # pyright: ignore[reportArgumentType]


# Errors on their way


class Unprintable(ValueError):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "description", "kind"),
    [
        (ValueError("a\n b"), "ValueError: a b", ValueError),
        (MemoryError(), "MemoryError", MemoryError),
        (Panic("a", "b"), "Panic: a b", RuntimeError),
        (SystemExit(3), "SystemExit: 3", RuntimeError),
        (Unprintable(), "Unprintable", Unprintable),
        (type("Local", (Exception,), {})("x"), "Local: x", RuntimeError),
    ],
)
def test_errors_of_any_type_can_be_sent(error, description, kind):
    failure = capture(error)
    assert failure.description == description
    assert type(failure.error) is kind
