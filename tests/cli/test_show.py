"""`otalign show` as a user runs it: drawings, comparison with gold, pages and pictures."""

import json
import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from otalign.alignment import Alignment, Link
from otalign.gold import Gold
from otalign.io import write
from otalign.render.report import report

ROOT = Path(__file__).parents[2]
GOLD = [
    Gold(("he", "bought", "cars"), ("he", "purchased", "cars", "yesterday"), {(0, 0), (1, 1)}, {(2, 2)}),
    Gold(("boats", "sail"), ("ships", "sail"), {(0, 0), (1, 1)}),
]
PREDICTED = [
    Alignment(GOLD[0].source, GOLD[0].target, (Link(0, 0, 0.9), Link(1, 1, 0.3), Link(2, 2, 0.8))),
    Alignment(GOLD[1].source, GOLD[1].target, (Link(1, 1),)),
]
LEGEND = "S source   T target   │ linked   ┆ weak link   1 moved   ∅ no counterpart\n"
DRAWN = [
    f"""── 1 {"─" * 75}
S he  bought     cars
  │   ┆          │     ∅
T he  purchased  cars  yesterday
""",
    f"""── 2 {"─" * 75}
S boats         sail
  ∅      ∅      │
T        ships  sail
""",
]


PHRASE = Alignment(("passed", "away"), ("died",), (Link(0, 0, 0.9), Link(1, 0, 0.8)))


@pytest.fixture
def run(tmp_path, command_server):
    write(GOLD, tmp_path / "gold.tsv", "multimwa")
    write(PREDICTED, tmp_path / "out.jsonl.gz", "jsonl")
    (tmp_path / "links.txt").write_text("0-0 1-1 2-2\n1-1\n")
    apart = ("OTALIGN", "COLUMNS")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(apart)}

    def run(*arguments: str, stdin: str = "", rc: int = 0, **more) -> subprocess.CompletedProcess:
        done = command_server.run(
            [sys.executable, "-m", "otalign", "show", *arguments],
            **{"cwd": tmp_path, "env": environment, "text": True, "input": stdin} | more,
        )
        assert done.returncode == rc, done.stderr
        return done

    return run


def test_what_align_wrote_is_drawn_from_a_file_or_a_pipe(run):
    assert run("out.jsonl.gz").stdout == LEGEND + "".join(DRAWN)
    lines = "".join(json.dumps(alignment.to_dict()) + "\n" for alignment in PREDICTED)
    assert run("-", stdin=lines).stdout == LEGEND + "".join(DRAWN)
    assert run("out.jsonl.gz", "--pair", "2").stdout == LEGEND + DRAWN[1]


def test_a_matrix_is_drawn_on_request(run):
    assert run("out.jsonl.gz", "--matrix", "--pair", "2").stdout.split("\n") == [
        "██ strong link   ░░ weak link   ∅ no counterpart",
        f"── 2 {'─' * 75}",
        "        ┌ ships ∅",
        "        │ ┌ sail",
        "boats ∅ · ·",
        " sail   · ██",
        "",
    ]


def test_a_terminal_has_colours(run):
    screen, terminal = pty.openpty()
    environment = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "COLUMNS": "80", "NO_PAGER": "1"}
    run("out.jsonl.gz", env=environment, stdout=terminal)
    os.close(terminal)
    assert b"\x1b[38;5;166m" in os.read(screen, 4096)  # nulls
    os.close(screen)


