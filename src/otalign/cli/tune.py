"""`otalign tune`: the settings that are best on a dev set, as an aligner that is ready to use."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from otalign import encoders
from otalign.aligner import Aligner
from otalign.alignment import Gold, Level
from otalign.cli import gold
from otalign.cli.aligner_options import AlignerOptions, BatchSize, Device, Threads
from otalign.cli.convert import FORMAT_HELP, as_level
from otalign.cli.corpus import DataFolder
from otalign.cli.output import place
from otalign.cli.terminal import bars, resumable
from otalign.encoders import Pairing
from otalign.encoders.whitening import Centre
from otalign.io import CORPORA
from otalign.settings import Cost, Fertility, LearnedSettings, Settings
from otalign.tuning import EmbeddingStore, EncoderChoice, Journal, SearchGrid, TuningResult, calibrate
from otalign.tuning import tune as tuned_on

WORK = ".tuning"  # what is kept in the folder until the aligner is there
FOUND = ("layer", "pairing", "cost", "fertility", "problem", "tau", "fraction", "distortion", "threshold")


def tune(
    corpus: Annotated[
        str,
        typer.Argument(help=f"A corpus by name, its dev set ({', '.join(CORPORA)}), or a file of gold."),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="A new folder for the aligner.")
    ],
    model: Annotated[
        str,
        typer.Option(
            envvar="OTALIGN_MODEL", help="An encoder's folder or name on the Hugging Face hub, or an aligner."
        ),
    ],
    level: Annotated[str, typer.Option(metavar="sure|possible", help="Gold links to score.")] = "sure",
    problem: Annotated[
        str | None,
        typer.Option(
            metavar="bot|pot|uot|none",
            help="Transport: balanced, partial, unbalanced; none is a threshold on the costs.",
        ),
    ] = None,
    layers: Annotated[
        str | None,
        typer.Option(metavar="all|4,5", help="To try; else the one two thirds of the way up."),
    ] = None,
    pairings: Annotated[str, typer.Option(metavar="joint,separate", help="To try.")] = "joint",
    costs: Annotated[str, typer.Option(metavar="cosine,euclidean", help="To try.")] = "cosine",
    fertilities: Annotated[str, typer.Option(metavar="uniform,norm", help="To try.")] = "uniform",
    epsilon: Annotated[float | None, typer.Option(help="Weight of the entropy.")] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Transport without entropy.")] = False,
    format: Annotated[
        str, typer.Option("--from", metavar="FORMAT", help="Of a file. " + FORMAT_HELP)
    ] = "multimwa",
    data: DataFolder = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Tune on the first so many pairs.")] = None,
    device: Device = None,
    batch_size: BatchSize = None,
    threads: Threads = None,
) -> None:
    """Search threshold, tau or fraction, and distortion for the best F1 on a dev set, and save an aligner.

    Layers, pairings, costs and fertilities are searched too if several are given. Interrupted, the same
    command goes on where it stopped; what it needs for that is in the folder until the aligner is.

    An aligner that has learned its transport is calibrated on the dev set, and gets the thresholds that are
    best there.

    Example: otalign tune mtref --data corpora/ --model bert-base-uncased --layers 7,8,9 -o my-aligner/
    """
    chosen = as_level(level)
    grid = SearchGrid(
        costs=_parse_list("costs", costs, Cost),
        fertilities=_parse_list("fertilities", fertilities, Fertility),
    )
    ways = _parse_list("pairings", pairings, Pairing)
    golds = _golds(corpus, format, data, limit)
    with resumable(), place(output, WORK) as work:
        tried = _layers(layers, model)
        options = AlignerOptions(
            model=model,
            problem=problem,
            layer=None if tried is None else max(tried),
            epsilon=epsilon,
            exact=exact,
            device=device,
            batch_size=batch_size,
            threads=threads,
        )
        aligner = options.load()
        if isinstance(aligner.settings, LearnedSettings):
            _suit(aligner, corpus, golds, output)
            shutil.rmtree(work)
            return
        if aligner.head:
            raise ValueError(f"{model} has been trained, its threshold too; tune an encoder that was not")
        choices = [EncoderChoice(layer, way) for way in ways for layer in tried or [aligner.encoder.layer]]
        tuned, finished = _search(aligner, golds, chosen, choices, grid, work)
        finished.save(output)
        shutil.rmtree(work)
    _show(tuned, finished, len(golds), output)


def _suit(aligner: Aligner, corpus: str, golds: list[Gold], output: Path) -> None:
    """A trained aligner, calibrated, with both its thresholds."""
    finished, curves = calibrate(aligner, {corpus: golds})
    finished.save(output)
    for level, curve in curves[corpus].items():
        figures = {"F1": curve.f1, "precision": curve.precision, "recall": curve.recall}
        shown = "   ".join(f"{name} {100 * of[curve.best]:.1f}" for name, of in figures.items())
        print(f"{shown}   at {curve.thresholds[curve.best]:g}   on {len(golds):,} dev pairs, level {level}")
    print(finished.signature)
    print(f"{output}: ready; otalign align --model {output} …")


def _search(
    aligner: Aligner,
    golds: list[Gold],
    level: Level,
    choices: list[EncoderChoice],
    grid: SearchGrid,
    work: Path,
) -> tuple[TuningResult, Aligner]:
    """What was found, and the aligner with the best settings, the mean of the dev set kept."""
    with bars() as progress:
        pairs = [(gold.source, gold.target) for gold in golds]
        store = EmbeddingStore(aligner.encoder, pairs, choices, work / "embeddings", progress)
        journal = Journal(work / "rows.jsonl", store.digest)
        assert isinstance(aligner.settings, Settings)
        found = tuned_on(golds, store, aligner.settings, grid, [level], journal=journal, progress=progress)
        tuned = found[level]
        best = tuned.settings
        embeddings = store[EncoderChoice(best.layer, best.pairing)]
        kept = Centre.fit([embeddings], best.whitening) if best.centring else None
    return tuned, replace(aligner, settings=best, centre=kept)


def _golds(name: str, format: str, data: Path | None, limit: int | None) -> list[Gold]:
    if name in CORPORA:
        golds = gold.of_corpus(name, "dev", data, limit)
    else:
        golds = gold.of_files([Path(name)], format, limit)
    if not any(one.sure or one.possible for one in golds):
        raise ValueError(f"{name} holds {len(golds)} pairs and no link to tune on")
    return golds


def _parse_list(name: str, said: str, type_: Any) -> tuple[Any, ...]:
    values = tuple(value.strip() for value in said.split(","))
    for value in values:
        if value not in get_args(type_):
            raise ValueError(f"--{name} must be of {', '.join(get_args(type_))}, got {value!r}")
    return tuple(dict.fromkeys(values))


def _layers(said: str | None, model: str) -> Sequence[int] | None:
    if said is None:
        return None
    if said == "all":
        return encoders.list_layers(model)
    listed = [layer.strip() for layer in said.split(",")]
    if not all(layer.isdecimal() for layer in listed):
        raise ValueError(f"--layers must be all, or numbers with commas such as 4,5, got {said!r}")
    return list(dict.fromkeys(map(int, listed)))


def _show(tuned: TuningResult, aligner: Aligner, pairs: int, folder: Path) -> None:
    told = aligner.settings.signature_fields()
    print("   ".join(f"{name} {told[name]}" for name in FOUND if name in told))
    scores = {"F1": tuned.f1, "precision": tuned.best.precision, "recall": tuned.best.recall}
    figures = "   ".join(f"{name} {100 * share:.1f}" for name, share in scores.items())
    print(f"{figures}   on {pairs:,} dev pairs, level {tuned.level}, {len(tuned.rows):,} settings tried")
    print(aligner.signature)
    print(f"{folder}: ready; otalign align --model {folder} …")
