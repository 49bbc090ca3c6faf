"""Failures of processes that align shards: the same bytes come out, or there is one line and exit code 2.

Processes are killed at random times from a fixed seed; OTALIGN_FAILURE_SEED sets another.
"""

import json
import os
import re
import shutil
import sys
import time
from pathlib import Path

import pytest

from otalign.engines import Folder, OutputFormat
from tests.failures.faults import (
    PAIRS,
    SHARDS,
    SIZE,
    Fault,
    Loading,
    Plain,
    damage,
    draw,
    make_command,
    one_line,
    read_bytes,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal that kills")


def test_a_parent_killed_at_any_moment_holds_the_lock_until_then_and_can_be_resumed(
    shards, corpus, command_server, expected, tmp_path
):
    folder, slow = tmp_path / "out", Loading(Plain(pause=0.05))
    options = ("align", str(corpus), "-o", f"{folder}/", "--shard-size", str(SIZE), "--resume")
    for in_the_work in (True, False):
        with command_server.start(make_command(slow, *options)) as work:
            end = time.monotonic() + 60
            while in_the_work and not list(folder.glob("part-*")) and time.monotonic() < end:
                time.sleep(0.001)
            if in_the_work:
                rc, output = shards(Loading(), folder, "--resume")
                assert (rc, "another run is writing into" in one_line(output)) == (2, True)
            time.sleep(draw.uniform(0, 0.3 if in_the_work else 2.0))
            work.kill()
    assert shards(Loading(), folder, "--resume")[0] == 0
    assert read_bytes(folder) == expected


@pytest.mark.parametrize("kind", ["kill", "memory"])
def test_a_worker_that_fails_once_costs_nothing_but_its_time(shards, expected, tmp_path, kind):
    fault = Fault(kind, tmp_path / "graves", times=1)
    loading = Loading(Plain(fault, at=draw.randrange(len(PAIRS))))
    assert shards(loading, tmp_path / "out") == (0, "")
    assert fault.processes == 1
    assert read_bytes(tmp_path / "out") == expected


def test_a_worker_killed_while_it_loads_is_replaced_twice_and_then_named(shards, expected, tmp_path):
    fault = Fault("kill", tmp_path / "once", times=1)
    assert shards(Loading(fault=fault), tmp_path / "out") == (0, "")
    assert read_bytes(tmp_path / "out") == expected

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


def test_a_full_disk_is_reported_at_once_and_the_run_can_be_resumed(shards, expected, tmp_path):
    fault = Fault("full disk", tmp_path / "graves")
    rc, output = shards(Loading(Plain(fault, at=30)), tmp_path / "out")
    assert rc == 2
    said = one_line(output)
    assert "part-000002.jsonl (lines 25–36) failed: OSError: " in said
    assert "part-000002.jsonl: no space left on device" in said
    assert "use --resume once that is solved" in output
    assert fault.processes == 1
    assert shards(Loading(), tmp_path / "out", "--resume")[0] == 0
    assert read_bytes(tmp_path / "out") == expected


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


def restore(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def test_damaged_shards_are_written_again_with_a_warning(shards, expected, tmp_path):
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
    assert read_bytes(folder) == expected


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
    assert read_bytes(folder) == expected


def test_a_run_from_before_there_were_records_is_made_again(shards, expected, tmp_path):
    folder = restore(tmp_path / "out", expected)
    data = json.loads(expected["_run.json"])
    del data["files"]
    (folder / "_run.json").write_text(json.dumps(data))
    rc, output = shards(Loading(), folder, "--resume")
    assert rc == 0
    assert f"{SHARDS} files are damaged or not recorded, and will be written again" in one_line(output)
    assert read_bytes(folder) == expected


def test_records_are_all_in_run_json_at_the_end_and_good_in_each_state_of_the_journal(expected, tmp_path):
    files = json.loads(expected["_run.json"])["files"]
    assert sorted(files) == sorted(name for name in expected if name.startswith("part-"))
    begun = {name: value for name, value in json.loads(expected["_run.json"]).items() if name != "files"}
    journal = b"".join(
        json.dumps({"name": name, **record}).encode() + b"\n" for name, record in files.items()
    )
    for length in sorted(draw.sample(range(len(journal) + 1), 20)):  # killed or cut off there
        folder = restore(tmp_path / str(length), {**expected, ".shards.jsonl": journal[:length]})
        (folder / "_run.json").write_text(json.dumps(begun))
        kept = Folder(folder, OutputFormat("jsonl")).begin(begun, resume=True)
        assert len(kept.intact) == journal[: length + 1].count(b"}")
        assert len(kept.intact) + len(kept.damaged) == SHARDS
        shutil.rmtree(folder)
