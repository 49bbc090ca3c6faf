"""Bars appear on a terminal once work takes a while, and only then; long output goes to a pager."""

import os
import pty
import re
import sys
import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from otalign.cli import terminal
from otalign.cli.epochs import EpochLog
from otalign.cli.gold import read_golds
from otalign.cli.terminal import show_activity, with_progress
from otalign.diff import difference
from otalign.gold import Gold
from otalign.io import CORPORA, write
from otalign.io.limits import DEFAULT_LIMITS
from tests.diff.toy_aligner import make_toy_aligner


@pytest.fixture
def show(monkeypatch):
    """Return a function that does work while the error stream is a terminal, and returns what is shown."""

    def show(work: Callable[[], object], delay: float = 0.0) -> str:
        screen, device = pty.openpty()
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.setattr(terminal, "DELAY", delay)
        with open(device, "w", encoding="utf-8") as stream, monkeypatch.context() as patch:
            patch.setattr(sys, "stderr", stream)
            work()
            stream.write("end")
        return read_screen(screen)

    return show


def read_screen(screen: int) -> str:
    """Read all that was written to a terminal whose device is closed; a single read may return a part."""
    parts = []
    with open(screen, "rb", buffering=0) as stream, suppress(OSError):  # reading ends with an error
        while part := stream.read(1 << 16):
            parts.append(part)
    return b"".join(parts).decode()


def count_slowly(seconds: float) -> None:
    for _ in with_progress(range(5), "aligning", 5):
        time.sleep(seconds)


def test_a_bar_counts_what_is_done_after_a_while(show):
    shown = show(lambda: count_slowly(0.1))
    assert "aligning" in shown
    assert re.search("[1-4]/5", shown)  # which of them are drawn depends on the load of the machine


def test_work_that_counts_nothing_shows_a_bar_too(show):
    def work() -> None:
        with show_activity("exporting"):
            time.sleep(0.3)

    shown = show(work)
    assert "exporting" in shown
    assert "/?" not in shown


def test_reading_the_gold_shows_a_bar(show, tmp_path):
    (tmp_path / "gold.tsv").write_text("a b\tc d\t0-0\n" * 20_000)

    def work() -> None:
        assert len(read_golds(str(tmp_path / "gold.tsv"), None, "test", None, DEFAULT_LIMITS)) == 20_000

    assert "reading the gold" in show(work)


def test_training_shows_a_bar_before_its_first_epoch(show, tmp_path):
    from otalign.training import RunOptions

    def work() -> None:
        with EpochLog(tmp_path).open("run", "", RunOptions()) as options:
            time.sleep(0.3)
            options.progress("epoch 1", 1, 2)

    assert "preparing" in show(work)


def test_short_work_shows_no_bar(show):
    assert show(lambda: count_slowly(0), delay=60) == "end"


@pytest.mark.parametrize(
    ("arguments", "rc", "shown"),
    [
        (("diff", "It rained today.", "It snowed today."), 1, "snowed"),
        (("evaluate", "links.txt", "gold.tsv"), 0, "recall"),
        (("models",), 0, "layer"),
        (("models", "small"), 0, "licence"),
        (("corpus", "stats", "newsela", "--data", "."), 0, "longest"),
    ],
)
def test_long_output_of_every_command_goes_to_the_pager(
    command, command_server, tmp_path, arguments, rc, shown
):
    (tmp_path / "links.txt").write_text("0-0\n")
    (tmp_path / "gold.tsv").write_text("a b\tc d\t0-0\n")
    newsela = tmp_path / CORPORA["newsela"].files["test"][0]
    newsela.parent.mkdir(parents=True)
    write([Gold(("a", "b"), ("c", "d"), frozenset({(0, 0)}))], newsela, "multimwa")
    for more in ((), ("--no-pager",)):
        screen, device = pty.openpty()
        asked = command(*arguments, *more)
        asked["env"] |= {"PAGER": "tr a-z A-Z", "TERM": "xterm-256color"}
        assert command_server.run(**asked, stdout=device).returncode == rc
        os.close(device)
        assert (shown.upper() if not more else shown) in read_screen(screen)


def test_a_line_of_prose_breaks_between_words_on_a_terminal_alone(monkeypatch):
    text = 9 * "word-with-hyphens " + "end"
    assert terminal.wrap(text) == text
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    lines = terminal.wrap(text, "  ").splitlines()
    assert all(len(line) <= 40 for line in lines)
    assert all(line.startswith("  word-with-hyphens ") for line in lines[1:-1])


def test_a_difference_reports_its_progress():
    reports = []
    old, new = ("He sings. It rains. We walk home.", "It snows a lot. He danced. They ride.")
    difference(old, new, make_toy_aligner(), progress=lambda *report: reports.append(report))
    assert reports[0][:2] == ("matching sentences", 0)
    assert all(done < of for _, done, of in reports)


def test_a_pager_may_be_left_before_the_end(command, command_server, tmp_path):
    (tmp_path / "many.tsv").write_text("a b c d e f\tc d e f a b\t0-0\n" * 5_000)
    screen, device = pty.openpty()
    asked = command("show", "many.tsv")
    asked["env"] |= {"PAGER": "true", "TERM": "xterm-256color"}
    assert command_server.run(**asked, stdout=device).returncode == 0
    os.close(device)
    os.close(screen)
