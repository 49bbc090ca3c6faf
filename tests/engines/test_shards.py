"""`otalign align -o folder/`: the bytes of its shards depend on the input and the aligner alone."""

import gzip
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from otalign import Aligner
from otalign.__main__ import main
from otalign.aligner import Text
from otalign.alignment import Alignment
from otalign.engines import Folder, OutputFormat, ShardWork, align
from otalign.io import TextPair

WORDS = [
    "the",
    "a",
    "he",
    "she",
    "bought",
    "sold",
    "old",
    "new",
    "car",
    "house",
    "rain",
    "fell",
    "on",
    "town",
]
PAIRS, SIZE = 230, 20


def drawn_pairs() -> list[dict]:
    draw = random.Random(7)
    pairs = []
    for _ in range(PAIRS):
        source = draw.choices(WORDS, k=draw.randint(0, 12))
        target = draw.sample(source, k=draw.randint(0, len(source)))
        pairs.append({"source": " ".join(source), "target": " ".join(target)})
    return pairs


@pytest.fixture(scope="session")
def int8(exported) -> Path:
    """An encoder whose numbers depend on what is batched together; the aligner over it centres."""
    return exported("bert", 3, int8=True)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("corpus") / "pairs.jsonl.gz"
    file.write_bytes(gzip.compress("".join(json.dumps(pair) + "\n" for pair in drawn_pairs()).encode()))
    return file


