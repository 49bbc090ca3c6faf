"""`otalign show`: drawings of alignments, on the terminal, as a page, or as a picture for a paper."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.console import Console

from otalign.alignment import Alignment, Level
from otalign.cli.gold import read_golds
from otalign.cli.options import (
    FORMAT_HELP,
    INPUT,
    OUTPUT,
    DataFolder,
    FormatName,
    FormerFormat,
    GoldFormat,
    GoldLevel,
    Matrix,
    Split,
    with_limits,
)
from otalign.cli.output import check_output, open_output
from otalign.cli.predictions import read_alignments, read_predictions
from otalign.gold import Gold
from otalign.io import CORPORA, ReaderLimits
from otalign.io.lines import STDIN
from otalign.metrics import count, per_pair
from otalign.render.matrix import matrix as grid
from otalign.render.picture import Kind, check_picture, write_picture
from otalign.render.report import report
from otalign.render.terminal import LINK_STYLE, draw
from otalign.render.verdicts import at_level, count_verdicts, mistakes, verdicts

Golds = Sequence[Gold | Alignment]
T = TypeVar("T")


@with_limits
def show(
    limits: ReaderLimits,
    name: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help=f"File of alignments, - for standard input, or one of {', '.join(CORPORA)}."
        ),
    ],
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="HTML page to write, with all pairs in one file.", rich_help_panel=OUTPUT
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Picture of one pair to write, a .svg, .png or .pdf file.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    kind: Annotated[
        Kind, typer.Option(help="Kind of picture: arcs between words, or a matrix.", rich_help_panel=OUTPUT)
    ] = "arcs",
    pair: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Number of the pair to show, counted from 1.",
            show_default="all; the first for a picture",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    matrix: Matrix = False,
    gold: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|CORPUS", help="Gold to compare the alignments with.", rich_help_panel=INPUT
        ),
    ] = None,
    level: GoldLevel = "sure",
    format: Annotated[
        FormatName | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help="Format of the file. " + FORMAT_HELP,
            show_default="jsonl by its name or from a pipe, pharaoh with --gold, else multimwa",
            rich_help_panel=INPUT,
        ),
    ] = None,
    former_format: FormerFormat = None,
    gold_format: GoldFormat = "multimwa",
    split: Split = "test",
    data: DataFolder = None,
) -> None:
    """Draw alignments on the terminal, as a page or as a picture.

    With --gold, the drawing shows which links and nulls are right, wrong or missed, and the F1 of each pair,
    as otalign evaluate computes it.

    Examples:
        otalign show links.jsonl --pair 3
        otalign align pairs.tsv --format jsonl | otalign show - --html report.html
        otalign show links.txt --gold gold.tsv --level possible
        otalign show links.jsonl --picture figure.pdf --kind matrix
    """
    _check_options(html, picture, kind, pair, matrix)
    form = format or former_format or _guess_format(name, gold)
    golds = read_golds(gold, gold_format, split, data, limits) if gold else None
    alignments = (
        read_predictions(name, form, golds, limits)
        if golds
        else read_alignments(name, form, level, split, data, limits)
    )
    inputs = [given for given in (name, gold) if given]
    if html:
        with open_output(html, inputs) as out:
            out.write(report(alignments, golds, level, title=_make_title(name, split, gold)).encode())
    elif picture:
        check_output(picture, inputs)
        write_picture(_find_pair(alignments, pair or 1, name), picture, kind)
    else:
        _draw(alignments, golds, level, pair, matrix, name)


def _check_options(
    html: Path | None, picture: Path | None, kind: Kind, pair: int | None, matrix: bool
) -> None:
    if html and picture:
        raise ValueError("--html and --picture are two outputs; give one of them")
    if html and pair:
        raise ValueError("--html has all pairs; remove --pair and choose in the page")
    if matrix and (html or picture):
        raise ValueError("--matrix is drawn on the terminal; for a picture, use --kind matrix")
    if picture:
        check_picture(picture, kind)
    elif kind != "arcs":
        raise ValueError("--kind applies only to --picture; remove it or give --picture")


def _guess_format(name: str, gold: str | None) -> str:
    """Return the format that `otalign align` writes or that `otalign evaluate` expects."""
    if name == STDIN or {".jsonl", ".json"} & set(Path(name).suffixes):
        return "jsonl"
    return "pharaoh" if gold else "multimwa"


def _make_title(name: str, split: str, gold: str | None) -> str:
    def describe(one: str) -> str:
        return f"{one}, {split}" if one in CORPORA else "standard input" if one == STDIN else Path(one).name

    return f"{describe(name)} beside {describe(gold)}" if gold else describe(name)


def _draw(
    alignments: Iterable[Alignment],
    golds: Golds | None,
    level: Level,
    pair: int | None,
    matrix: bool,
    name: str,
) -> None:
    screen = Console(highlight=False)
    lines = _compare(list(alignments), golds, level) if golds else ((one, "", "") for one in alignments)
    numbered = enumerate(lines, 1)
    if pair:
        numbered = [(pair, _find_pair(lines, pair, name))]
    for number, (alignment, score, wrong) in numbered:
        screen.print(f"pair {number}{score}", style=LINK_STYLE)
        screen.print((grid if matrix else draw)(alignment))
        if wrong:
            screen.print(wrong, markup=False)
        screen.print()


def _compare(
    alignments: Sequence[Alignment], golds: Golds, level: Level
) -> Iterator[tuple[Alignment, str, str]]:
    """Yield each alignment with its score and its mistakes."""
    counts = count(alignments, golds, level)
    rows = zip(alignments, golds, per_pair(counts)["f1"], count_verdicts(counts), strict=True)
    for alignment, gold, f1, tally in rows:
        numbers = ", ".join(f"{number} {verdict}" for verdict, number in tally.items())
        judged = verdicts(alignment, at_level(gold, level))
        yield alignment, f"   F1 {100 * f1:.1f}   {numbers}", mistakes(alignment, judged)


def _find_pair(items: Iterable[T], number: int, name: str) -> T:
    for item in islice(items, number - 1, None):
        return item
    raise ValueError(f"--pair must be one of the pairs of {name}, counted from 1, got {number}")
