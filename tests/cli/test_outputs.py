"""An output is the old file or a complete new one, and an error is one line."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from otalign import cli
from otalign.atomic import TEMPORARY
from tests.commands import Command

PAIR = "he bought a car\the bought a car\n"
LINKS = "0-0 1-1 2-2 3-3\n"
FAST = ("--method", "fast-align")  # which needs no model
LABELLED = json.dumps({"source": ["a"], "target": ["b"], "links": [[0, 0, 1]], "labels": ["B-X"]}) + "\n"


@pytest.fixture(autouse=True)
def pairs(tmp_path):
    (tmp_path / "pairs.tsv").write_text(PAIR)


@pytest.fixture
def stdin_from(monkeypatch):
    """Let standard input be a file, as `<` does."""
    before = os.dup(0)

    def stdin_from(path) -> None:
        with path.open("rb") as file:
            os.dup2(file.fileno(), 0)
        monkeypatch.setattr(sys, "stdin", open(0, encoding="utf-8", closefd=False))  # noqa: SIM115

    yield stdin_from
    os.dup2(before, 0)
    os.close(before)


@pytest.fixture
def start(command_server, tmp_path):
    """Start the program in a process of its own."""

    def start(*arguments: str, **options) -> Command:
        program = [sys.executable, "-m", "otalign", *arguments]
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | options
        return command_server.start(program, cwd=tmp_path, text=True, **streams)

    return start


@pytest.mark.parametrize(
    ("arguments", "content"),
    [
        (("align", "-", "-o", "file", *FAST), PAIR),
        (("align", "file", "-o", "link", *FAST), PAIR),
        (("convert", "-", "file", "--from", "tsv", "--to", "bars"), PAIR),
        (("convert", "file", "link", "--from", "tsv", "--to", "bars"), PAIR),
        (("project", "-", "-o", "file"), LABELLED),
        (("show", "-", "--html", "file"), LABELLED),
        (("show", "file", "--from", "jsonl", "--picture", "link.svg"), LABELLED),
        (("diff", "-", "pairs.tsv", "--html", "file"), PAIR),
    ],
)
def test_an_input_is_never_overwritten(main, stdin_from, tmp_path, arguments, content):
    file = tmp_path / "file"
    file.write_text(content)
    for link in ("link", "link.svg"):
        (tmp_path / link).hardlink_to(file)
    stdin_from(file)
    status, _, errors = main(*arguments)
    assert status == 2
    assert errors.endswith(" is an input too; write to another file\n")
    assert file.read_text() == content


def test_the_output_of_the_shell_is_not_the_input_either(start, tmp_path):
    with (tmp_path / "pairs.tsv").open("a") as out, start("align", "pairs.tsv", *FAST, stdout=out) as work:
        _, errors = work.communicate()
    assert errors == "otalign: standard output is an input too; write to another file\n"
    assert (tmp_path / "pairs.tsv").read_text() == PAIR


FULL = """
import json, resource, sys
from otalign import cli

resource.setrlimit(resource.RLIMIT_FSIZE, (8, 8))  # no file may have more bytes
for arguments in json.loads(sys.argv[1]):
    sys.argv[1:] = arguments
    try:
        cli.main()
    except SystemExit as end:
        print(end.code)