@pytest.fixture(scope="session")
def command(int8, corpus):
    """Return the arguments of the command server that write shards of the corpus into a folder."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OTALIGN")}

    def command(folder: Path, *options: str, pairs: Path | str = corpus) -> dict:
        arguments = [
            str(pairs),
            "-o",
            f"{folder}/",
            "--shard-size",
            str(SIZE),
            "--model",
            str(int8),
            *options,
        ]
        return {"args": [sys.executable, "-m", "otalign", "align", *arguments], "env": environment}

    return command


@pytest.fixture(scope="session")
def run(command, command_server):
    def run(folder: Path, *options: str, rc: int = 0, stdin: bytes = b"", **given) -> str:
        done = command_server.run(**command(folder, *options, **given), input=stdin)
        assert done.returncode == rc, done.stderr.decode()
        return done.stderr.decode()

    return run


@pytest.fixture(scope="session")
def whole(run, tmp_path_factory) -> Path:
    """An undisturbed run."""
    folder = tmp_path_factory.mktemp("shards") / "whole"
    assert run(folder) == ""
    return folder


def read_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_shard_is_what_its_pairs_give_by_themselves_around_the_centre_of_the_corpus(whole, int8):
    pairs = [(pair["source"], pair["target"]) for pair in drawn_pairs()]
    aligner = Aligner.load(int8).fit_centre(pairs)  # all of them, since they are few
    parts = sorted(whole.glob("part-*"))
    assert [part.name for part in parts] == [f"part-{k:06d}.jsonl" for k in range(-(-PAIRS // SIZE))]
    for k, part in enumerate(parts):
        expected = list(aligner.align_many(pairs[k * SIZE : (k + 1) * SIZE]))
        found = [Alignment.from_dict(json.loads(line)) for line in part.read_text().splitlines()]
        assert found == expected


def test_two_processes_write_what_one_writes(whole, run, tmp_path):
    run(tmp_path / "two", "--processes", "2")
    assert read_bytes(tmp_path / "two") == read_bytes(whole)


def test_workers_beside_one_model_write_what_one_process_writes(whole, run, tmp_path):
    run(tmp_path / "helpers", "--workers", "2")
    assert read_bytes(tmp_path / "helpers") == read_bytes(whole)


def test_a_run_killed_at_any_moment_and_resumed_writes_the_same_bytes(
    whole, command, command_server, run, tmp_path
):
    draw, folder = random.Random(3), tmp_path / "killed"
    kills = 0
    for option in ("--processes", "--workers", "--processes", "--workers"):
        before = len(list(folder.glob("part-*")))
        with command_server.start(**command(folder, "--resume", option, "2")) as work:
            end = time.monotonic() + 60
            while len(list(folder.glob("part-*"))) <= before and work.poll() is None:
                assert time.monotonic() < end
                time.sleep(0.001)
            time.sleep(draw.uniform(0, 0.05))
            work.send_signal(signal.SIGKILL)
            kills += work.wait() == -signal.SIGKILL
    assert kills
    (folder / ".part-part-000001.jsonl-0000").write_bytes(b"half of a sha")  # as a power cut may leave it
    run(folder, "--resume")
    assert read_bytes(folder) == read_bytes(whole)


def test_a_damaged_centre_is_found_again_and_shards_around_it_have_the_same_bytes(whole, run, tmp_path):
    folder = tmp_path / "damaged"
    shutil.copytree(whole, folder)
    data = bytearray((folder / "_centre.npz").read_bytes())
    data[-200] ^= 1
    (folder / "_centre.npz").write_bytes(data)
    (folder / "part-000001.jsonl").unlink()
    assert "2 files are damaged" in run(folder, "--resume")
    assert read_bytes(folder) == read_bytes(whole)


def test_an_interrupt_leaves_complete_shards_and_says_how_to_continue(
    whole, command, command_server, run, tmp_path
):
    folder = tmp_path / "interrupted"
    with command_server.start(**command(folder), stderr=subprocess.PIPE) as work:
        end = time.monotonic() + 60
        while not list(folder.glob("part-*")) and time.monotonic() < end:
            time.sleep(0.001)
        work.send_signal(signal.SIGINT)
        assert work.wait(timeout=60) == 130
        assert work.stderr
        assert b"keeps its complete shards; continue with --resume" in work.stderr.read()
    expected = read_bytes(whole)
    for part in folder.glob("part-*"):
        assert part.read_bytes() == expected[part.name]
    run(folder, "--resume")
    assert read_bytes(folder) == expected


@pytest.mark.parametrize(("option", "number"), [("--processes", 0), ("--workers", 0), ("--workers", 1)])
def test_a_process_that_dies_costs_nothing_but_its_time(
    whole, command, command_server, tmp_path, option, number
):
    folder = tmp_path / "one-dies"
    with command_server.start(**command(folder, option, "2")) as work:
        end = time.monotonic() + 60
        while not list(folder.glob("part-*")) and time.monotonic() < end:
            time.sleep(0.001)
        children = Path(f"/proc/{work.pid}/task/{work.pid}/children")
        if not children.exists():
            pytest.skip("the system does not tell which processes are whose")
        pids = map(int, children.read_text().split())
        aligning = [pid for pid in pids if b"resource_tracker" not in cmdline(pid)]
        os.kill(aligning[number], signal.SIGKILL)
        assert work.wait(timeout=60) == 0
    assert read_bytes(folder) == read_bytes(whole)


def cmdline(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def test_another_run_is_refused_and_nothing_is_changed(whole, run, corpus, tmp_path):
    before = read_bytes(whole)
    other = tmp_path / corpus.name
    other.write_bytes(gzip.compress(gzip.decompress(corpus.read_bytes()) + b'{"source": "", "target": ""}\n'))
    for options, given, what in (
        (("--resume", "--threshold", "0.1"), {}, "its aligner is"),
        (("--resume", "--format", "columns"), {}, "its format is 'jsonl', and now 'columns'"),
        (("--resume", "--pretokenized"), {}, "its pretokenized is False, and now True"),
        (("--resume", "--shard-size", "7"), {}, "its shard_size is 20, and now 7; use the same options"),
        (("--resume", "--batch-size", "99"), {}, "its batch_size is None, and now 99"),
        (("--resume",), {"pairs": other}, "its input is"),
        ((), {}, "already exists and is not empty; use --resume"),
        (("--resume",), {"pairs": "-"}, "--resume reads the input from its beginning"),
        (("--method", "fast-align"), {}, "--model applies only to --method ot or simalign"),
    ):
        assert what in run(whole, *options, rc=2, **given)
    assert read_bytes(whole) == before


def test_a_folder_of_something_else_is_refused_before_the_work(tmp_path):
    def catch_refusal(folder: Path, resume: bool) -> str:
        with pytest.raises(ValueError, match=re.escape(str(folder))) as error:
            Folder(folder, OutputFormat("jsonl")).check(resume=resume)
        return str(error.value)

    other = tmp_path / "other"
    other.mkdir()
    for resume in (False, True):
        Folder(other, OutputFormat("jsonl")).check(resume=resume)  # there is nothing in it
    (other / "otalign.json").write_text("{}")
    assert "choose the folder of a run" in catch_refusal(other, resume=True)
    assert "or choose a new folder" in catch_refusal(other, resume=False)
    assert "is a file; choose a folder" in catch_refusal(other / "otalign.json", resume=False)
    for text in ("[]", "{}", "{", "[" * 100_000):
        (other / "_run.json").write_text(text)
        assert "does not describe a run" in catch_refusal(other, resume=True)


def test_a_run_killed_before_it_wrote_its_description_can_be_resumed(tmp_path):
    folder = Folder(tmp_path, OutputFormat("jsonl"))
    (tmp_path / ".part-run.json-0000").write_bytes(b"{")
    folder.begin({"shard_size": 1}, resume=True)
    assert sorted(file.name for file in tmp_path.iterdir()) == [".shards.jsonl", "_run.json"]


def test_a_shard_that_kills_every_process_ends_the_run(tmp_path):
    work = ShardWork(Folder(tmp_path / "out", OutputFormat("jsonl")), Deadly)
    with pytest.raises(OSError, match=r"part-000000\.jsonl \(pair 1\) failed 3 times, the last: .* signal 9"):
        align([TextPair("a", "b")], work, {})


class Deadly:
    """A method that no process survives."""

    signature = "deadly"

    def align(self, source: Text, target: Text) -> Alignment:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    def align_many(self, pairs: Iterable[tuple[Text, Text]]) -> Iterator[Alignment]:
        return (self.align(*pair) for pair in pairs)


@pytest.mark.parametrize("form", ["columns", "pharaoh", "jsonl.gz"])
def test_every_format_holds_the_same_links_and_comes_again_byte_for_byte(whole, run, tmp_path, form):
    parts = []
    for folder in (tmp_path / "first", tmp_path / "second"):
        run(folder, "--format", form)
        parts.append([part.read_bytes() for part in sorted(folder.glob("part-*"))])
    assert parts[0] == parts[1]
    expected = [Alignment.from_dict(json.loads(line)) for line in read_lines(whole)]
    if form == "jsonl.gz":
        assert b"".join(map(gzip.decompress, parts[0])).splitlines() == read_lines(whole)
    else:
        found = [line.split("\t")[-1] for line in b"".join(parts[0]).decode().splitlines()]
        assert found == [alignment.pharaoh() for alignment in expected]


def read_lines(folder: Path) -> list[bytes]:
    return b"".join(part.read_bytes() for part in sorted(folder.glob("part-*"))).splitlines()


def test_a_bad_line_is_named_before_the_work_and_from_a_pipe_when_whole_shards_are_written(
    whole, run, corpus, tmp_path
):
    lines = gzip.decompress(corpus.read_bytes()).splitlines(keepends=True)
    lines[2 * SIZE + 3] = b"{\n"
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(b"".join(lines))
    assert f"bad.jsonl, line {2 * SIZE + 4}: found" in run(tmp_path / "none", pairs=bad, rc=2)
    assert not (tmp_path / "none").exists()
    said = run(tmp_path / "two", "--from", "jsonl", pairs="-", stdin=bad.read_bytes(), rc=2)
    assert f"standard input, line {2 * SIZE + 4}: found" in said
    assert sorted(part.name for part in (tmp_path / "two").glob("part-*")) == [
        "part-000000.jsonl",
        "part-000001.jsonl",
    ]


def test_a_corpus_without_a_pair_or_a_word_is_a_run_too(run, tmp_path):
    (tmp_path / "nothing.tsv").write_text("")
    run(tmp_path / "nothing", pairs=tmp_path / "nothing.tsv")
    assert json.loads((tmp_path / "nothing" / "_run.json").read_text())["shards"] == 0
    (tmp_path / "blank.tsv").write_text("\n" * (SIZE + 1))
    run(tmp_path / "blank", "--format", "pharaoh", pairs=tmp_path / "blank.tsv")
    assert read_lines(tmp_path / "blank") == [b""] * (SIZE + 1)


@pytest.mark.parametrize(
    ("processors", "pairs", "options", "processes"),
    [
        (2, 40, {}, 1),
        (8, 40, {}, 2),
        (16, 40, {}, 4),
        (16, 20, {}, 2),  # no more than shards
        (16, 40, {"threads": 4}, 1),
        (16, 40, {"processes": 3}, 3),
        (16, 40, {"workers": 2}, 1),
    ],
)
def test_an_exported_model_gets_a_process_for_four_processors(
    monkeypatch, tmp_path, processors, pairs, options, processes
):
    monkeypatch.setattr("otalign.cli.shards.count_processors", lambda: processors)
    given = {}
    monkeypatch.setattr("otalign.engines.align", lambda *_, **of_run: given.update(of_run))
    (tmp_path / "pairs.tsv").write_text("one\tone\n" * pairs)
    arguments = [f"--{name}={value}" for name, value in options.items()]
    command = ["align", str(tmp_path / "pairs.tsv"), "-o", f"{tmp_path}/out/", "--shard-size", "10"]
    monkeypatch.setattr("sys.argv", ["otalign", *command, *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    assert given["processes"] == processes
