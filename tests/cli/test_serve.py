"""`otalign serve` as a user runs it: it says where it is, answers, and ends as it should."""

import json
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator

import pytest


@pytest.fixture
def server(command) -> Iterator[tuple[subprocess.Popen, str]]:
    """The process and its address."""
    arguments = command("serve", "--port", "0", "--threads", "1")
    with subprocess.Popen(**arguments, stderr=subprocess.PIPE, text=True) as process:
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


def test_it_answers_on_this_machine_alone(server):
    _, address = server
    assert address.startswith("http://127.0.0.1:")
    assert align(address, {"source": "It rains", "target": "It is raining"})["source"] == ["It", "rains"]
    with urllib.request.urlopen(address, timeout=10) as page:
        assert "<!doctype html>" in page.read().decode()
    port = int(address.rstrip("/").rpartition(":")[2])
    with socket.create_server(("127.0.0.2", port)):  # so it does not listen there
        pass


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_told_to_end_it_answers_what_it_has_begun(server, how):
    process, address = server
    many = {"pairs": [{"source": f"{'a b ' * 60}{k}", "target": "c d " * 60} for k in range(256)]}
    answers: list[dict] = []
    asking = threading.Thread(target=lambda: answers.append(align(address, many)))
    asking.start()
    time.sleep(0.3)
    process.send_signal(how)
    asking.join()
    assert len(answers[0]["alignments"]) == 256
    assert process.wait(30) in (0, -how)
    assert process.stderr.read() == ""


def test_an_address_that_is_taken_is_told_in_a_line(run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run("serve", "--port", str(taken.getsockname()[1]), rc=2)
    assert done.stderr.decode().startswith("otalign: ")
    assert done.stderr.count(b"\n") == 1
