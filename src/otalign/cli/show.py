"""`otalign show`: drawings of alignments, on the terminal, as a page, or as a picture for a paper."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from otalign.alignment import Alignment, Level
from otalign.cli.gold import read_golds
from otalign.cli.options import (
    DataFolder,
    FormerFormat,
    GoldFormat,
    GoldLevel,
    LinksFormat,
    Matrix,
    NoPager,
    Split,
    complete_corpus,
    with_limits,
)
from otalign.cli.output import check_output, draw_alignments, open_output
from otalign.cli.panels import INPUT, OUTPUT
from otalign.cli.predictions import read_alignments, read_predictions
from otalign.cli.terminal import open_pager, with_progress
from otalign.gold import Gold
from otalign.io import CORPORA, ReaderLimits
from otalign.io.lines import name_input
from otalign.metrics import count, score_pairs
from otalign.render.phrases import describe_phrases
from otalign.render.picture import Kind, check_picture, write_picture
from otalign.render.report import report
from otalign.render.verdicts import at_level, count_verdicts, mistakes, verdicts

Golds = Sequence[Gold | Alignment]
T = TypeVar("T")


@with_limits
def show(
    limits: ReaderLimits,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]FILE...",
            help=f"File of alignments, - for standard input, or one of {', '.join(CORPORA)}. "
            "Several files for --html, one for each system; NAME is the name of the system.",
            autocompletion=complete_corpus,
        ),
    ],
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="HTML page to write, with all pairs of all systems in one file.",
            rich_help_panel=OUTPUT,
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
    phrases: Annotated[
        bool,
        typer.Option(
            "--phrases",
            help="List the phrases of several words below each drawing, with type and weight.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    gold: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|CORPUS", help="Gold to compare the alignments with.", rich_help_panel=INPUT
        ),
    ] = None,
    level: GoldLevel = "sure",
    format: LinksFormat = None,
    former_format: FormerFormat = None,
    gold_format: GoldFormat = None,
    split: Split = "test",
    data: DataFolder = None,
    no_pager: NoPager = False,
) -> None:
    """Draw alignments on the terminal, as a page or as a picture.

    With --gold, the drawing shows which links and nulls are right, wrong or missed, and the F1 of each pair,
    as otalign evaluate computes it. A page can compare several systems: it begins with the pairs in which
    they differ most.

    Examples:
        otalign show links.jsonl --pair 3
        otalign align pairs.tsv --format jsonl | otalign show - --html report.html
        otalign show links.txt --gold gold.tsv --level possible
        otalign show mine=a.jsonl theirs=b.jsonl --gold gold.tsv --html report.html
        otalign show links.jsonl --picture figure.pdf --kind matrix
    """
    _check_options(html, picture, kind, pair, matrix, phrases)
    systems = _name_systems(files)
    name, *others = systems.values()
    if others and not html:
        raise ValueError(f"several systems are compared in a page; add --html FILE, or give {name} alone")
    golds = read_golds(gold, gold_format, split, data, limits) if gold else None

    def read_system(name: str) -> Iterable[Alignment]:
        form = format or former_format
        if golds:
            return read_predictions(name, form, golds, limits)
        return read_alignments(name, form, level, split, data, limits)

    inputs = [given for given in (*systems.values(), gold) if given]
    if html:
        with open_output(html, inputs) as out:
            found = {
                system: with_progress(read_system(name), f"drawing {system}")
                for system, name in systems.items()
            }
            out.write(report(found, golds, level, title=_make_title(systems, split, gold)).encode())
    elif picture:
        check_output(picture, inputs)
        write_picture(_find_pair(read_system(name), pair or 1, name), picture, kind)
    else:
        rows = _describe_pairs(read_system(name), golds, level, phrases)
        if pair:
            rows = [_find_pair(rows, pair, name)]
        with open_pager(not no_pager) as console:
            draw_alignments(rows, console, matrix=matrix)


def _name_systems(files: Sequence[str]) -> dict[str, str]:
    """Return the file of each system by its name, which is that of the file unless it is given."""
    systems: dict[str, str] = {}
    for given in files:
        name, equals, file = given.partition("=")
        if not equals or Path(given).exists():
            name, file = _describe_file(given), given
        if not name or not file:
            raise ValueError(f"a system must be given as FILE or NAME=FILE, got {given}")
        if name in systems:
            raise ValueError(f"two systems have the name {name}; give them as NAME=FILE with other names")
        systems[name] = file
    return systems


def _describe_file(file: str) -> str:
    return Path(name_input(file)).name


def _check_options(
    html: Path | None, picture: Path | None, kind: Kind, pair: int | None, matrix: bool, phrases: bool
) -> None:
    if html and picture:
        raise ValueError("--html and --picture are two outputs; give one of them")
    if html and pair:
        raise ValueError("--html has all pairs; remove --pair and choose in the page")
    if matrix and (html or picture):
        raise ValueError("--matrix is drawn on the terminal; for a picture, use --kind matrix")
    if phrases and (html or picture):
        raise ValueError("--phrases lists phrases on the terminal; remove it: pages and pictures show them")
    if picture:
        check_picture(picture, kind)
    elif kind != "arcs":
        raise ValueError("--kind applies only to --picture; remove it or give --picture")


def _make_title(systems: dict[str, str], split: str, gold: str | None) -> str:
    def describe(name: str, file: str) -> str:
        return f"{name}, {split}" if file in CORPORA else name

    shown = ", ".join(describe(*system) for system in systems.items())
    return f"{shown} beside {describe(_describe_file(gold), gold)}" if gold else shown


def _describe_pairs(
    alignments: Iterable[Alignment], golds: Golds | None, level: Level, phrases: bool
) -> Iterator[tuple[int, Alignment, str, str]]:
    """Yield the number of each alignment, the alignment, its score, and its mistakes and phrases."""
    rows = _compare(list(alignments), golds, level) if golds else ((one, "", "") for one in alignments)
    for number, (alignment, score, mistaken) in enumerate(rows, 1):
        lines = (mistaken, describe_phrases(alignment) if phrases else "")
        yield number, alignment, score, "\n".join(filter(None, lines))


def _compare(
    alignments: Sequence[Alignment], golds: Golds, level: Level
) -> Iterator[tuple[Alignment, str, str]]:
    """Yield each alignment with its score and its mistakes."""
    counts = count(alignments, golds, level)
    rows = zip(alignments, golds, score_pairs(counts)["f1"], count_verdicts(counts), strict=True)
    for alignment, gold, f1, tally in rows:
        numbers = ", ".join(f"{number} {verdict}" for verdict, number in tally.items())
        judged = verdicts(alignment, at_level(gold, level))
        yield alignment, f"F1 {100 * f1:.1f}: {numbers}", mistakes(alignment, judged)


def _find_pair(items: Iterable[T], number: int, name: str) -> T:
    for item in islice(items, number - 1, None):
        return item
    raise ValueError(f"--pair must be one of the pairs of {name}, counted from 1, got {number}")
