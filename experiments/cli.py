"""`otalign study`: the paper's tables and figures, made again by one command."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from experiments import Cell, EncoderSelection, StudySource, figures, tables
from experiments import run_unsupervised as studied
from experiments import select_rows as chosen_rows
from experiments.run import CELLS
from experiments.supervised_command import EncoderName, ResultsFolder, supervised
from otalign import encoders
from otalign.cli.options import BatchSize, DataFolder, Device, Threads
from otalign.cli.output import make_writable
from otalign.cli.terminal import print_written_files, resumable
from otalign.encoders import Pairing
from otalign.progress import Progress, no_progress
from otalign.tuning import EncoderChoice

PAIRINGS: tuple[Pairing, ...] = ("joint", "separate")  # those of the paper

study = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The paper's tables and figures.")


@study.callback()
def about() -> None:
    """The paper's tables and figures, made again from the corpora and an encoder."""


study.command()(supervised)


@study.command()
def unsupervised(
    encoder: EncoderName,
    output: ResultsFolder,
    data: DataFolder = None,
    layer: Annotated[
        str, typer.Option(metavar="auto|N", help="Of the encoder; auto: the best on the dev sets.")
    ] = "auto",
    pairing: Annotated[
        str,
        typer.Option(
            metavar="auto|joint|separate",
            help="Encode the sentences together, or each alone; auto: likewise.",
        ),
    ] = "auto",
    rows: Annotated[
        str,
        typer.Option(metavar="main|all|NAMES", help="With commas, * for any ending: simalign,uot*."),
    ] = "all",
    limit: Annotated[int | None, typer.Option(min=1, help="Take the first so many pairs of a split.")] = None,
    device: Device = None,
    batch_size: BatchSize = None,
    threads: Threads = None,
) -> None:
    """Tune every system of the paper's table on the dev sets, score it on the test sets, write the tables.

    Interrupted, the same command goes on where it stopped: a finished cell of the table is not made again
    unless what decides it has changed. Results of several encoders may share a folder; the tables are those
    of the last run.

    Example: python -m experiments unsupervised --encoder bert-base-uncased --data corpora/ -o results/
    """
    wanted = chosen_rows(rows)
    choices = _choices(encoder, layer, pairing)
    make_writable(output)
    source = StudySource(encoder, data, limit, device, threads, batch_size)
    with resumable(), _show_progress() as (progress, heard):
        found = studied(source, output, wanted, choices, progress=progress, heard=heard)
    print_written_files(tables.write(found, output), lambda: figures.write(found, output / "figures"))


def _choices(encoder: str, layer: str, pairing: str) -> list[EncoderChoice]:
    if pairing != "auto" and pairing not in PAIRINGS:
        raise ValueError(f"--pairing must be auto, {', '.join(PAIRINGS)}, got {pairing!r}")
    if layer != "auto" and not layer.isdecimal():
        raise ValueError(f"--layer must be auto or a number, got {layer!r}")
    layers = encoders.list_layers(encoder)
    if layer != "auto" and int(layer) not in layers:
        raise ValueError(f"--layer must be from {layers[0]} to {layers[-1]} for {encoder}, got {layer}")
    ways: list[Pairing] = [way for way in PAIRINGS if pairing in ("auto", way)]
    return [EncoderChoice(k, way) for way in ways for k in (layers if layer == "auto" else [int(layer)])]


@contextmanager
def _show_progress() -> Iterator[tuple[Progress, Callable[[Cell | EncoderSelection], None]]]:
    """Bars on a terminal, above them a line for each cell; in a pipe the lines alone, on the error stream."""
    screen = Console(stderr=True, highlight=False, soft_wrap=True)
    if not sys.stderr.isatty():
        yield no_progress, lambda made: screen.print(_line(made), markup=False)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns, console=screen, transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def progress(what: str, done: int, of: int | None) -> None:
            if what not in tasks:  # one bar at a time besides that of all cells: there would be hundreds
                for old in tasks.keys() - {CELLS}:
                    bars.remove_task(tasks.pop(old))
                tasks[what] = bars.add_task(what)
            bars.update(tasks[what], completed=done, total=of)

        yield progress, lambda made: bars.console.print(_line(made), markup=False)


def _line(made: Cell | EncoderSelection) -> str:
    if isinstance(made, EncoderSelection):
        if not made.tried:
            return f"layer {made.choice.layer}, {made.choice.pairing}, as given"
        best = f"the best of {len(made.tried)}, mean dev F1 {100 * made.tried[made.choice]:.1f}"
        return f"layer {made.choice.layer}, {made.choice.pairing}: {best}"
    dev = f", dev {100 * made.dev.f1:.1f}" if made.dev else ""
    figures = f"F1 {100 * made.test.f1:.1f}{dev}, {sum(made.seconds.values()):.1f} s"
    return f"{made.row}, {made.corpus} {made.level}: {figures}"
