"""The commands of `python -m experiments`: unsupervised, phrases, supervised and train-peer."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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

from experiments.study_data import StudyData, StudySource
from experiments.unsupervised import Cell, EncoderSelection, figures, run_study, select_rows, tables
from experiments.unsupervised.run import CELLS
from otalign import encoders
from otalign.alignment import Level
from otalign.atomic import write_atomic
from otalign.cli.options import BatchSize, DataFolder, Device, Threads
from otalign.cli.output import make_writable
from otalign.cli.terminal import print_written_files, resumable
from otalign.encoders import Pairing
from otalign.progress import Progress, no_progress
from otalign.tuning import EncoderChoice

if TYPE_CHECKING:
    from experiments.supervised import Failure, Result

PAIRINGS: tuple[Pairing, ...] = ("joint", "separate")  # those of the paper

EncoderName = Annotated[
    str,
    typer.Option(envvar="OTALIGN_MODEL", help="Folder of an encoder, or its name on the Hugging Face hub."),
]
ResultsFolder = Annotated[
    Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for tables and intermediate results.")
]
Limit = Annotated[int | None, typer.Option(min=1, help="Maximum number of pairs of each split.")]

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Reproduce the paper's experiments.")


@app.callback()
def describe() -> None:
    """Reproduce the tables and figures of the paper from the corpora and an encoder."""


@app.command()
def unsupervised(
    encoder: EncoderName,
    output: ResultsFolder,
    data: DataFolder = None,
    layer: Annotated[
        str, typer.Option(metavar="auto|N", help="Encoder layer; auto chooses the best on the dev sets.")
    ] = "auto",
    pairing: Annotated[
        str,
        typer.Option(
            metavar="auto|joint|separate",
            help="Encode the two sentences together or separately; auto chooses the better on the dev sets.",
        ),
    ] = "auto",
    rows: Annotated[
        str,
        typer.Option(
            metavar="main|all|NAMES", help="Rows of the table, separated by commas; * matches any ending."
        ),
    ] = "all",
    limit: Limit = None,
    device: Device = None,
    batch_size: BatchSize = None,
    threads: Threads = None,
) -> None:
    """Tune every system on the dev sets, score it on the test sets, and write the paper's table.

    An interrupted run continues where it stopped: a finished cell of the table is computed again only if its
    inputs have changed. Several encoders may share a folder; the tables are those of the last run.

    Example: python -m experiments unsupervised --encoder bert-base-uncased --data corpora/ -o results/
    """
    systems = select_rows(rows)
    choices = _list_choices(encoder, layer, pairing)
    make_writable(output)
    source = StudySource(encoder, data, limit, device, threads, batch_size)
    with resumable(), _show_cells() as (progress, on_result):
        study = run_study(source, output, systems, choices, progress=progress, on_result=on_result)
    print_written_files(tables.write(study, output), lambda: figures.write(study, output / "figures"))


@app.command()
def phrases(
    encoder: EncoderName,
    output: ResultsFolder,
    layer: Annotated[int, typer.Option(min=0, help="Encoder layer.")],
    data: DataFolder = None,
    test: Annotated[
        bool, typer.Option("--test", help="Score the test sets too, with the thresholds of the dev sets.")
    ] = False,
    limit: Limit = None,
    device: Device = None,
    batch_size: BatchSize = None,
    threads: Threads = None,
) -> None:
    """Compare the settings for order, structure and phrases, and write tables and F1 by phrase share.

    Each variant has one threshold for all corpora, the best on the dev sets.

    Example: python -m experiments phrases --encoder bert-base-uncased --layer 8 --data corpora/ -o results/
    """
    from experiments import phrases as study

    make_writable(output)
    source = StudySource(encoder, data, limit, device, threads, batch_size)
    with resumable(), _show_cells() as (progress, _):
        data_of_study = StudyData(source, output / "cache", layer, progress)
        results = study.run_phrases(data_of_study, EncoderChoice(layer), test)
    name = data_of_study.encoder.name
    print(study.format_results(results, name, layer), end="")
    print_written_files(
        study.write(results, name, layer, output), lambda: study.plot(results, name, output / "figures")
    )


@app.command()
def supervised(
    encoder: EncoderName,
    output: ResultsFolder,
    data: DataFolder = None,
    rows: Annotated[
        str,
        typer.Option(
            metavar="main|all|NAMES", help="Rows of the table, separated by commas; * matches any ending."
        ),
    ] = "all",
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Number of seeds of every row, instead of each row's own.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Number of models trained at once, one per process.")] = 1,
    limit: Limit = None,
    device: Annotated[
        str | None, typer.Option(metavar="cpu|cuda", help="Device; the best available by default.")
    ] = None,
    precision: Annotated[
        str | None,
        typer.Option(
            metavar="float32|bfloat16",
            help="Precision of training; bfloat16 on a GPU and float32 without by default.",
        ),
    ] = None,
) -> None:
    """Train every system on every corpus with several seeds, and write the paper's supervised table.

    An interrupted run continues where it stopped: a finished model is trained again only if its inputs have
    changed, and a long training continues after its last epoch. A failed training is reported and does not
    stop the others.

    Example: python -m experiments supervised --encoder bert-base-uncased --data corpora/ --jobs 4 -o results/
    """
    from experiments.supervised import PRECISIONS, StudyContext, figures, run_study, select_rows, tables

    names = select_rows(rows)
    if precision not in (None, *PRECISIONS):
        raise ValueError(f"--precision must be one of {', '.join(PRECISIONS)}, got {precision!r}")
    make_writable(output)
    source = StudySource(encoder, data, limit, device)
    context = StudyContext.prepare(source, output, precision)  # pyright: ignore[reportArgumentType]
    with resumable(), _show_models() as on_result:
        study = run_study(context, names, seeds=seeds, workers=jobs, on_result=on_result)
    print_written_files(tables.write(study, output), lambda: figures.write(study, output / "figures"))
    log = output / "failed.txt"
    log.unlink(missing_ok=True)
    if study.failures:
        traces = [f"{failure.model}: {failure.error}\n{failure.trace}" for failure in study.failures]
        write_atomic(log, "\n".join(traces))
        print(f"otalign: {len(traces)} failed; see {log}", file=sys.stderr)
        raise typer.Exit(1)


@app.command()
def train_peer(
    corpora: Annotated[
        list[str], typer.Argument(metavar="CORPUS…", help="Corpora to train on together, by name.")
    ],
    method: Annotated[
        str, typer.Option(metavar="semi-crf|span-prediction", help="System of the paper to train.")
    ],
    encoder: EncoderName,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the trained system.")
    ],
    data: DataFolder = None,
    level: Annotated[str, typer.Option(metavar="sure|possible", help="Links to learn.")] = "sure",
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 1,
    limit: Limit = None,
) -> None:
    """Train a supervised system that the paper compares with, on the train and dev sets of corpora.

    Example: python -m experiments train-peer mtref --method semi-crf --encoder bert-base-uncased -o peer/
    """
    from experiments.peers.settings import PEERS
    from experiments.peers.training import RECIPES, train_peer
    from otalign.alignment import LEVELS
    from otalign.training import CorpusSplits

    if method not in PEERS:
        raise ValueError(f"--method must be one of {', '.join(PEERS)}, got {method!r}")
    if level not in LEVELS:
        raise ValueError(f"--level must be one of {', '.join(LEVELS)}, got {level!r}")
    chosen: Level = level  # pyright: ignore[reportAssignmentType]
    study_data = StudyData(StudySource(encoder, data, limit), output, None)
    sources = {
        name: CorpusSplits(*(study_data.get_golds(name, split) for split in ("train", "dev")))
        for name in corpora
    }
    make_writable(output)
    result = train_peer(encoder, sources, method, RECIPES[method].replace(seed=seed), level=chosen)
    result.aligner.save(output)
    for name, levels in result.dev.items():
        for key, score in levels.items():
            print(f"{name} dev {key}   F1 {100 * score.f1:.1f}   at {score.threshold}")
    print(result.aligner.signature)


def _list_choices(encoder: str, layer: str, pairing: str) -> list[EncoderChoice]:
    if pairing != "auto" and pairing not in PAIRINGS:
        raise ValueError(f"--pairing must be auto, {', '.join(PAIRINGS)}, got {pairing!r}")
    if layer != "auto" and not layer.isdecimal():
        raise ValueError(f"--layer must be auto or a number, got {layer!r}")
    layers = encoders.list_layers(encoder)
    if layer != "auto" and int(layer) not in layers:
        raise ValueError(f"--layer must be from {layers[0]} to {layers[-1]} for {encoder}, got {layer}")
    pairings: list[Pairing] = [name for name in PAIRINGS if pairing in ("auto", name)]
    return [
        EncoderChoice(k, name) for name in pairings for k in (layers if layer == "auto" else [int(layer)])
    ]


@contextmanager
def _show_cells() -> Iterator[tuple[Progress, Callable[[Cell | EncoderSelection], None]]]:
    """Print a line for each cell on the error stream, with progress bars below if it is a terminal."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    if not sys.stderr.isatty():
        yield no_progress, lambda result: console.print(_describe_cell(result), markup=False)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns, console=console, transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def progress(what: str, done: int, of: int | None) -> None:
            if what not in tasks:  # keep one bar besides that of all cells: there would be hundreds
                for old in tasks.keys() - {CELLS}:
                    bars.remove_task(tasks.pop(old))
                tasks[what] = bars.add_task(what)
            bars.update(tasks[what], completed=done, total=of)

        yield progress, lambda result: bars.console.print(_describe_cell(result), markup=False)


