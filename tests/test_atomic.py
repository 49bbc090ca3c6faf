"""A file is replaced by a complete one, or stays unchanged."""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading

import pytest

from otalign.atomic import TEMPORARY, open_atomic, write_atomic


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")
    return path


def leftovers(folder):
    return [path for path in folder.iterdir() if path.name.startswith(TEMPORARY)]


def test_an_error_leaves_the_old_file_and_nothing_beside_it(old):
    with pytest.raises(ZeroDivisionError), open_atomic(old) as file:
        file.write(b"new" * (1 // 0))
    assert old.read_text() == "old"
    assert not leftovers(old.parent)


def test_the_file_is_replaced_only_at_the_end(old):
    with open_atomic(old) as file:
        file.write(b"new")
        file.flush()
        assert old.read_text() == "old"
    assert old.read_text() == "new"
    assert not leftovers(old.parent)


def test_a_full_disk_is_named_with_the_file(old):
    with pytest.raises(OSError, match=r"No space left on device: '.*out\.txt'"), open_atomic(old):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert old.read_text() == "old"


def test_a_missing_folder_is_named_and_not_the_temporary_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none/out\.txt'") as caught:
        write_atomic(tmp_path / "none" / "out.txt", "new")
    assert TEMPORARY not in str(caught.value)


def test_an_existing_file_keeps_its_mode_and_a_new_one_honours_the_umask(old):
    old.chmod(0o640)
    write_atomic(old, "new")
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    before = os.umask(0o077)
    try:
        write_atomic(old.with_name("other"), "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE(old.with_name("other").stat().st_mode) == 0o600


def test_a_file_without_write_permission_is_not_replaced(old, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everything
    with pytest.raises(PermissionError):
        write_atomic(old, "new")
    assert old.read_text() == "old"


def test_a_link_stays_a_link(old):
    link = old.with_name("link")
    link.symlink_to(old.name)
    write_atomic(link, "new")
    assert link.is_symlink()
    assert old.read_text() == "new"
    dangling = old.with_name("dangling")
    dangling.symlink_to("made.txt")
    write_atomic(dangling, "made")
    assert old.with_name("made.txt").read_text() == "made"


def test_what_is_no_regular_file_is_written_directly(tmp_path):
    fifo, read = tmp_path / "fifo", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: read.append(fifo.read_bytes()))
    reader.start()
    write_atomic(fifo, "through")
    reader.join()
    assert read == [b"through"]
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write_atomic(type(fifo)("/dev/full"), "lost")


def test_the_longest_name_that_a_file_can_have_is_written(tmp_path):
    write_atomic(tmp_path / ("ü" * 127), "new")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["new"]


def test_a_killed_process_leaves_the_old_file_and_does_not_hinder_the_next(old):
    code = (
        "import os, signal, sys; from pathlib import Path; from otalign.atomic import open_atomic\n"
        "with open_atomic(Path(sys.argv[1])) as file:\n"
        "    file.write(b'new'); file.flush(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(old)])
    assert done.returncode == -signal.SIGKILL
    assert old.read_text() == "old"
    assert len(leftovers(old.parent)) == 1
    write_atomic(old, "next")
    assert old.read_text() == "next"
