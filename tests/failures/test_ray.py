"""Failures by Ray: as by processes of this machine."""

import sys

import pytest

from otalign.engines import Folder, OutputFormat
from tests.failures.faults import SIZE, Fault, Loading, Plain, Run, damage, one_line, read_bytes

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal that kills"),
    pytest.mark.filterwarnings("ignore"),  # Ray's own, of which there are many
]


@pytest.fixture
def shards(run_here) -> Run:
    """Return a function that runs the command for a folder of shards here, where the cluster is known."""
    options = ("--shard-size", str(SIZE), "--engine", "ray", "--threads", "1")
    return lambda loading, folder, *more: run_here(loading, f"{folder}/", *options, *more)


def test_by_ray_it_is_the_same(cluster, shards, expected, tmp_path):
    folder = tmp_path / "out"
    rc, output = shards(Loading(Plain(Fault("panic", tmp_path / "graves"), at=59)), folder)
    assert rc == 2
    assert "part-000004.jsonl (lines 49–60) failed 3 times, the last at line 60: Panic: " in one_line(output)

    with Folder(folder, OutputFormat("jsonl")).lock():
        rc, output = shards(Loading(), folder, "--resume")
        assert (rc, "another run is writing into" in one_line(output)) == (2, True)

    damage(folder)
    rc, output = shards(Loading(), folder, "--resume")
    assert (rc, "files are damaged or not recorded, and will be written again" in one_line(output)) == (
        0,
        True,
    )
    assert read_bytes(folder) == expected


def test_ray_does_not_restart_an_actor_that_dies_while_loading_forever(cluster, shards, tmp_path):
    fault = Fault("kill", tmp_path / "graves", spared=1)  # the first load only asks what the method is
    rc, output = shards(Loading(fault=fault), tmp_path / "out")
    assert rc == 2
    assert "loading the aligner failed 3 times, the last: a worker process died" in output
    assert fault.processes <= 1 + 3
