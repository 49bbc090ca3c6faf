"""`otalign convert`: from one format of links to another."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from otalign.alignment import Level
from otalign.cli.input import find_format, read_words
from otalign.cli.options import GUESSED, FormatName, WordsFiles, WordsFormat, describe_formats, with_limits
from otalign.cli.output import check_output, choose_by_suffix
from otalign.cli.panels import INPUT, OUTPUT
from otalign.cli.terminal import report_bad_lines, with_progress
from otalign.gold import Gold
from otalign.io import FORMATS, Item, ReaderLimits, read, write
from otalign.io.guessing import AMBIGUOUS, SUFFIXES, get_suffix
from otalign.io.lines import STDIN, name_input
from otalign.quantities import count_noun

STDOUT = Path("/dev/stdout")  # what `-` stands for among the files to write


@with_limits
def convert(
    limits: ReaderLimits,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="IN... OUT...", help="Files to read, then files to write; - is standard input or output."
        ),
    ],
    source_format: Annotated[
        FormatName | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help=f"Format of the files to read: {describe_formats(FORMATS)}, parquet (the same as columns).",
            show_default=GUESSED,
            rich_help_panel=INPUT,
        ),
    ] = None,
    target_format: Annotated[
        FormatName | None,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help="Format of the files to write, one of the same.",
            show_default="that of the suffix",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    level: Annotated[
        Level | None,
        typer.Option(
            help="Gold links to write: sure ones, or all possible ones.",
            show_default="both, with their level",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    words: WordsFiles = None,
    words_format: WordsFormat = None,
    skip_bad: Annotated[
        bool,
        typer.Option(
            "--skip-bad", help="Leave out bad lines, and report their number.", rich_help_panel=INPUT
        ),
    ] = False,
) -> None:
    """Convert links from one file format to another.

    Files may end in .gz or .zst. A bad line stops the work, and nothing is written.

    Examples:
        otalign convert gold.tsv links.txt --to pharaoh
        otalign convert links.parquet links.jsonl
        otalign convert source.txt target.txt --from parallel pairs.tsv --to tsv
    """
    if len(files) < 2:
        raise ValueError(f"give a file to read and one to write, got {files[0]}")
    target_format = _choose_target(files[-1], target_format)
    written = len(FORMATS[target_format].write) if target_format in FORMATS else 1
    sources, targets = files[:-written], [STDOUT if str(file) == STDIN else file for file in files[-written:]]
    if not sources:
        raise ValueError(f"give a file to read and {written} to write, got {', '.join(map(str, files))}")
    for target in targets:
        check_output(target, list(map(str, (*sources, *(words or ())))))
    source_format = source_format or _guess_source(sources)
    beside = read_words(words, words_format, limits)
    reading = read(sources, source_format, words=beside, skip_bad=skip_bad, limits=limits)
    count = write(with_progress(_select_level(reading, level), "converting"), targets, target_format)
    if STDOUT not in targets:
        print(f"{count_noun(count, 'pair')} written to {', '.join(map(str, targets))}", file=sys.stderr)
    report_bad_lines(reading)


def _choose_target(file: Path, given: str | None) -> str:
    """Return the format to write, as given or as the suffix says; some suffixes stand for several."""
    if given is None and get_suffix(file) in AMBIGUOUS:
        choices = " or ".join(SUFFIXES[get_suffix(file)])
        raise ValueError(f"--to must be given for {file}, which could be {choices}")
    chosen = choose_by_suffix(file, given, "--to")
    if chosen is None:
        raise ValueError(f"--to must be given for {file}, whose suffix stands for no format")
    return chosen


def _guess_source(files: list[Path]) -> str:
    formats = {find_format(str(file), None, "") for file in files}
    if formats == {"msr-rte"}:  # a file of each annotator
        return "msr-rte"
    if len(files) == 2:
        return "parallel"
    (format,) = formats if len(formats) == 1 else ("",)
    if not format:
        raise ValueError(
            f"--from must be given: the format of {name_input(files[0])} cannot be told from its content"
        )
    return format


def _select_level(items: Iterable[Item], level: Level | None) -> Iterator[Item]:
    for item in items:
        yield item.alignment(level) if level and isinstance(item, Gold) else item
