"""`otalign train`: an aligner that has learned from gold links."""

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from otalign import __version__
from otalign.atomic import write_atomic
from otalign.cli import training
from otalign.cli.epochs import Told, is_main
from otalign.cli.options import FORMAT_HELP, DataFolder, Device, as_level
from otalign.cli.output import open_work_folder
from otalign.cli.terminal import resumable
from otalign.io import CORPORA
from otalign.ot import Problem
from otalign.settings import Learned
from otalign.training.augmentation import KINDS as AUGMENTATIONS

if TYPE_CHECKING:
    from otalign.training import CorpusSplits, Recipe, Trained

WORK = ".training"  # what is kept in the folder until the aligner is there
METRICS, RECORD = "metrics.jsonl", "training.json"
PREDICTIONS = "predictions"  # of teachers, in the folder of the work
DISTILLATION = "Distillation"  # panel of the help
TAU = 0.4  # of unbalanced transport that is trained


def train(
    corpora: Annotated[
        list[str],
        typer.Argument(
            metavar="CORPUS…", help=f"By name ({', '.join(CORPORA)}), or files of gold to learn from."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="A new folder for the aligner.")
    ],
    encoder: Annotated[
        str,
        typer.Option(
            envvar="OTALIGN_MODEL",
            help="An encoder's folder or name on the Hugging Face hub, or a trained aligner to go on from.",
        ),
    ],
    dev: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Gold to choose by, for files; may be given several times."),
    ] = None,
    problem: Annotated[
        str, typer.Option(metavar="learned|bot|pot|uot", help="Learned transport, or one of the paper's.")
    ] = "learned",
    tau: Annotated[float, typer.Option(help="Of uot: the price of leaving words out.")] = TAU,
    fraction: Annotated[float, typer.Option(help="Of pot: the share of the words to be linked.")] = 1.0,
    level: Annotated[
        str | None,
        typer.Option(
            metavar="sure|possible", help="Links to learn; both by default, or sure with --problem."
        ),
    ] = None,
    learning_rate: Annotated[
        str | None,
        typer.Option(metavar="RATE[,RATE…]", help="Of several, the best on the dev set is kept."),
    ] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help="At most.")] = None,
    batch_size: Annotated[int | None, typer.Option(min=1, help="Pairs in a step.")] = None,
    patience: Annotated[
        int | None, typer.Option(min=1, help="Stop after so many epochs without a better dev F1.")
    ] = None,
    depth: Annotated[
        int | None, typer.Option(min=1, help="Keep only the first so many layers of the encoder.")
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="competition|prices|neighbours", help="Leave out a part of what is learned."),
    ] = None,
    teacher: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER",
            help="Trained aligner, of any encoder, whose probabilities are learned too; "
            "of several, their mean.",
            rich_help_panel=DISTILLATION,
        ),
    ] = None,
    teaching: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Share of the teachers in the targets of gold pairs.",
            rich_help_panel=DISTILLATION,
        ),
    ] = None,
    unlabelled: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Sentence pairs without links (tsv or jsonl), to be learned from the teachers.",
            rich_help_panel=DISTILLATION,
        ),
    ] = None,
    unlabelled_limit: Annotated[
        int | None,
        typer.Option(min=1, help="Take the first so many unlabelled pairs.", rich_help_panel=DISTILLATION),
    ] = None,
    unlabelled_weight: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="Weight of an unlabelled pair, beside 1 of gold.", rich_help_panel=DISTILLATION
        ),
    ] = None,
    gold_share: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=0.99,
            help="Share of gold among the pairs of an epoch; gold is repeated to reach it.",
            rich_help_panel=DISTILLATION,
        ),
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder that keeps the teachers' predictions for other runs.",
            rich_help_panel=DISTILLATION,
        ),
    ] = None,
    augment: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND=SHARE",
            help="Augmented copies of a kind, as a share of the pairs; 0 turns a kind off, all=0 every one. "
            f"Kinds: {', '.join(AUGMENTATIONS)}.",
        ),
    ] = None,
    refit: Annotated[
        bool,
        typer.Option("--refit", help="Train once more, dev sets too, with all that was chosen by them."),
    ] = False,
    seed: Annotated[int, typer.Option(min=0)] = 1,
    workers: Annotated[
        int | None,
        typer.Option(min=0, help="Processes that prepare batches. By default up to 12 on a GPU, else none."),
    ] = None,
    accumulate: Annotated[
        int, typer.Option(min=1, help="Read a batch in so many parts, where memory is short.")
    ] = 1,
    precision: Annotated[
        str | None, typer.Option(metavar="float32|bfloat16", help="Else bfloat16 on a GPU, float32 without.")
    ] = None,
    format: Annotated[
        str, typer.Option("--from", metavar="FORMAT", help="Of files. " + FORMAT_HELP)
    ] = "multimwa",
    data: DataFolder = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Take the first so many pairs of each set.")
    ] = None,
    device: Device = None,
) -> None:
    """Train an aligner on gold links.

    The encoder is fine-tuned through the transport, and the aligner that is best on the dev sets is saved.

    By default transport itself is learned: prices for words without a counterpart, competition, both levels
    of links, probabilities that are calibrated. With --problem bot, pot or uot it is the paper's recipe.
    Several corpora are learned together, and augmented copies of their pairs with them (--augment). With
    --teacher, the probabilities that other aligners give are learned beside the gold; with --unlabelled, they
    are learned of pairs without gold too. With --encoder an aligner that was trained so, it is trained
    further, for a shorter time.
    Interrupted, the same command goes on after the last whole epoch.

    For several GPUs: accelerate launch -m otalign train …

    Example: otalign train mtref wiki --data corpora/ --encoder bert-base-uncased -o my-aligner/
    """
    import torch  # noqa: F401 (without it, the error should come before the corpora are read)

    sources = training.sources(corpora, dev or [], format, data, limit)
    chosen = training.problem_of(problem, tau, fraction)
    recipe = training.recipe_for(chosen, encoder).replace(seed=seed, without=tuple(without or ()))
    said = {"epochs": epochs, "batch_size": batch_size, "patience": patience, "depth": depth}
    said |= {"teaching": teaching, "steps": epochs and 0}  # no more epochs than are asked for
    said |= {"unlabelled_weight": unlabelled_weight, "gold_share": gold_share}
    said |= {"augmentation": training.augmentation(augment, recipe.augmentation)}
    recipe = recipe.replace(**{name: value for name, value in said.items() if value is not None})
    recipes = [recipe.replace(learning_rate=rate) for rate in training.rates(learning_rate, recipe)]
    options: dict[str, Any] = {"half": training.half(precision, device), "accumulate": accumulate}
    told = {"level": level and as_level(level)}
    given = {"teaching": teaching, "unlabelled": unlabelled, "predictions": predictions}
    given |= {"unlabelled-weight": unlabelled_weight, "gold-share": gold_share}
    training.check_given_with_teacher(teacher, given)
    teachers = training.load_teachers(teacher or [], chosen, device, options["half"])
    pairs = training.read_unlabelled_pairs(unlabelled or [], unlabelled_limit)
    more = {"refit": refit, "teachers": [one.signature for one in teachers], "unlabelled": len(pairs)}
    about = _about(encoder, sources, chosen, recipe, told | options | more)
    options |= {"device": device, "workers": workers}
    with resumable(), open_work_folder(output, WORK) as work:
        from otalign.training import Distillation

        options["distillation"] = Distillation(teachers, pairs, predictions or work / PREDICTIONS)
        heard = Told(work)
        found = _best_of(encoder, sources, chosen, recipes, told | options, heard)
        if refit:
            found = _refit(encoder, sources, found, options, heard)
        _save(found, output, work, about)
    _show(found, output)


