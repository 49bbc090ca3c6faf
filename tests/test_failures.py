"""Failures while a corpus is aligned: the output has the same bytes, or there is one line and exit code 2.

Processes are killed at random times from a fixed seed; OTALIGN_FAILURE_SEED sets another.
"""

import json
import os
import random
import re
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from otalign.encoders import prefetch as ahead
from otalign.engines import Folder, OutputFormat
from otalign.failures import capture
from tests.faults import PAIRS, Fault, FaultyReader, Loading, Panic, Plain, run_command

SIZE = 12
SHARDS = len(PAIRS) // SIZE
Run = Callable[..., tuple[int, str]]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal that kills")
draw = random.Random(os.environ.get("OTALIGN_FAILURE_SEED", "1"))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("corpus") / "pairs.tsv"
    file.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS))
    return file


@pytest.fixture
def run(corpus, capsys) -> Run:
    """Return a function that runs `otalign align`, and returns its exit code and standard error."""

    def run(loading: Loading, output: Path | str, *options: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            run_command(loading, "align", str(corpus), "-o", str(output), *options)
        return ended.value.code or 0, capsys.readouterr().err

    return run


@pytest.fixture
def shards(run) -> Run:
    """Return the same function for a folder of shards."""
    return lambda loading, folder, *options: run(loading, f"{folder}/", "--shard-size", str(SIZE), *options)


@pytest.fixture(scope="module")
def expected(corpus, tmp_path_factory) -> dict[str, bytes]:
    """Return the files of an undisturbed run."""
    folder = tmp_path_factory.mktemp("whole") / "out"
    with pytest.raises(SystemExit):
        run_command(Loading(), "align", str(corpus), "-o", f"{folder}/", "--shard-size", str(SIZE))
    return bytes_of(folder)


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def command(folder: Path, pause: float, corpus: Path) -> dict:
    """Return the arguments of the command server for a run that takes some time."""
    code = (
        "import sys; from tests.faults import Loading, Plain, run_command; "
        f"run_command(Loading(Plain(pause={pause})), *sys.argv[1:])"
    )
    options = ["align", str(corpus), "-o", f"{folder}/", "--shard-size", str(SIZE), "--resume"]
    return {"args": [sys.executable, "-c", code, *options]}


def one_line(output: str) -> str:
    """Return the output, which must be one line of otalign."""
    assert output.startswith("otalign: ")
    assert output.count("\n") == 1
    return output


# Shards, by processes of this machine


def test_a_parent_killed_at_any_moment_keeps_others_out_until_then_and_is_gone_on_with(
    shards, corpus, command_server, expected, tmp_path
):
    folder = tmp_path / "out"
    for in_the_work in (True, False):
        with command_server.start(**command(folder, 0.05, corpus)) as work:
            end = time.monotonic() + 60
            while in_the_work and not list(folder.glob("part-*")) and time.monotonic() < end:
                time.sleep(0.001)
            if in_the_work:
                rc, output = shards(Loading(), folder, "--resume")
                assert (rc, "another run is writing into" in one_line(output)) == (2, True)
            time.sleep(draw.uniform(0, 0.3 if in_the_work else 2.0))
            work.kill()
    assert shards(Loading(), folder, "--resume")[0] == 0
    assert bytes_of(folder) == expected


@pytest.mark.parametrize("kind", ["kill", "memory"])
def test_a_worker_that_fails_once_costs_nothing_but_its_time(shards, expected, tmp_path, kind):
    fault = Fault(kind, tmp_path / "graves", times=1)
    loading = Loading(Plain(fault, at=draw.randrange(len(PAIRS))))
    assert shards(loading, tmp_path / "out") == (0, "")
    assert fault.processes == 1
    assert bytes_of(tmp_path / "out") == expected


def test_a_worker_killed_while_it_loads_is_replaced_twice_and_then_named(shards, expected, tmp_path):
    fault = Fault("kill", tmp_path / "once", times=1)
    assert shards(Loading(fault=fault), tmp_path / "out") == (0, "")
    assert bytes_of(tmp_path / "out") == expected

    fault = Fault("kill", tmp_path / "always")
    rc, output = shards(Loading(fault=fault), tmp_path / "none")
    assert rc == 2
    assert re.search(
        r"loading the aligner failed 3 times, the last: .* signal 9 .* --processes", one_line(output)
    )
    assert fault.processes == 3
    assert not (tmp_path / "none").exists()


def test_an_error_of_any_type_ends_the_run_at_the_third_time_and_names_the_line(shards, tmp_path):
    fault = Fault("panic", tmp_path / "graves")
    rc, output = shards(Loading(Plain(fault, at=17)), tmp_path / "out")
    assert rc == 2
    assert one_line(output) == (
        "otalign: part-000001.jsonl (lines 13–24) failed 3 times, the last at line 18: Panic: index out of "
        "bounds; correct or remove that line, then align into a new folder\n"
    )
    assert fault.processes == 3

    rc, output = shards(Loading(fault=Fault("panic", tmp_path / "loading")), tmp_path / "none")
    assert rc == 2
    assert "loading the aligner failed 3 times, the last: Panic: index out of bounds; check" in one_line(
        output
    )


def test_a_full_disk_is_said_at_once_and_the_run_goes_on_later(shards, expected, tmp_path):
    fault = Fault("full disk", tmp_path / "graves")
    rc, output = shards(Loading(Plain(fault, at=30)), tmp_path / "out")
    assert rc == 2
    assert "part-000002.jsonl (lines 25–36) failed: OSError: [Errno 28]" in one_line(output)
    assert "use --resume once that is solved" in output
    assert fault.processes == 1
    assert shards(Loading(), tmp_path / "out", "--resume")[0] == 0
    assert bytes_of(tmp_path / "out") == expected


def test_a_folder_that_cannot_be_written_is_named(shards, tmp_path):
    (tmp_path / "file").touch()
    rc, output = shards(Loading(), tmp_path / "file" / "out")
    assert (rc, "cannot write into" in one_line(output)) == (2, True)


def test_a_read_only_folder_is_named(shards, tmp_path):
    (tmp_path / "read-only").mkdir(mode=0o555)
    if os.access(tmp_path / "read-only", os.W_OK):
        pytest.skip("the superuser may write everywhere")
    rc, output = shards(Loading(), tmp_path / "read-only" / "out")
    assert (rc, "cannot write into" in one_line(output)) == (2, True)


def damage(folder: Path) -> None:
    """Truncate a shard, flip a bit of the next, delete the third."""
    parts = [folder / f"part-{number:06d}.jsonl" for number in range(3)]
    parts[0].write_bytes(parts[0].read_bytes()[:-1])
    data = bytearray(parts[1].read_bytes())
    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    parts[1].write_bytes(data)
    parts[2].unlink()


def restore(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def test_damaged_shards_are_made_again_and_it_is_said(shards, expected, tmp_path):
    folder = restore(tmp_path / "out", expected)
    damage(folder)
    (folder / ".shards.jsonl").write_bytes(b'{"name": "part-000003.jsonl", "by')  # a power cut
    rc, output = shards(Loading(), folder, "--resume")
    size = len(expected["part-000000.jsonl"])
    assert (rc, one_line(output)) == (
        0,
        "otalign: 3 files are damaged or not recorded, and will be written again; "
        f"the first: part-000000.jsonl: {size - 1:,} bytes instead of {size:,}\n",
    )
    assert bytes_of(folder) == expected


def test_a_shard_that_is_not_of_the_run_is_named_and_left_alone(shards, expected, tmp_path):
    folder = restore(tmp_path / "out", expected)
    extra = folder / f"part-{SHARDS:06d}.jsonl"
    extra.write_bytes(b"{}\n")
    rc, output = shards(Loading(), folder, "--resume")
    assert rc == 2
    assert (
        f"{extra.name} does not belong to this run of {SHARDS} shards; remove it" in output.splitlines()[-1]
    )
    extra.unlink()
    assert shards(Loading(), folder, "--resume") == (0, "")
    assert bytes_of(folder) == expected


def test_a_run_from_before_there_were_records_is_made_again(shards, expected, tmp_path):
    folder = restore(tmp_path / "out", expected)
    data = json.loads(expected["run.json"])
    del data["files"]
    (folder / "run.json").write_text(json.dumps(data))
    rc, output = shards(Loading(), folder, "--resume")
    assert rc == 0
    assert f"{SHARDS} files are damaged or not recorded, and will be written again" in one_line(output)
    assert bytes_of(folder) == expected


def test_records_are_all_in_run_json_at_the_end_and_good_in_each_state_of_the_journal(expected, tmp_path):
    files = json.loads(expected["run.json"])["files"]
    assert sorted(files) == sorted(name for name in expected if name.startswith("part-"))
    begun = {name: value for name, value in json.loads(expected["run.json"]).items() if name != "files"}
    journal = b"".join(
        json.dumps({"name": name, **record}).encode() + b"\n" for name, record in files.items()
    )
    for length in sorted(draw.sample(range(len(journal) + 1), 20)):  # killed or cut off there
        folder = restore(tmp_path / str(length), {**expected, ".shards.jsonl": journal[:length]})
        (folder / "run.json").write_text(json.dumps(begun))
        kept = Folder(folder, OutputFormat("jsonl")).begin(begun, resume=True)
        assert len(kept.intact) == journal[: length + 1].count(b"}")
        assert len(kept.intact) + len(kept.damaged) == SHARDS
        shutil.rmtree(folder)


# One file


@pytest.fixture
def old(tmp_path) -> Path:
    """A file that is to be replaced."""
    file = tmp_path / "links.txt"
    file.write_text("old\n")
    return file


def test_a_kill_leaves_the_old_file(run, corpus, command_server, old, tmp_path):
    fault = Fault("kill", tmp_path / "graves")
    code = (
        "import sys; from pathlib import Path; from tests.faults import Fault, Loading, Plain, run_command; "
        f"fault = Fault('kill', Path(sys.argv[1])); "
        f"run_command(Loading(Plain(fault, {draw.randrange(len(PAIRS))})), *sys.argv[2:])"
    )
    arguments = [str(fault.graves), "align", str(corpus), "-o", str(old)]
    assert command_server.run([sys.executable, "-c", code, *arguments]).returncode == -9
    assert old.read_text() == "old\n"
    assert run(Loading(), old) == (0, "")
    assert len(old.read_text().splitlines()) == len(PAIRS)


def test_a_full_disk_leaves_the_old_file(run, old):
    resource = pytest.importorskip("resource", reason="the system has no limits to set")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        rc, output = run(Loading(), old)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (rc, "[Errno 27]" in one_line(output)) == (2, True)
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


# Ray


@pytest.mark.filterwarnings("ignore")  # Ray's own, of which there are many
def test_by_ray_it_is_the_same(cluster, shards, expected, tmp_path):
    folder, options = tmp_path / "out", ("--engine", "ray", "--threads", "1")
    rc, output = shards(Loading(Plain(Fault("panic", tmp_path / "graves"), at=59)), folder, *options)
    assert rc == 2
    assert "part-000004.jsonl (lines 49–60) failed 3 times, the last at line 60: Panic: " in one_line(output)

    with Folder(folder, OutputFormat("jsonl")).lock():
        rc, output = shards(Loading(), folder, *options, "--resume")
        assert (rc, "another run is writing into" in one_line(output)) == (2, True)

    damage(folder)
    rc, output = shards(Loading(), folder, *options, "--resume")
    assert (rc, "files are damaged or not recorded, and will be written again" in one_line(output)) == (
        0,
        True,
    )
    assert bytes_of(folder) == expected


@pytest.mark.filterwarnings("ignore")
def test_ray_does_not_restart_for_ever_an_actor_that_dies_while_it_loads(cluster, shards, tmp_path):
    fault = Fault("kill", tmp_path / "graves", spared=1)  # the first load only asks what the method is
    rc, output = shards(Loading(fault=fault), tmp_path / "out", "--engine", "ray", "--threads", "1")
    assert rc == 2
    assert "loading the aligner failed 3 times, the last: a worker process died" in output
    assert fault.processes <= 1 + 3
