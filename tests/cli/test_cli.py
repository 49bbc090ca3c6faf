"""The program as a user runs it: output, files and error messages."""

import json
import os
import subprocess
import sys

import pytest

from otalign.gold import Gold
from otalign.io import FORMATS, read, write

GOLD = [
    Gold(("he", "bought", "cars"), ("he", "purchased", "cars", "yesterday"), {(0, 0), (1, 1)}, {(2, 2)}),
    Gold(("boats", "sail"), ("ships", "sail"), {(0, 0), (1, 1)}),
]

FROM = ("--from", "multimwa")


@pytest.fixture
def run(tmp_path, command_server):
    write(GOLD, tmp_path / "gold.tsv", "multimwa")
    environment = {key: value for key, value in os.environ.items() if key != "OTALIGN_DATA"}

    def run(*arguments: str, rc: int = 0) -> subprocess.CompletedProcess:
        program = [sys.executable, "-m", "otalign", *arguments]
        done = command_server.run(program, cwd=tmp_path, env=environment, text=True)
        assert done.returncode == rc, done.stderr
        return done

    return run


def test_convert_writes_what_it_read(run, tmp_path):
    done = run("convert", "gold.tsv", "--from", "multimwa", "gold.jsonl.gz", "--to", "jsonl")
    assert done.stderr == "2 pairs written to gold.jsonl.gz\n"
    assert list(read(tmp_path / "gold.jsonl.gz", "jsonl")) == GOLD
    run("convert", "gold.tsv", "--from", "multimwa", "links.txt", "--to", "pharaoh", "--level", "possible")
    assert (tmp_path / "links.txt").read_text() == "0-0 1-1 2-2\n0-0 1-1\n"
    run("convert", "gold.tsv", "--from", "multimwa", "a.txt", "b.txt", "--to", "parallel")
    options = ("--words", "a.txt", "--words", "b.txt")
    run("convert", "links.txt", "--from", "pharaoh", "again.tsv", "--to", "multimwa", *options)
    assert [gold.sure for gold in read(tmp_path / "again.tsv", "multimwa")] == [
        {(0, 0), (1, 1), (2, 2)},
        {(0, 0), (1, 1)},
    ]


