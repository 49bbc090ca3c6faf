"""What commands share of the terminal: a console that never folds a table, and notes on what was read."""

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from otalign.corpus import Reading

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


def with_progress(items: Iterable[Item], total: int | None) -> Iterator[Item]:
    """The same items with a bar on the error stream, for a terminal to show."""
    with Progress(
        BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=Console(stderr=True), transient=True
    ) as progress:
        yield from progress.track(items, total=total)
