"""What commands share of the terminal: a console that never folds a table, notes on what was read and
written, bars, and a word when work is interrupted."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

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
from otalign.progress import Progress, no_progress

Item = TypeVar("Item")

WIDEST = 160  # characters of our widest table; in less, its lines wrap, which beats folded cells


def console() -> Console:
    plain = Console(highlight=False, soft_wrap=True)
    return plain if plain.width >= WIDEST else Console(highlight=False, soft_wrap=True, width=WIDEST)


def say_what_was_met(reading: Reading) -> None:
    """Notes on bad and doubled lines, for the error stream."""
    for tally, what in ((reading.skipped, "bad, left out"), (reading.merged, "with a link given twice")):
        if tally.count:
            print(f"{tally.count:,} {what}; the first: {tally.first}", file=sys.stderr)


def say_what_is_written(tables: Iterable[Path], figures: Callable[[], Iterable[Path]]) -> None:
    """The files of a study. Without the library for figures, the tables are no worse."""
    for path in tables:
        print(path)
    try:
        for path in figures():
            print(path)
    except ImportError as error:
        print(f"no figures: {error}", file=sys.stderr)


@contextmanager
def resumable(how: str = "the same command goes on") -> Iterator[None]:
    """Work that an interrupt does not lose; it is said how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        print(f"otalign: interrupted; {how}", file=sys.stderr)
        raise typer.Exit(130) from None


def with_progress(items: Iterable[Item], total: int | None) -> Iterator[Item]:
    """The same items with a bar on the error stream, for a terminal to show."""
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
