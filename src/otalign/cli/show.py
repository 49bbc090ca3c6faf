"""`otalign show`: alignments to look at, in the terminal, as a page, or as a picture for a paper."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, get_args

import typer
from rich.console import Console

from otalign.alignment import Alignment, Gold, Level
from otalign.cli.convert import FORMAT_HELP, as_level
from otalign.cli.corpus import DataFolder, Split
from otalign.cli.evaluate import GoldFormat, GoldLevel
from otalign.cli.inputs import with_limits
from otalign.cli.output import check_output, open_output
from otalign.cli.predictions import read_alignments, read_golds, read_predictions
from otalign.io import CORPORA, ReaderLimits
from otalign.io.lines import STDIN
from otalign.metrics import count, per_pair
from otalign.render.matrix import matrix as grid
from otalign.render.picture import Kind, check_picture, write_picture
from otalign.render.report import report
from otalign.render.terminal import LINK_STYLE, draw
from otalign.render.verdicts import at_level, count_verdicts, mistakes, verdicts

Golds = Sequence[Gold | Alignment]


@with_limits
def show(
    limits: ReaderLimits,
    name: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help=f"Alignments: a file, - for standard input, or {', '.join(CORPORA)}."
        ),
    ],
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page of all pairs, a single file.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write one pair as .svg, .png or .pdf.")
    ] = None,
    kind: Annotated[str, typer.Option(metavar="|".join(get_args(Kind)), help="Of the picture.")] = "arcs",
    pair: Annotated[
        int | None, typer.Option(min=1, help="Only this one, counted from 1; else all, or the first.")
    ] = None,
    matrix: Annotated[bool, typer.Option("--matrix", help="Draw a grid of all word pairs instead.")] = False,
    gold: Annotated[
        str | None, typer.Option(metavar="FILE|CORPUS", help="What is right, to be shown beside.")
    ] = None,
    level: GoldLevel = "sure",
    format: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help=FORMAT_HELP + " Else jsonl by its name or from a pipe, pharaoh with --gold, or multimwa.",
        ),
    ] = None,
    gold_format: GoldFormat = "multimwa",
    split: Split = "test",
    data: DataFolder = None,
) -> None:
    """Show alignments: drawn in the terminal, or written as a page or a picture.

    With gold beside them, it is shown which links and nulls are right, wrong and missed, and the F1 of each
    pair as otalign evaluate has it.

    Example: otalign align pairs.tsv --format jsonl | otalign show - --html report.html
    """
    _check(html, picture, kind, pair, matrix)
    chosen, form = as_level(level), format or _guess_format(name, gold)
    golds = read_golds(gold, gold_format, split, data, limits) if gold else None
    alignments = (
        read_predictions(name, form, golds, limits)
        if golds
        else read_alignments(name, form, chosen, split, data, limits)
    )
    inputs = [place for place in (name, gold) if place]
    if html:
        with open_output(html, inputs) as out:
            out.write(report(alignments, golds, chosen, title=_title(name, split, gold)).encode())
    elif picture:
        check_output(picture, inputs)
        write_picture(_nth(alignments, pair or 1, name), picture, kind)  # pyright: ignore[reportArgumentType]
    else:
        _draw(alignments, golds, chosen, pair, matrix, name)


def _check(html: Path | None, picture: Path | None, kind: str, pair: int | None, matrix: bool) -> None:
    if html and picture:
        raise ValueError("--html and --picture are two things; give one of them")
    if html and pair:
        raise ValueError("--html has all pairs; leave out --pair and choose in the page")
    if matrix and (html or picture):
        raise ValueError("--matrix is for the terminal; for a picture of one say --kind matrix")
    if picture:
        check_picture(picture, kind)
    elif kind != "arcs":
        raise ValueError("--kind is for a picture; give --picture too")


def _guess_format(name: str, gold: str | None) -> str:
    """The formats that `otalign align` writes and that `otalign evaluate` expects."""
    if name == STDIN or {".jsonl", ".json"} & set(Path(name).suffixes):
        return "jsonl"
    return "pharaoh" if gold else "multimwa"


def _title(name: str, split: str, gold: str | None) -> str:
    def told(one: str) -> str:
        return f"{one}, {split}" if one in CORPORA else "standard input" if one == STDIN else Path(one).name

    return f"{told(name)} beside {told(gold)}" if gold else told(name)


def _draw(
    alignments: Iterable[Alignment],
    golds: Golds | None,
    level: Level,
    pair: int | None,
    matrix: bool,
    name: str,
) -> None:
    screen = Console(highlight=False)
    lines = _lines(list(alignments), golds, level) if golds else ((one, "", "") for one in alignments)
    numbered = enumerate(lines, 1)
    if pair:
        numbered = [(pair, _nth(lines, pair, name))]
    for number, (alignment, score, wrong) in numbered:
        screen.print(f"pair {number}{score}", style=LINK_STYLE)
        screen.print((grid if matrix else draw)(alignment))
        if wrong:
            screen.print(wrong, markup=False)
        screen.print()


def _lines(
    alignments: Sequence[Alignment], golds: Golds, level: Level
) -> Iterator[tuple[Alignment, str, str]]:
    """Each alignment, its score, and what is wrong with it."""
    counts = count(alignments, golds, level)
    rows = zip(alignments, golds, per_pair(counts)["f1"], count_verdicts(counts), strict=True)
    for alignment, gold, f1, tally in rows:
        numbers = ", ".join(f"{number} {verdict}" for verdict, number in tally.items())
        judged = verdicts(alignment, at_level(gold, level))
        yield alignment, f"   F1 {100 * f1:.1f}   {numbers}", mistakes(alignment, judged)


def _nth(items: Iterable, number: int, name: str):
    for item in islice(items, number - 1, None):
        return item
    raise ValueError(f"--pair must be one of the pairs of {name}, counted from 1, got {number}")
