"""`python -m experiments supervised`: the paper's supervised table, and what goes beyond it."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

from experiments import StudySource
from otalign.atomic import write_atomic
from otalign.cli.options import DataFolder
from otalign.cli.output import make_writable
from otalign.cli.terminal import print_written_files, resumable

if TYPE_CHECKING:
    from experiments.supervised import Failure, Result

EncoderName = Annotated[
    str, typer.Option(envvar="OTALIGN_MODEL", help="An encoder's folder or name on the Hugging Face hub.")
]
ResultsFolder = Annotated[
    Path, typer.Option("--output", "-o", metavar="FOLDER", help="For the tables and all that is kept.")
]


def supervised(
    encoder: EncoderName,
    output: ResultsFolder,
    data: DataFolder = None,
    rows: Annotated[
        str,
        typer.Option(metavar="main|all|NAMES", help="With commas, * for any ending: uot,learned*."),
    ] = "all",
    seeds: Annotated[int | None, typer.Option(min=1, help="Of every row; else each has its own.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Models trained at once, each in a process.")] = 1,
    limit: Annotated[int | None, typer.Option(min=1, help="Take the first so many pairs of a split.")] = None,
    device: Annotated[
        str | None, typer.Option(metavar="cpu|cuda", help="Else the best that is there.")
    ] = None,
    precision: Annotated[
        str | None,
        typer.Option(
            metavar="float32|bfloat16", help="Of training; else bfloat16 on a GPU, float32 without."
        ),
    ] = None,
) -> None:
    """Train every system on every corpus, several times, choose on the dev sets, score on the test sets.

    Interrupted, the same command goes on where it stopped: a model that is done is not trained again unless
    what decides it has changed, and one that takes minutes goes on after an epoch. What fails is told, and
    keeps nothing else from being done.

    Example: python -m experiments supervised --encoder bert-base-uncased --data corpora/ --jobs 4 -o results/
    """
    from experiments.supervised import Ground, Precision, figures, select_rows, tables
    from experiments.supervised import run_supervised as studied

    wanted = select_rows(rows)
    if precision not in (None, *get_args(Precision)):
        raise ValueError(f"--precision must be one of {', '.join(get_args(Precision))}, got {precision!r}")
    make_writable(output)
    ground = Ground.of(StudySource(encoder, data, limit, device), output, precision)  # pyright: ignore[reportArgumentType]
    with resumable(), _show_progress() as heard:
        found = studied(ground, wanted, seeds=seeds, workers=jobs, heard=heard)
    print_written_files(tables.write(found, output), lambda: figures.write(found, output / "figures"))
    log = output / "failed.txt"
    log.unlink(missing_ok=True)
    if found.failures:
        traces = [f"{failure.place}: {failure.error}\n{failure.trace}" for failure in found.failures]
        write_atomic(log, "\n".join(traces))
        print(f"otalign: {len(traces)} failed; see {log}", file=sys.stderr)
        raise typer.Exit(1)


@contextmanager
def _show_progress() -> "Iterator[Callable[[Result | Failure, int, int], None]]":
    """A line for each model on the error stream, and under them a bar if it is a terminal."""
    screen = Console(stderr=True, highlight=False, soft_wrap=True)
    bar = Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=screen,
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    with bar:
        task = bar.add_task("models")

        def heard(made: "Result | Failure", over: int, of: int) -> None:
            bar.update(task, completed=over, total=of)
            screen.print(f"{_line(made)} ({over} of {of})", markup=False)

        yield heard


def _line(made: "Result | Failure") -> str:
    from experiments.supervised import Failure

    if isinstance(made, Failure):
        return f"{made.place}: failed, {made.error}"
    return f"{made.place}: dev F1 {100 * made.dev_f1:.1f}, {made.seconds:.1f} s"