"""


def test_a_full_disk_leaves_the_old_files(command_server, tmp_path):
    (tmp_path / "labelled.jsonl").write_text(LABELLED)
    commands = [
        ("align", "pairs.tsv", *FAST, "-o", "out"),
        ("align", "pairs.tsv", *FAST, "-o", "out.gz"),
        ("convert", "pairs.tsv", "--from", "tsv", "--to", "parallel", "other", "out"),
        ("project", "labelled.jsonl", "-o", "out"),
        ("show", "labelled.jsonl", "--html", "out"),
        ("show", "labelled.jsonl", "--picture", "out.svg"),
    ]
    outputs = [tmp_path / name for name in ("out", "out.gz", "other", "out.svg")]
    for output in outputs:
        output.write_text("old")
    program = [sys.executable, "-c", FULL, json.dumps(commands)]
    done = command_server.run(program, cwd=tmp_path, text=True)
    assert done.stdout.split() == ["2"] * len(commands)
    said = [line for line in done.stderr.splitlines() if line]
    assert len(said) == len(commands)
    for line, (*_, output) in zip(said, commands, strict=True):
        assert line.endswith(": file too large")
        assert line == f"otalign: {output}: file too large" or "convert" in commands[said.index(line)]
    assert [output.read_text() for output in outputs] == ["old"] * len(outputs)
    assert not list(tmp_path.glob(f"{TEMPORARY}*"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_kill_leaves_the_old_file_and_does_not_hinder_the_next_run(start, main, tmp_path, number):
    (tmp_path / "out").write_text("old")
    with start("align", "-", "-o", "out", *FAST) as work:
        end = time.monotonic() + 60
        while not (begun := list(tmp_path.glob(f"{TEMPORARY}*"))) and time.monotonic() < end:
            time.sleep(0.01)
        work.send_signal(number)
        assert work.wait(timeout=60) == (-number if number == signal.SIGKILL else 128 + number)
        assert work.stderr
        assert work.stderr.read() == ""
    assert begun
    assert (tmp_path / "out").read_text() == "old"
    assert bool(list(tmp_path.glob(f"{TEMPORARY}*"))) == (number == signal.SIGKILL)
    assert main("align", "pairs.tsv", "-o", "out", *FAST)[0] == 0
    assert (tmp_path / "out").read_text() == LINKS


def test_an_interrupt_during_the_imports_is_no_traceback(tmp_path):
    (tmp_path / "typer.py").write_text("import os, signal; os.kill(os.getpid(), signal.SIGINT)")
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{heard}\nfrom otalign.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "--version"], cwd=tmp_path, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@pytest.mark.parametrize(("patience", "output"), [(60, b"cleaned up\n"), (-1, b"")])
def test_a_second_interrupt_waits_for_the_clean_up_of_the_first_but_not_for_long(patience, output):
    code = f"""
import os, signal, sys, time, types
from otalign import __main__

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.01)

def run():
    try:
        interrupt()
    finally:
        interrupt()
        print("cleaned up", flush=True)

__main__.PATIENCE = {patience}
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.modules["otalign.cli"] = types.SimpleNamespace(main=run)
__main__.main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, output, b"")


def test_a_lack_of_memory_is_reported_in_a_line(main, monkeypatch):
    def fail(**options) -> None:
        raise MemoryError

    monkeypatch.setattr(cli, "build_command", lambda app: fail)
    status, _, errors = main("align")
    assert status == 2
    assert errors.startswith("otalign: there is not enough memory; ")
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    ("redirected", "status", "output", "errors"),
    [
        ("<&-", 2, "", "otalign: standard input is closed; give a file, or open it\n"),
        ("pairs.tsv >&-", 2, "", "otalign: cannot write standard output: Bad file descriptor\n"),
        ("pairs.tsv >/dev/full", 2, "", "otalign: cannot write standard output: No space left on device\n"),
        ("pairs.tsv 2>&-", 0, LINKS, ""),
        ("pairs.tsv -o out <&- >&- 2>&-; status=$?; cat out; exit $status", 0, LINKS, ""),
        ("none.tsv 2>&-", 2, "", ""),
    ],
)
def test_closed_and_full_streams_are_reported_in_a_line(tmp_path, redirected, status, output, errors):
    line = f"{sys.executable} -m otalign align {' '.join(FAST)} {redirected}"
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (status, output, errors)


def test_arguments_that_are_not_utf8_are_refused(main):
    status, _, errors = main("align", "ä", os.fsdecode(b"a\xffb"))
    assert status == 2
    assert errors == "otalign: argument 3 must be UTF-8, got byte 0xff; rename the file, or give it by -\n"