@pytest.mark.parametrize(
    ("arguments", "variables", "paged"),
    [
        ((), {"PAGER": "tr a-z A-Z"}, True),
        ((), {"PAGER": "cat", "OTALIGN_PAGER": "tr a-z A-Z"}, True),
        (("--no-pager",), {"PAGER": "tr a-z A-Z"}, False),
        ((), {"PAGER": "tr a-z A-Z", "NO_PAGER": "1"}, False),
        ((), {"PAGER": "no-such-pager"}, False),
        ((), {"PAGER": ""}, False),
    ],
)
def test_a_terminal_has_the_pager_that_is_asked_for(run, arguments, variables, paged):
    screen, terminal = pty.openpty()
    environment = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "COLUMNS": "80", **variables}
    run("out.jsonl.gz", *arguments, env=environment, stdout=terminal)
    os.close(terminal)
    drawn = b""
    with suppress(OSError):  # at the end; a single read may return the first lines only
        while part := os.read(screen, 4096):
            drawn += part
    os.close(screen)
    assert (b"YESTERDAY" in drawn, b"yesterday" in drawn) == (paged, not paged)


def test_output_that_is_no_terminal_has_no_pager(run):
    environment = {"PATH": os.environ["PATH"], "PAGER": "tr a-z A-Z"}
    assert "yesterday" in run("out.jsonl.gz", env=environment).stdout


def test_gold_alone_is_drawn_at_its_level(run):
    sure, possible = (
        run("gold.tsv", "--pair", "1", "--level", level).stdout for level in ("sure", "possible")
    )
    assert sure.count("∅") - LEGEND.count("∅") == 3
    assert possible.count("∅") - LEGEND.count("∅") == 1


def test_beside_gold_scores_and_mistakes_are_shown(run):
    for arguments in (("links.txt",), ("out.jsonl.gz",), ("out.jsonl.gz", "--from", "jsonl")):
        said = run(*arguments, "--gold", "gold.tsv").stdout.splitlines()
        assert said[1].rstrip("─") == "── 1 · F1 66.7: 3 right, 1 wrong, 2 missed "
        assert said[5:7] == ["wrong: “cars” – “cars”", "missed: “cars” ∅, “cars” ∅"]
    assert (
        "── 1 · F1 100.0: 4 right, 0 wrong, 0 missed ──"
        in run("links.txt", "--gold", "gold.tsv", "--level", "possible").stdout
    )
    run("links.txt", "--gold", "out.jsonl.gz", "--gold-format", "jsonl")


def test_a_page_is_written(run, tmp_path):
    def read() -> str:
        return (tmp_path / "page.html").read_text(encoding="utf-8")

    name = "out.jsonl.gz"
    assert run(name, "--html", "page.html").stdout == ""
    assert read() == report({name: PREDICTED}, title=name)
    run(name, "--gold", "gold.tsv", "--level", "possible", "--html", "page.html")
    assert read() == report({name: PREDICTED}, GOLD, "possible", title=f"{name} beside gold.tsv")


def test_a_page_compares_systems_of_any_formats_by_their_names(run, tmp_path):
    other = [Alignment(one.source, one.target, tuple(one.pairs)) for one in PREDICTED]
    (tmp_path / "a=b.txt").write_text("0-0 1-1 2-2\n1-1\n")
    run("mine=out.jsonl.gz", "links.txt", "a=b.txt", "--gold", "gold.tsv", "--html", "page.html")
    systems = {"mine": PREDICTED, "links.txt": other, "a=b.txt": other}
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == report(
        systems, GOLD, title="mine, links.txt, a=b.txt beside gold.tsv"
    )


def test_a_picture_of_a_pair_is_written(run, tmp_path):
    run("out.jsonl.gz", "--picture", "one.svg")
    assert "purchased" in (tmp_path / "one.svg").read_text(encoding="utf-8")
    run("out.jsonl.gz", "--picture", "two.svg", "--pair", "2")
    assert "ships" in (tmp_path / "two.svg").read_text(encoding="utf-8")
    pytest.importorskip("matplotlib")
    run("out.jsonl.gz", "--picture", "two.pdf", "--kind", "matrix", "--pair", "2")
    assert (tmp_path / "two.pdf").read_bytes().startswith(b"%PDF")


DOCUMENT = (ROOT / "docs" / "show.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```\n\$ otalign show (.*?)\n(.*?)^```", DOCUMENT, re.M | re.S)


