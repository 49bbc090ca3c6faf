"""`otalign serve` as a user runs it: start, answers and shutdown."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.commands import Command

# A busy machine may not be able to replace three workers within the minute in which more must not die.
SERVE_PATIENTLY = (
    "from otalign.__main__ import main; from otalign.server import workers; workers.WITHIN = 3600.0; main()"
)


@pytest.fixture
def server(command, command_server, request) -> Iterator[tuple[Command, str]]:
    """The process and its address; a test may give further options."""
    given = command("serve", "--port", "0", "--threads", "1", *getattr(request, "param", ()))
    given["args"][1:3] = ["-c", SERVE_PATIENTLY]  # for -m otalign
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with command_server.start(**given, **pipes, preload=("otalign.server.app",)) as process:
        try:
            assert process.stderr is not None
            address, _, signature = process.stderr.readline().partition("  ")
            assert signature.startswith("encoder:")
            yield process, address
        finally:
            process.kill()


def align(address: str, body: object) -> dict:
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}v1/align", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)


def get(address: str, path: str) -> str:
    with urllib.request.urlopen(f"{address}{path}", timeout=60) as reply:
        return reply.read().decode()


@pytest.mark.parametrize("server", [("--compare", "small")], indirect=True)
def test_it_answers_on_this_machine_alone_with_both_models(server):
    _, address = server
    other = json.loads(get(address, "v1/aligner"))["other"]
    assert "encoder:minilm-l6" in json.loads(get(address, f"{other}v1/aligner"))["signature"]
    assert align(f"{address}{other}", {"source": "It rains", "target": "It rains"})["links"]
    assert address.startswith("http://127.0.0.1:")
    assert align(address, {"source": "It rains", "target": "It is raining"})["source"] == ["It", "rains"]
    assert "<!doctype html>" in get(address, "")
    port = int(address.rstrip("/").rpartition(":")[2])
    with socket.create_server(("127.0.0.2", port)):  # so it does not listen there
        pass


WORKERS = ("--workers", "2")


@pytest.mark.parametrize(
    ("server", "how"),
    [((), signal.SIGINT), ((), signal.SIGTERM), (WORKERS, signal.SIGTERM)],
    indirect=["server"],
)
def test_on_termination_it_answers_requests_in_progress(server, how):
    process, address = server
    many = {"pairs": [{"source": f"{'a b ' * 60}{k}", "target": "c d " * 60} for k in range(96)]}
    answers: list[dict] = []
    asking = threading.Thread(target=lambda: answers.append(align(address, many)))
    asking.start()
    while re.search(r"^otalign_queue_pairs 0$", get(address, "metrics"), re.M):
        time.sleep(0.01)
    process.send_signal(how)
    asking.join()
    assert len(answers[0]["alignments"]) == 96
    assert process.wait(30) in (0, -how)
    assert process.stderr.read() == ""


def children(process: Command) -> list[int]:
    """The processes that serve; multiprocessing has one of its own beside them."""
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = int(file.read_text().rpartition(")")[2].split()[1])
            if parent == process.pid and b"resource_tracker" not in (file.parent / "cmdline").read_bytes():
                found.append(int(file.parent.name))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("server", [WORKERS], indirect=True)
def test_a_worker_that_dies_is_replaced_but_not_forever(server):
    process, address = server
    pair = {"source": "It rains", "target": "It is raining"}
    for _ in range(3):
        workers = children(process)
        assert len(workers) == 2
        os.kill(workers[0], signal.SIGKILL)
        line = process.stderr.readline()
        assert line == f"otalign: worker process {workers[0]} died with exit code -9 and is replaced\n"
        assert align(address, pair)["source"] == ["It", "rains"]  # whichever worker it waits for
    os.kill(children(process)[0], signal.SIGKILL)
    assert process.wait(120) == 2
    assert "the last of 4 within 3600 seconds" in process.stderr.read()
    assert children(process) == []


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("server", [WORKERS], indirect=True)
def test_workers_end_with_the_process_that_started_them(server):
    process, _ = server
    workers = children(process)
    process.kill()
    process.wait()
    end = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in workers):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_model_that_workers_cannot_load_is_reported_in_a_line(run):
    done = run("serve", "--workers", "2", "--port", "0", "--layer", "99", rc=2)
    assert done.stderr.decode().startswith("otalign: ")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    "server", [("--host", "0.0.0.0", "--allow-host", "example.org", "--access-log")], indirect=True
)
def test_beyond_this_machine_there_is_a_warning_and_only_allowed_names_are_answered_to(server):
    process, address = server
    assert "warning: other machines reach 0.0.0.0" in process.stderr.readline()
    port = address.rstrip("/").rpartition(":")[2]
    for name, status in (("example.org", 200), ("localhost", 200), ("evil.example", 421)):
        request = urllib.request.Request(f"http://127.0.0.1:{port}/healthz", headers={"Host": name})
        try:
            with urllib.request.urlopen(request, timeout=10) as reply:
                found = reply.status
        except urllib.error.HTTPError as error:
            found = error.code
        assert found == status
        assert f'"GET /healthz HTTP/1.1" {status} ' in process.stdout.readline()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--timeout", "inf"), "--timeout must be a positive number of seconds, got inf"),
        (("--token-file", "/dev/null"), "/dev/null is empty"),
        (
            ("--host", "192.0.2.1"),
            "cannot listen at 192.0.2.1, port 0: cannot assign requested address; choose",
        ),
    ],
)
def test_what_cannot_be_served_is_reported_in_a_line(run, arguments, told):
    done = run("serve", "--port", "0", *arguments, rc=2)
    assert done.stderr.decode().startswith(f"otalign: {told}")
    assert done.stderr.count(b"\n") == 1


def test_an_address_in_use_is_reported_in_a_line(run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("serve", "--port", str(port), rc=2)
    assert done.stderr.decode().startswith(
        f"otalign: cannot listen at 127.0.0.1, port {port}: address already"
    )
    assert done.stderr.count(b"\n") == 1
