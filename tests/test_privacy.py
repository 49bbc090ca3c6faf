"""No part of a command sends anything, or writes anything except where it was asked to.

Each command runs under strace, which also sees what C++ libraries and child processes do: no socket but those
of this machine, no name looked up, no file outside the working folder and the temporary one.
"""

import ipaddress
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from otalign.io import write
from tests.training.examples import GOLDS

CALLS = (
    "connect,listen,sendto,sendmsg,sendmmsg,open,openat,openat2,creat,mkdir,mkdirat,rename,renameat,renameat2"
)
SENT = re.compile(r'htons\((?P<port>\d+)\).*?(?:inet_addr\("|inet_pton\(AF_INET6, ")(?P<address>[^"]+)"')
HEARD = re.compile(r"listen\(\d+<TCP\w*:\[\[?(?P<address>[^\]]+?)\]?:(?P<port>\d+)\]")
MADE = re.compile(
    r'(?:open\w*\(.*?"(?P<opened>/[^"]*)".*O_CREAT|(?:creat|mkdir|rename)\w*\(.*"(?P<made>/[^"]*)")'
)
DNS = 53
SYSTEM = ("/dev/", "/proc/")  # shared memory, pipes and the like, no files
OURS = ("OTALIGN", "ORT", "RAY", "HF_", "TRANSFORMERS", "TORCH", "XDG", "MPL", "DO_NOT_TRACK")


OTALIGN = ("-m", "otalign")


class Watched:
    """A place to run commands in, and what they did there."""

    def __init__(self, work: Path, home: Path, temporary: Path):
        self.work, self.home, self.temporary = work, home, temporary
        self.log = work.parent / "strace.log"

    def popen(self, *program: str, **streams: object) -> subprocess.Popen[str]:
        """Start Python with these arguments."""
        environment = {key: value for key, value in os.environ.items() if not key.startswith(OURS)}
        environment |= {"HOME": str(self.home), "TMPDIR": str(self.temporary), "PYTHONDONTWRITEBYTECODE": "1"}
        strace = ["strace", "-f", "--seccomp-bpf", "-qq", "-yy", "-s", "4096", "-o", str(self.log)]
        command = [*strace, "-e", f"trace={CALLS}", sys.executable, *program]
        return subprocess.Popen(command, cwd=self.work, env=environment, text=True, **streams)  # pyright: ignore

    def run(self, *program: str) -> str:
        with self.popen(*program, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            out, err = process.communicate(timeout=240)
        assert process.returncode == 0, err
        self.check()
        return out

    def check(self) -> None:
        """Assert that nothing was sent anywhere, and nothing written elsewhere."""
        calls = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        assert calls, "strace has seen nothing"
        assert [line for line in calls if _reaches_out(line)] == []
        assert [line for line in calls if self._writes_elsewhere(line)] == []
        assert list(self.home.rglob("*")) == []

    def _writes_elsewhere(self, line: str) -> bool:
        match = MADE.search(line)
        if match is None or " = -1 " in line:
            return False
        file = match["opened"] or match["made"]
        return not file.startswith((*SYSTEM, f"{self.work}/", f"{self.temporary}/"))


def _reaches_out(line: str) -> bool:
    match = SENT.search(line) or HEARD.search(line)
    if match is None:
        return False
    address = ipaddress.ip_address(match["address"])
    address = getattr(address, "ipv4_mapped", None) or address
    return int(match["port"]) == DNS or not address.is_loopback


@pytest.fixture
def watched(tmp_path) -> Iterator[Watched]:
    probe = ["strace", "-f", "--seccomp-bpf", "-o", os.devnull, "true"]
    if shutil.which("strace") is None or subprocess.run(probe, capture_output=True).returncode:
        pytest.skip("strace is not there, or may not trace")
    for name in ("work", "home"):
        (tmp_path / name).mkdir()
    with tempfile.TemporaryDirectory() as temporary:  # short: Ray has sockets below it
        yield Watched(tmp_path / "work", tmp_path / "home", Path(temporary))


@pytest.fixture
def pairs(watched) -> str:
    (watched.work / "pairs.tsv").write_text("He bought a car.\tHe purchased a car.\n" * 3)
    return "pairs.tsv"


def test_align_keeps_to_itself(watched, pairs):
    watched.run(*OTALIGN, "align", pairs, "-o", "links.txt")
    assert (watched.work / "links.txt").read_text().count("\n") == 3


def test_a_server_keeps_to_itself(watched):
    with watched.popen(*OTALIGN, "serve", "--port", "0", stderr=subprocess.PIPE) as process:
        address = process.stderr.readline().partition("  ")[0]
        body = json.dumps({"source": "It rains", "target": "It is raining"}).encode()
        request = urllib.request.Request(f"{address}v1/align", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as reply:
            assert json.load(reply)["source"] == ["It", "rains"]
        (server,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(server), signal.SIGTERM)
    watched.check()


IN_TURN = """
import json, sys
from otalign import cli

for arguments in json.loads(sys.argv[1]):
    sys.argv[1:] = arguments
    try:
        cli.main()
    except SystemExit as end:
        if end.code:
            raise
"""


def test_training_and_export_keep_to_themselves(watched, tiny_model):
    """One after the other in one process, since importing torch takes longer than either."""
    write(GOLDS[:6], watched.work / "train.jsonl", "jsonl")
    files = ("train.jsonl", "--dev", "train.jsonl", "--from", "jsonl")
    quick = ("--encoder", str(tiny_model("bert")), "--epochs", "1", "--device", "cpu")
    train = ("train", *files, *quick, "-o", "mine")
    export = ("export", str(tiny_model("bert")), "--layer", "1", "--int8", "-o", "made")
    watched.run("-c", IN_TURN, json.dumps([train, export]))
    assert (watched.work / "mine" / "head.safetensors").is_file()
    assert (watched.work / "made" / "encoder.onnx").is_file()


def test_ray_keeps_to_itself(watched, pairs):
    pytest.importorskip("ray.data", reason="Ray is not installed")
    watched.run(*OTALIGN, "align", pairs, "--engine", "ray", "--processes", "1", "-o", "links")
    assert (watched.work / "links" / "_run.json").is_file()
