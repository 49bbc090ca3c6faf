"""Output on the terminal that commands share: tables, notes on bad lines, progress bars, interrupts."""

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars

from otalign.io import Reading
from otalign.languages import LanguageWarning
from otalign.progress import Progress, no_progress

Item = TypeVar("Item")

WIDEST = 160  # characters of our widest table; in less, its lines wrap, which beats folded cells


def make_console() -> Console:
    """Return a console that never folds the cells of a table."""
    plain = Console(highlight=False, soft_wrap=True)
    return plain if plain.width >= WIDEST else Console(highlight=False, soft_wrap=True, width=WIDEST)


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


def report_bad_lines(reading: Reading) -> None:
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
def resumable(how: str = "the same command goes on") -> Iterator[None]:
    """Let an interrupt end work that can be resumed, with a message about how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        print(f"otalign: interrupted; {how}", file=sys.stderr)
        raise typer.Exit(130) from None


def with_progress(items: Iterable[Item], total: int | None) -> Iterator[Item]:
    """Yield the items, and show a progress bar on the error stream."""
    with Bars(
        BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=Console(stderr=True), transient=True
    ) as progress:
        yield from progress.track(items, total=total)


@contextmanager
def bars() -> Iterator[Progress]:
    """Show a bar for each kind of work that reports progress, on the error stream if it is a terminal."""
    if not sys.stderr.isatty():
        yield no_progress
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    columns = (*columns, TimeElapsedColumn(), TimeRemainingColumn())
    shown = Bars(*columns, console=Console(stderr=True), transient=True)
    tasks: dict[str, TaskID] = {}

    def report(what: str, done: int, of: int | None) -> None:
        if not tasks:
            shown.start()
        if what not in tasks:
            tasks[what] = shown.add_task(what)
        shown.update(tasks[what], completed=done, total=of)

    try:
        yield report
    finally:
        if tasks:
            shown.stop()