@pytest.mark.parametrize(("arguments", "printed"), EXAMPLES)
def test_the_document_says_what_is_printed(run, arguments, printed):
    assert run(*arguments.split(), cwd=ROOT).stdout == printed + "\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.tsv",), "there is no file or corpus none.tsv"),
        (("out.jsonl.gz", "--pair", "3"), "--pair must be one of the pairs of out.jsonl.gz, counted from 1"),
        (("links.txt", "--from", "pharaoh"), "links.txt has links without words (pharaoh); give --gold"),
        (("texts.tsv", "--from", "tsv"), "texts.tsv holds sentences without links; align them first"),
        (("out.jsonl.gz", "--picture", "x.gif"), "a picture's name must end in .svg, .png, .pdf, got x.gif"),
        (("out.jsonl.gz", "--picture", "x.svg", "--kind", "pie"), "--kind must be one of arcs, matrix"),
        (("out.jsonl.gz", "--kind", "matrix"), "--kind applies only to --picture; remove it or"),
        (("out.jsonl.gz", "--matrix", "--html", "x.html"), "--matrix is drawn on the terminal"),
        (("out.jsonl.gz", "--pair", "1", "--html", "x.html"), "--html has all pairs; remove --pair"),
        (("out.jsonl.gz", "--picture", "x.svg", "--html", "x.html"), "give one of them"),
        (("out.jsonl.gz", "--html", "no/x.html"), "cannot write no/x.html: there is no folder no; make it"),
        (("out.jsonl.gz", "--picture", "no/x.svg"), "cannot write no/x.svg: there is no folder no; make it"),
        (("out.jsonl.gz", "--html", "out.jsonl.gz"), "out.jsonl.gz is an input too; write to another file"),
        (("out.jsonl.gz", "a=out.jsonl.gz"), "several systems are compared in a page; add --html FILE"),
        (("a=out.jsonl.gz", "a=links.txt", "--html", "x.html"), "two systems have the name a; give them as"),
        (("=out.jsonl.gz", "--html", "x.html"), "a system must be given as FILE or NAME=FILE, got =out"),
        (
            ("out.jsonl.gz", "o=other.jsonl", "--html", "x.html"),
            "pair 1 has other words in out.jsonl.gz than",
        ),
        (("out.jsonl.gz", "--level", "p"), "--level must be one of sure, possible, got"),
        (("mtref",), "no data folder is given; pass --data or set OTALIGN_DATA"),
        (("other.jsonl", "--gold", "gold.tsv"), "pair 0, counted from 0"),
    ],
)
def test_what_cannot_be_shown_is_a_clear_error(run, tmp_path, arguments, message):
    (tmp_path / "texts.tsv").write_text("a b\tc d\n")
    write([Alignment(("x",), ("y",), ()), PREDICTED[1]], tmp_path / "other.jsonl", "jsonl")
    done = run(*arguments, rc=2)
    assert done.stderr.startswith("otalign: ")
    assert message in done.stderr
    assert not (tmp_path / "x.html").exists()


def test_phrases_are_listed_below_mistakes_and_on_the_terminal_only(run, tmp_path):
    write([PHRASE], tmp_path / "phrase.jsonl", "jsonl")
    write([Gold(PHRASE.source, PHRASE.target, {(0, 0)})], tmp_path / "one.tsv", "multimwa")
    listed = "phrases: “passed away” – “died” (n-1, 0.85)\n"
    assert run("phrase.jsonl", "--phrases").stdout.endswith(f"\n{listed}")
    beside = run("phrase.jsonl", "--phrases", "--gold", "one.tsv").stdout
    assert beside.endswith(f"wrong: “away” – “died”\nmissed: “away” ∅\n{listed}")
    for output in ("--html", "--picture"):
        error = run("phrase.jsonl", "--phrases", output, "out.svg", rc=2).stderr
        assert error.startswith("otalign: --phrases lists phrases on the terminal; remove it")