def _best_of(
    encoder: str,
    sources: "dict[str, CorpusSplits]",
    problem: Problem | Learned,
    recipes: "list[Recipe]",
    options: dict[str, Any],
    told: Told,
) -> "Trained":
    """Trained by each of the recipes, and the best on the dev sets kept."""
    from otalign.training import train as trained_on

    best = None
    for recipe in recipes:
        name = f"{recipe.learning_rate:g}"
        with told.run(name, f"learning rate {name}: " if len(recipes) > 1 else "") as kept:
            found = trained_on(encoder, sources, problem, recipe, **kept, **options)
        if best is None or found.f1 > best.f1:
            best = found
    assert best is not None
    return best


def _refit(
    encoder: str, sources: "dict[str, CorpusSplits]", found: "Trained", options: dict[str, Any], told: Told
) -> "Trained":
    from otalign.training import refit

    with told.run("refit", "refit: ") as kept:
        return refit(encoder, sources, found, **kept, **options)


def _save(found: "Trained", output: Path, work: Path, about: dict[str, Any]) -> None:
    """The aligner, what its epochs came to, and what made it."""
    if not is_main():
        return
    found.aligner.save(output)
    lines = [path.read_text(encoding="utf-8") for path in sorted(work.glob("*.jsonl"))]
    write_atomic(output / METRICS, "".join(lines))
    dev = {name: {k: score._asdict() for k, score in of.items()} for name, of in found.dev.items()}
    record = about | {"learning_rate": found.recipe.learning_rate, "dev": dev}
    write_atomic(output / RECORD, json.dumps(record, indent=2, allow_nan=False) + "\n")
    shutil.rmtree(work)


def _show(found: "Trained", output: Path) -> None:
    if not is_main():
        return
    for name, levels in found.dev.items():
        for level, score in levels.items():
            figures = f"F1 {100 * score.f1:.1f}   precision {100 * score.precision:.1f}"
            print(f"{name} dev {level}   {figures}   recall {100 * score.recall:.1f}   at {score.threshold}")
    print(found.aligner.signature)
    print(f"{output}: ready; otalign align --model {output} …")


def _about(
    encoder: str,
    sources: "dict[str, CorpusSplits]",
    problem: Problem | Learned,
    recipe: "Recipe",
    options: dict[str, Any],
) -> dict[str, Any]:
    """All that decides the run."""
    sizes = {name: {"train": len(of.train), "dev": len(of.dev)} for name, of in sources.items()}
    return {
        "encoder": encoder,
        "sources": sizes,
        "problem": repr(problem),
        "recipe": recipe.to_dict(),
        **options,
        "version": __version__,
    }
