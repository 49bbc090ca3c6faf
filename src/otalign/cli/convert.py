"""`otalign convert`: from one format of links to another."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from otalign.alignment import Gold, Level
from otalign.cli.inputs import with_limits
from otalign.cli.output import check_output
from otalign.cli.terminal import say_what_was_met
from otalign.io import FORMATS, Item, ReaderLimits, read, write

FORMAT_HELP = "One of " + ", ".join(FORMATS) + "."


@with_limits
def convert(
    limits: ReaderLimits,
    files: Annotated[
        list[Path], typer.Argument(metavar="IN... OUT...", help="Files to read, then files to write.")
    ],
    source_format: Annotated[str, typer.Option("--from", metavar="FORMAT", help=FORMAT_HELP)],
    target_format: Annotated[str, typer.Option("--to", metavar="FORMAT", help="Likewise.")],
    level: Annotated[
        str | None,
        typer.Option(metavar="sure|possible", help="Write only these links of gold."),
    ] = None,
    words: Annotated[
        list[Path] | None,
        typer.Option(help="Where the words are, if IN has links alone; twice for two."),
    ] = None,
    words_format: Annotated[
        str, typer.Option("--words-from", metavar="FORMAT", help="Of the words.")
    ] = "parallel",
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave bad lines out and count them.")] = False,
) -> None:
    """Convert links from one format to another.

    Names that end in .gz or .zst are unpacked and packed. A bad line stops the work and nothing is written.

    Example: otalign convert gold.tsv --from multimwa links.txt --to pharaoh
    """
    written = len(FORMATS[target_format].write) if target_format in FORMATS else 1
    sources, targets = files[:-written], files[-written:]
    if not sources:
        raise ValueError(f"give a file to read and {written} to write, got {', '.join(map(str, files))}")
    for target in targets:
        if not target.parent.is_dir():
            raise ValueError(f"cannot write {target}: there is no folder {target.parent}; make it first")
        check_output(target, list(map(str, (*sources, *(words or ())))))
    beside = read(words, words_format, limits=limits) if words else None
    reading = read(sources, source_format, words=beside, skip_bad=skip_bad, limits=limits)
    count = write(_at_level(reading, level), targets, target_format)
    print(f"{count:,} pairs written to {', '.join(map(str, targets))}", file=sys.stderr)
    say_what_was_met(reading)


def _at_level(items: Iterable[Item], level: str | None) -> Iterator[Item]:
    for item in items:
        yield item.alignment(as_level(level)) if level and isinstance(item, Gold) else item


def as_level(level: str) -> Level:
    if level != "sure" and level != "possible":
        raise ValueError(f"--level must be sure or possible (formerly s and s+p), got {level!r}")
    return level
