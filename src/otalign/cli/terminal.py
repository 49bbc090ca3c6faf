"""Output on the terminal that commands share: tables, a pager, notes, progress bars, interrupts."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import typer

from otalign.failures import LanguageWarning
from otalign.progress import Progress, no_progress

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TaskID

    from otalign.io import Reading
    from otalign.io.parquet import Rows

Item = TypeVar("Item")

DELAY = 1.0  # seconds of work before its bar appears
LESS = (
    "FRX"  # options of less, as git sets them: quit if all fits, show colours, leave the text on the screen
)
WIDEST = 160  # characters of our widest table; in less, its lines wrap, which beats folded cells


@contextmanager
def open_pager(wanted: bool = True, *, tables: bool = False) -> "Iterator[Console]":
    """Send output to a pager if it goes to a terminal, as git does.

    The pager is that of the variable OTALIGN_PAGER, else of PAGER, else less; `cat` or nothing stands for
    none, and so does NO_PAGER. less quits by itself if everything fits on the screen.

    Args:
        wanted: Whether there may be a pager.
        tables: Whether tables are printed, whose cells are never folded: a long line goes on below.

    Yields:
        The console to print to.
    """
    command = shlex.split(_find_pager()) if wanted and sys.stdout.isatty() else []
    if not command or not shutil.which(command[0]):
        yield _make_console(tables)
        return
    sys.stdout.flush()
    environment = {"LESS": LESS, "LESSCHARSET": "utf-8", "LV": "-c", **os.environ}
    pager = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, text=True, encoding="utf-8")
    assert pager.stdin is not None
    try:
        width = shutil.get_terminal_size().columns
        with suppress(BrokenPipeError):  # the user has left the pager before the end
            yield _make_console(tables, file=pager.stdin, force_terminal=True, width=width)
    finally:
        _wait_for_pager(pager, pager.stdin)


def _make_console(tables: bool, **options: Any) -> "Console":
    from rich.console import Console

    class PipedConsole(Console):
        """A console that raises BrokenPipeError, where that of Rich ends the program with status 1."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    console = PipedConsole(highlight=False, soft_wrap=tables, **options)
    if tables:
        console.width = max(console.width, WIDEST)
    return console


def wrap(text: str, indent: str = "") -> str:
    """Return a line, on a terminal wrapped between words, with an indent for the lines after the first."""
    if not sys.stdout.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return textwrap.fill(
        text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _find_pager() -> str:
    if os.environ.get("NO_PAGER") or os.environ.get("TERM") == "dumb":
        return ""
    pager = os.environ.get("OTALIGN_PAGER", os.environ.get("PAGER", "less"))
    return "" if pager.strip() == "cat" else pager


def _wait_for_pager(pager: subprocess.Popen[str], stream: IO[str]) -> None:
    """Wait until the user has left the pager; an interrupt is for the pager alone."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with suppress(BrokenPipeError):
            stream.close()
        pager.wait()
    finally:
        signal.signal(signal.SIGINT, before)


def show_language_warnings() -> None:
    """Print the first warning about the language of a text as one line, unless OTALIGN_NO_WARNINGS is set."""
    warnings.simplefilter("ignore" if "OTALIGN_NO_WARNINGS" in os.environ else "once", LanguageWarning)
    show_other = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *details: Any, **options: Any) -> None:
        if issubclass(category, LanguageWarning):
            print(f"otalign: {message}", file=sys.stderr)
        else:
            show_other(message, category, *details, **options)

    warnings.showwarning = show


def report_bad_lines(reading: "Reading | Rows") -> None:
    """Print on the error stream how many lines were left out, and how many gave a link twice."""
    for tally, what in ((reading.skipped, "bad, left out"), (reading.merged, "with a link given twice")):
        if tally.count:
            print(f"{tally.count:,} {what}; the first: {tally.first}", file=sys.stderr)


def print_written_files(tables: Iterable[Path], figures: Callable[[], Iterable[Path]]) -> None:
    """Print the files of a study. Without the library for figures, only tables are written."""
    for path in tables:
        print(path)
    try:
        for path in figures():
            print(path)
    except ImportError as error:
        print(f"no figures: {error}", file=sys.stderr)


@contextmanager
def resumable(how: str = "the same command continues") -> Iterator[None]:
    """Let an interrupt end work that can be resumed, with a message about how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        print(f"otalign: interrupted; {how}", file=sys.stderr)
        raise typer.Exit(130) from None


def with_progress(items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:
    """Yield the items, and show a progress bar, on the error stream if it is a terminal.

    Args:
        items: The items.
        what: What is done with them.
        total: Their number, if it is known.
    """
    with show_bars() as progress:
        for number, item in enumerate(items):
            progress(what, number, total)
            yield item


@contextmanager
def show_activity(what: str) -> Iterator[None]:
    """Show a bar while work goes on that reports no progress.

    Args:
        what: What is done.
    """
    with show_bars() as progress:
        progress(what, 0, None)
        yield


@contextmanager
def show_bars() -> Iterator[Progress]:
    """Show a bar for each kind of work that reports progress, on the error stream if it is a terminal.

    Work of less than a second shows none.
    """
    if not sys.stderr.isatty():
        yield no_progress
        return
    from otalign.cli.progress_bars import make_bars

    shown = make_bars()
    tasks: dict[str, TaskID] = {}
    later = threading.Timer(DELAY, shown.start)
    later.daemon = True

    def report(what: str, done: int, of: int | None) -> None:
        if not tasks:
            later.start()
        if what not in tasks:
            tasks[what] = shown.add_task(what, total=of)
        shown.update(tasks[what], completed=done, total=of)

    try:
        yield report
    finally:
        later.cancel()
        if tasks:
            later.join()
            shown.stop()
