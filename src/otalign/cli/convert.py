"""`otalign convert`: from one format of links to another."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from otalign.alignment import Level
from otalign.cli.options import (
    INPUT,
    OUTPUT,
    FormatName,
    WordsFiles,
    WordsFormat,
    describe_formats,
    with_limits,
)
from otalign.cli.output import check_output
from otalign.cli.terminal import report_bad_lines
from otalign.gold import Gold
from otalign.io import FORMATS, Item, ReaderLimits, read, write


@with_limits
def convert(
    limits: ReaderLimits,
    files: Annotated[
        list[Path], typer.Argument(metavar="IN... OUT...", help="Files to read, then files to write.")
    ],
    source_format: Annotated[
        FormatName,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help=f"Format of the files to read: {describe_formats(FORMATS)}.",
            rich_help_panel=INPUT,
        ),
    ],
    target_format: Annotated[
        FormatName,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help="Format of the files to write, one of the same.",
            rich_help_panel=OUTPUT,
        ),
    ],
    level: Annotated[
        Level | None,
        typer.Option(
            help="Gold links to write: sure ones, or all possible ones.",
            show_default="both, with their level",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    words: WordsFiles = None,
    words_format: WordsFormat = "parallel",
    skip_bad: Annotated[
        bool,
        typer.Option(
            "--skip-bad", help="Leave out bad lines, and report their number.", rich_help_panel=INPUT
        ),
    ] = False,
) -> None:
    """Convert links from one file format to another.

    Files that end in .gz or .zst are unpacked and packed. A bad line stops the work, and nothing is written.

    Examples:
        otalign convert gold.tsv --from multimwa links.txt --to pharaoh
        otalign convert source.txt target.txt --from parallel pairs.tsv --to tsv
    """
    written = len(FORMATS[target_format].write)
    sources, targets = files[:-written], files[-written:]
    if not sources:
        raise ValueError(f"give a file to read and {written} to write, got {', '.join(map(str, files))}")
    for target in targets:
        if not target.parent.is_dir():
            raise ValueError(f"cannot write {target}: there is no folder {target.parent}; make it first")
        check_output(target, list(map(str, (*sources, *(words or ())))))
    beside = read(words, words_format, limits=limits) if words else None
    reading = read(sources, source_format, words=beside, skip_bad=skip_bad, limits=limits)
    count = write(_select_level(reading, level), targets, target_format)
    print(f"{count:,} pairs written to {', '.join(map(str, targets))}", file=sys.stderr)
    report_bad_lines(reading)


def _select_level(items: Iterable[Item], level: Level | None) -> Iterator[Item]:
    for item in items:
        yield item.alignment(level) if level and isinstance(item, Gold) else item
