"""`otalign tune`: an aligner with the settings that are best on a dev set, or calibrated on several."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from otalign import encoders
from otalign.aligner import Aligner
from otalign.alignment import Level
from otalign.cli.aligner_options import MODEL_HELP, AlignerOptions, Epsilon, ExactOption, ProblemOption
from otalign.cli.calibration import calibrate_and_save
from otalign.cli.gold import load_split, read_gold_files
from otalign.cli.options import (
    BatchSize,
    DataFolder,
    Device,
    GoldLevel,
    LinksFormat,
    Threads,
    complete_corpus,
    complete_model,
)
from otalign.cli.output import open_work_folder
from otalign.cli.panels import INPUT, MODEL, OUTPUT, SEARCH
from otalign.cli.terminal import resumable, show_activity, show_bars
from otalign.encoders import Pairing
from otalign.encoders.whitening import Centre
from otalign.gold import Gold
from otalign.io import CORPORA
from otalign.problems import PARAMETERS
from otalign.quantities import count_noun
from otalign.settings import LEARNED, Cost, Fertility, Learned
from otalign.tuning import EmbeddingStore, EncoderChoice, Journal, SearchGrid, TuningResult
from otalign.tuning import tune as search

WORK = ".tuning"  # folder of the work, removed when the aligner is saved
SHOWN = ("layer", "pairing", "cost", "fertility", "problem", *PARAMETERS, "distortion", "threshold")


def tune(
    corpora: Annotated[
        list[str],
        typer.Argument(
            metavar="CORPUS...",
            help=f"Corpora whose dev sets to tune on ({', '.join(CORPORA)}), or files of gold; several only "
            "for an aligner that was trained.",
            autocompletion=complete_corpus,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="New folder for the aligner.", rich_help_panel=OUTPUT
        ),
    ],
    model: Annotated[
        str,
        typer.Option(
            envvar="OTALIGN_MODEL",
            metavar="MODEL",
            help=MODEL_HELP,
            rich_help_panel=MODEL,
            autocompletion=complete_model,
        ),
    ],
    level: GoldLevel = "sure",
    problem: ProblemOption = None,
    layers: Annotated[
        str | None,
        typer.Option(
            metavar="all|4,5",
            help="Encoder layers to try: all, or numbers with commas.",
            show_default="one, two thirds of the way up",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    pairings: Annotated[
        str,
        typer.Option(
            metavar="joint,separate",
            help="Ways to encode two sentences to try, with commas.",
            rich_help_panel=SEARCH,
        ),
    ] = "joint",
    costs: Annotated[
        str,
        typer.Option(
            metavar=",".join(get_args(Cost)),
            help="Distances of embeddings to try, with commas.",
            rich_help_panel=SEARCH,
        ),
    ] = "cosine",
    fertilities: Annotated[
        str,
        typer.Option(
            metavar=",".join(get_args(Fertility)),
            help="Masses of words to try, with commas.",
            rich_help_panel=SEARCH,
        ),
    ] = "uniform",
    hysteresis: Annotated[
        str | None,
        typer.Option(
            metavar="SURE,POSSIBLE",
            help="Hysteresis of the sure and of the possible links of a trained aligner, such as 0.2,0.",
            show_default="the best up to 0.2",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    epsilon: Epsilon = None,
    exact: ExactOption = False,
    format: LinksFormat = None,
    data: DataFolder = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Maximum number of pairs of each dev set.",
            show_default="all",
            rich_help_panel=INPUT,
        ),
    ] = None,
    device: Device = None,
    batch_size: BatchSize = None,
    threads: Threads = None,
) -> None:
    """Find the settings of an aligner that are best on a dev set.

    The threshold, the distortion and the parameter of the problem are searched for the best F1, and an
    aligner with the best of them is saved. Several layers, pairings, costs and fertilities are searched too.
    If it is interrupted, the same command continues.

    An aligner that was trained is calibrated instead: it keeps its weights and gets the thresholds that are
    best on the dev sets, one or several, which count alike. Pairs of a corpus that it was trained on are left
    out if they share a sentence with the train set.

    Examples:
        otalign tune gold.tsv --model bert-base-uncased -o my-aligner/
        otalign tune mtref --model bert-base-uncased --layers 7,8,9 -o my-aligner/
        otalign tune mtref wiki --model my-trained-aligner -o calibrated/
    """
    grid = SearchGrid(
        costs=_parse_list("costs", costs, Cost),
        fertilities=_parse_list("fertilities", fertilities, Fertility),
    )
    ways = _parse_list("pairings", pairings, Pairing)
    reductions = None if hysteresis is None else _parse_hysteresis(hysteresis)
    devs = {name: _read_golds(name, format, data, limit) for name in dict.fromkeys(corpora)}
    with resumable(), open_work_folder(output, WORK) as work:
        tried = _parse_layers(layers, model)
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
        with show_activity("loading the model"):
            aligner = options.load()
        if aligner.settings.problem_name == LEARNED:
            calibrate_and_save(aligner, devs, data, output, reductions)
            shutil.rmtree(work)
            return
        if reductions:
            raise ValueError(f"--hysteresis applies only to a trained aligner, and {model} is none")
        if aligner.head:
            raise ValueError(f"{model} has been trained, its threshold too; tune an encoder that was not")
        if len(devs) > 1:
            raise ValueError(
                f"settings are searched on one dev set, got {len(devs)}: {', '.join(devs)}; give one, or a "
                "trained aligner as --model to calibrate it on all"
            )
        (golds,) = devs.values()
        choices = [EncoderChoice(layer, way) for way in ways for layer in tried or [aligner.encoder.layer]]
        tuned, finished = _search(aligner, golds, level, choices, grid, work)
        finished.save(output)
        shutil.rmtree(work)
    _show(tuned, finished, len(golds), output)


def _search(
    aligner: Aligner,
    golds: list[Gold],
    level: Level,
    choices: list[EncoderChoice],
    grid: SearchGrid,
    work: Path,
) -> tuple[TuningResult, Aligner]:
    """Search the settings; return the result, and the aligner with the best ones and a fixed centre."""
    with show_bars() as progress:
        pairs = [(gold.source, gold.target) for gold in golds]
        store = EmbeddingStore(aligner.encoder, pairs, choices, work / "embeddings", progress)
        journal = Journal(work / "rows.jsonl", store.digest)
        base = aligner.settings.discard_training()
        found = search(golds, store, base, grid, [level], journal=journal, progress=progress)
        tuned = found[level]
        best = tuned.settings
        embeddings = store[EncoderChoice(best.layer, best.pairing)]
        kept = Centre.fit([embeddings], best.whitening) if best.centring else None
    return tuned, replace(aligner, settings=best, centre=kept)


def _read_golds(name: str, format: str | None, data: Path | None, limit: int | None) -> list[Gold]:
    if name in CORPORA:
        golds = load_split(name, "dev", data, limit)
    else:
        golds = read_gold_files([Path(name)], format, limit)
    if not any(one.sure or one.possible for one in golds):
        raise ValueError(
            f"{name} holds no link to tune on, only {count_noun(len(golds), 'pair')} without any"
        )
    return golds


def _parse_list(name: str, given: str, type_: Any) -> tuple[Any, ...]:
    values = tuple(value.strip() for value in given.split(","))
    for value in values:
        if value not in get_args(type_):
            raise ValueError(
                f"--{name} must be among {', '.join(get_args(type_))}, with commas between, got {value!r}"
            )
    return tuple(dict.fromkeys(values))


def _parse_hysteresis(given: str) -> dict[Level, float]:
    try:
        sure, possible = map(float, given.split(","))
    except ValueError:
        raise ValueError(
            f"--hysteresis must be two numbers with a comma between, such as 0.2,0, got {given!r}"
        ) from None
    Learned(sure_hysteresis=sure, possible_hysteresis=possible)  # refuses what is out of range
    return {"sure": sure, "possible": possible}


def _parse_layers(given: str | None, model: str) -> Sequence[int] | None:
    if given is None:
        return None
    if given == "all":
        return encoders.list_layers(model)
    listed = [layer.strip() for layer in given.split(",")]
    if not all(layer.isdecimal() for layer in listed):
        raise ValueError(f"--layers must be all, or numbers with commas such as 4,5, got {given!r}")
    return list(dict.fromkeys(map(int, listed)))


def _show(tuned: TuningResult, aligner: Aligner, pairs: int, folder: Path) -> None:
    settings = aligner.settings.signature_fields()
    print("   ".join(f"{name} {settings[name]}" for name in SHOWN if name in settings))
    scores = {"F1": tuned.f1, "precision": tuned.best.precision, "recall": tuned.best.recall}
    figures = "   ".join(f"{name} {100 * share:.1f}" for name, share in scores.items())
    tried = f"{count_noun(len(tuned.rows), 'setting')} tried"
    print(f"{figures}   on {count_noun(pairs, 'dev pair')}, level {tuned.level}, {tried}")
    print(aligner.signature)
    print(f"{folder}: ready; otalign align --model {folder} …")
