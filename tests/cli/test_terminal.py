"""Bars appear on a terminal once work takes a while, and only then."""

import os
import pty
import sys
import time
from collections.abc import Callable

import pytest

from otalign.cli import terminal
from otalign.cli.terminal import show_activity, with_progress


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
            stream.flush()
            shown = os.read(screen, 1 << 16).decode()
        os.close(screen)
        return shown

    return show


def count_slowly(seconds: float) -> None:
    for _ in with_progress(range(5), "aligning", 5):
        time.sleep(seconds)


def test_a_bar_counts_what_is_done_after_a_while(show):
    shown = show(lambda: count_slowly(0.1))
    assert "aligning" in shown
    assert "4/5" in shown


def test_work_that_counts_nothing_shows_a_bar_too(show):
    def work() -> None:
        with show_activity("exporting"):
            time.sleep(0.3)

    shown = show(work)
    assert "exporting" in shown
    assert "/?" not in shown


def test_short_work_shows_no_bar(show):
    assert show(lambda: count_slowly(0), delay=60) == "end"