def test_a_bad_line_stops_the_conversion_and_leaves_no_file(run, tmp_path):
    (tmp_path / "links.txt").write_text("0-0\n1+1\n2-2 2-2\n")
    (tmp_path / "out.txt").write_text("what was here before\n")
    done = run("convert", "links.txt", "--from", "pharaoh", "out.txt", "--to", "talp", rc=2)
    assert done.stderr.startswith("otalign: links.txt, line 2: found '1+1', expected links such as")
    assert (tmp_path / "out.txt").read_text() == "what was here before\n"
    assert not [path for path in tmp_path.iterdir() if "part" in path.name]
    done = run("convert", "links.txt", "--from", "pharaoh", "out.txt", "--to", "talp", "--skip-bad")
    assert "1 bad, left out; the first: links.txt, line 2" in done.stderr
    assert "1 with a link given twice; the first: links.txt, line 3" in done.stderr
    assert (tmp_path / "out.txt").read_text() == "1-1\n3-3\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("convert", "gold.tsv", "--from", "multimwa", "x", "--to", "nope"),
            f"--to must be one of {', '.join(FORMATS)}, ",
        ),
        (
            ("convert", "gold.tsv", "--from", "multimwa", "--to", "jsonl"),
            "give a file to read and one to write",
        ),
        (
            ("convert", "none.tsv", "--from", "multimwa", "x", "--to", "jsonl"),
            "there is no file none.tsv",
        ),
        (
            ("convert", "gold.tsv", "--from", "multimwa", "x", "--to", "pharaoh", "--level", "p"),
            "--level must be one of sure, possible, got 'p'; see otalign convert --help",
        ),
        (
            ("convert", "gold.tsv", *FROM, "no/x", "--to", "jsonl"),
            "cannot write no/x: there is no folder no;",
        ),
        (("convert", "gold.tsv", *FROM, ".", "--to", "jsonl"), "cannot write .: it is a folder; give a file"),
        (("evaluate", "gold.tsv"), "give at least one prediction and the gold"),
        (("evaluate", "gold.tsv", "gold.tsv", "--bins", "3"), "--bins applies only with --by; add"),
        (("evaluate", "gold.tsv", "gold.tsv", "--per-pair"), "--per-pair applies only with --json; add"),
        (("evaluate", "gold.tsv", "gold.tsv", *FROM, "--seed", "-1"), "--seed must be at least 0, got -1"),
        (
            ("evaluate", "gold.tsv", "gold.tsv", "--by", "mood", "--from", "multimwa"),
            "--by must be one of null_rate",
        ),
        (("evaluate", "short.txt", "gold.tsv"), "short.txt, line 2: found the end of the file"),
        (("evaluate", "wide.txt", "gold.tsv"), "wide.txt, line 1: found"),
        (("evaluate", "gold.tsv", "mtref"), "no data folder is given; pass --data or set OTALIGN_DATA"),
        (
            ("corpus", "stats", "mtref", "--data", "here"),
            "there is no here/multimwa/MultiMWA-MTRef/mtref-train.tsv",
        ),
        (("convert", "gold.tsv", *FROM, "x", "--to", "jsonl", "--level", "s+p"), "it is now possible"),
        (("corpus", "stats", "nope"), "NAME... must be one of msr-rte, "),
    ],
)
def test_what_cannot_be_done_is_a_clear_error(run, tmp_path, arguments, message):
    (tmp_path / "short.txt").write_text("0-0\n")
    (tmp_path / "wide.txt").write_text("0-9\n0-0\n")
    done = run(*arguments, rc=2)
    assert done.stderr.startswith("otalign: ")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_evaluate_scores_and_compares(run, tmp_path):
    (tmp_path / "all.txt").write_text("0-0 1-1 2-2\n0-0 1-1\n")
    (tmp_path / "none.txt").write_text("\n\n")
    found = json.loads(run("evaluate", "none.txt", "all.txt", "gold.tsv", "--json", "--per-pair").stdout)
    # Sure links of the first pair: 2 of 3 links right, 1 null of 1; 2 links and 3 nulls in the gold.
    best = found["systems"]["all.txt"]
    assert best["precision"] == pytest.approx((3 / 4 + 1) / 2)
    assert best["recall"] == pytest.approx((3 / 5 + 1) / 2)
    assert found["systems"]["none.txt"]["links_f1"] == 0
    assert found["pairs"]["all.txt"]["recall"] == pytest.approx([3 / 5, 1])
    assert found["comparisons"][0]["difference"] == pytest.approx(
        best["f1"] - found["systems"]["none.txt"]["f1"]
    )
    shown = run("evaluate", "none.txt", "all.txt", "gold.tsv", "--by", "length").stdout
    assert shown.count("links and nulls") == 2
    assert "all.txt − none.txt: F1 +" in shown
    assert shown.splitlines()[-1] == found["signature"]
    assert (
        "level:sure|pairs:2|trials:10000|seed:0|confidence:0.95|gold:gold.tsv|version:" in found["signature"]
    )


def test_the_input_format_may_be_given_by_its_former_option(run):
    for command in (("show", "gold.tsv"), ("evaluate", "gold.tsv", "gold.tsv", "--json")):
        results = [run(*command, option, "multimwa").stdout for option in ("--from", "--format")]
        assert results[0] == results[1]
        assert "--format" not in run(command[0], "--help").stdout.partition("Examples:")[0]


def test_the_program_explains_itself(run):
    assert "evaluate" in run("--help").stdout
    assert "Examples:\n  otalign evaluate " in run("evaluate", "--help").stdout
    assert run("--version").stdout.startswith("otalign ")


def test_corpora_are_listed(run):
    assert "edinburgh++" in run("corpus", "list").stdout
    assert json.loads(run("corpus", "list", "--json").stdout)["wiki"]["splits"] == ["train", "dev", "test"]


def test_without_torch_training_says_what_to_install(tmp_path):
    command = ("train", "mtref", "--encoder", "some")
    hidden = "import sys; sys.modules['torch'] = None; from otalign.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", hidden, *command, "--data", tmp_path, "-o", tmp_path / "made"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "pip install 'otalign[torch]'" in done.stderr
    assert "Traceback" not in done.stderr