def _describe_cell(result: Cell | EncoderSelection) -> str:
    if isinstance(result, EncoderSelection):
        if not result.tried:
            return f"layer {result.choice.layer}, {result.choice.pairing}, as given"
        best = f"the best of {len(result.tried)}, mean dev F1 {100 * result.tried[result.choice]:.1f}"
        return f"layer {result.choice.layer}, {result.choice.pairing}: {best}"
    dev = f", dev {100 * result.dev.f1:.1f}" if result.dev else ""
    scores = f"F1 {100 * result.test.f1:.1f}{dev}, {sum(result.seconds.values()):.1f} s"
    return f"{result.row}, {result.corpus} {result.level}: {scores}"


@contextmanager
def _show_models() -> "Iterator[Callable[[Result | Failure, int, int], None]]":
    """Print a line for each model on the error stream, with a progress bar below if it is a terminal."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("models")

        def report(result: "Result | Failure", done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)
            console.print(f"{_describe_model(result)} ({done} of {total})", markup=False)

        yield report


def _describe_model(result: "Result | Failure") -> str:
    from experiments.supervised import Failure

    if isinstance(result, Failure):
        return f"{result.model}: failed, {result.error}"
    return f"{result.model}: dev F1 {100 * result.dev_f1:.1f}, {result.seconds:.1f} s"