def feed(path, content: str) -> None:
    """Write to a FIFO as soon as somebody reads it."""
    os.mkfifo(path)
    threading.Thread(target=path.write_text, args=(content,), daemon=True).start()


def test_pipes_are_read_in_one_pass(main, tmp_path, stdin_from):
    feed(tmp_path / "a", "he bought a car\n")
    feed(tmp_path / "b", "he bought a car\n")
    assert main("align", "a", "b", *FAST) == (0, LINKS.encode(), "")
    feed(tmp_path / "c", PAIR)
    assert main("align", "c", *FAST) == (0, LINKS.encode(), "")
    feed(tmp_path / "d", LABELLED)
    status, output, _ = main("project", "d", "--method", "fast-align")
    assert status == 0
    assert json.loads(output)["target_labels"] == ["B-X"]
    feed(tmp_path / "e", "he bought a car\n")
    (tmp_path / "one.txt").write_text("he bought a car\n")
    stdin_from(tmp_path / "one.txt")
    assert main("align", "-", "e", *FAST) == (0, LINKS.encode(), "")


def test_the_name_of_standard_input_is_a_file_too(start):
    with start("align", "/dev/stdin", *FAST) as work:
        assert work.communicate(PAIR) == (LINKS, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("align", "fifo", "--from", "parquet"), "Parquet cannot be read from a pipe, got fifo; give a file"),
        (("align", "-", "-"), "only one of the two files can be standard input"),
        (("align", "folder/", "fifo"), "folder/ is a folder; give a file"),
        (("project", "none.jsonl"), "there is no file none.jsonl"),
        (("align", "long.tsv", "--max-line-bytes", "9"), "at most 9 bytes a line (--max-line-bytes)"),
        (
            ("align", "long.tsv", "--max-words", "5"),
            "long.tsv, line 1: found 6 words in the source, expected",
        ),
        (
            ("align", "long.tsv", "--max-characters", "5"),
            "found 11 characters in the source, expected at most",
        ),
        (
            ("diff", "long.tsv", "pairs.tsv", "--max-bytes", "5"),
            "long.tsv has more than 5 bytes; raise --max-by",
        ),
        (
            ("diff", "long.tsv", "pairs.tsv", "--max-words", "5"),
            "long.tsv, sentence 1: found 7 words, expected",
        ),
        (("project", "many.jsonl", "--max-words", "1"), "many.jsonl, line 1: found 2 words in the source"),
        (("project", "deep.jsonl"), "deep.jsonl, line 1: found JSON that is nested too deeply"),
        (("project", "half.jsonl"), "half.jsonl, line 1: found character 14 is the lone surrogate U+D800"),
        (("project", "huge.jsonl"), "huge.jsonl, line 1: Out of range float values are not JSON"),
        (("serve", "--timeout", "inf"), "--timeout must be a positive number of seconds, got inf"),
        (("serve", "--timeout", "nan"), "--timeout must be a positive number of seconds, got nan"),
    ],
)
def test_what_cannot_be_read_is_reported_in_a_line(main, tmp_path, arguments, message):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    (tmp_path / "long.tsv").write_text("a b c d e f\tb\n")
    (tmp_path / "many.jsonl").write_text(LABELLED.replace('["a"]', '["a", "b"]'))
    (tmp_path / "deep.jsonl").write_text("[" * 100_000)
    (tmp_path / "half.jsonl").write_text('{"labels": ["\\ud800"], "source": "a", "target": "b"}')
    (tmp_path / "huge.jsonl").write_text(LABELLED.replace("{", '{"more": 1e999, ', 1))
    method = FAST if arguments[0] == "align" else ()
    status, output, errors = main(*arguments, *method)
    assert (status, output) == (2, b"")
    assert errors.startswith("otalign: ")
    assert message in errors
    assert errors.count("\n") == 1
