"""The arguments and options of `otalign train`, in the order and the panels of its help."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from otalign.alignment import Level
from otalign.cli.options import DataFolder, LinksFormat, complete_corpus, complete_model
from otalign.cli.training import Precision, TrainableProblem
from otalign.io import CORPORA
from otalign.training.augmentation import KINDS


def _option(panel: str, *names: str, **given: Any) -> Any:
    return typer.Option(*names, rich_help_panel=panel, **given)


class AblatedPart(StrEnum):
    """Parts of learned transport that can be left out."""

    competition = "competition"
    prices = "prices"
    neighbours = "neighbours"
    spelling = "spelling"
    support = "support"


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """The arguments and options of `otalign train`; None stands for the default of the recipe."""

    corpora: Annotated[
        list[str],
        typer.Argument(
            metavar="CORPUS...",
            rich_help_panel="Input",
            help=f"Corpora ({', '.join(CORPORA)}), or files to learn from.",
            autocompletion=complete_corpus,
        ),
    ]
    dev: Annotated[
        list[Path] | None,
        _option("Input", metavar="FILE", help="Dev set of the files; may be given several times."),
    ] = None
    format: LinksFormat = None
    data: DataFolder = None
    fold: Annotated[
        str | None,
        _option(
            "Input",
            metavar="K/N",
            help="Learn from the dev sets too, except for fold K of N.",
        ),
    ] = None
    limit: Annotated[
        int | None, _option("Input", metavar="N", min=1, help="Maximum number of pairs of each set.")
    ] = None
    output: Annotated[
        Path, _option("Output", "--output", "-o", metavar="FOLDER", help="New folder for the aligner.")
    ]
    encoder: Annotated[
        str,
        _option(
            "Model",
            metavar="MODEL",
            envvar="OTALIGN_MODEL",
            help="Folder or Hugging Face name of an encoder; or an aligner to train further, such as small.",
            autocompletion=complete_model,
        ),
    ]
    depth: Annotated[
        int | None, _option("Model", metavar="N", min=1, help="Number of the encoder's first layers to keep.")
    ] = None
    ablate: Annotated[
        list[AblatedPart] | None,
        _option("Model", metavar="PART", help=f"Part to leave out: {', '.join(AblatedPart)}; repeatable."),
    ] = None
    level: Annotated[
        Level | None,
        _option("Training", help="Links to learn.", show_default="both levels; sure with bot, pot and uot"),
    ] = None
    learning_rate: Annotated[
        str | None,
        _option("Training", metavar="RATE[,RATE…]", help="Learning rates to try; the best on dev is kept."),
    ] = None
    epochs: Annotated[
        int | None, _option("Training", metavar="N", min=1, help="Maximum number of epochs.")
    ] = None
    batch_size: Annotated[
        int | None, _option("Training", metavar="N", min=1, help="Number of pairs in a step.")
    ] = None
    patience: Annotated[
        int | None,
        _option(
            "Training",
            metavar="N",
            min=1,
            help="Number of epochs without a better dev F1 after which to stop.",
        ),
    ] = None
    refit: Annotated[
        bool, _option("Training", "--refit", help="Train again on train and dev sets, with all choices kept.")
    ] = False
    seed: Annotated[int, _option("Training", metavar="N", min=0, help="Seed of all random numbers.")] = 1
    teacher: Annotated[
        list[Path] | None,
        _option(
            "Distillation",
            metavar="MODEL",
            help="Trained aligner to learn from, a folder or an installed model; repeatable.",
        ),
    ] = None
    teaching: Annotated[
        float | None,
        _option(
            "Distillation",
            metavar="SHARE",
            min=0,
            max=1,
            help="Share of the teachers in the targets of gold pairs.",
        ),
    ] = None
    unlabelled: Annotated[
        list[Path] | None,
        _option("Distillation", metavar="FILE", help="Pairs without links (tsv or jsonl) for the teachers."),
    ] = None
    unlabelled_limit: Annotated[
        int | None, _option("Distillation", metavar="N", min=1, help="Maximum number of unlabelled pairs.")
    ] = None
    unlabelled_weight: Annotated[
        float | None,
        _option(
            "Distillation",
            metavar="SHARE",
            min=0,
            max=1,
            help="Weight of an unlabelled pair; a gold pair has 1.",
        ),
    ] = None
    gold_share: Annotated[
        float | None,
        _option(
            "Distillation", metavar="SHARE", min=0, max=0.99, help="Minimum share of gold pairs in an epoch."
        ),
    ] = None
    predictions: Annotated[
        Path | None,
        _option("Distillation", metavar="FOLDER", help="Folder that keeps predictions of the teachers."),
    ] = None
    predict: Annotated[
        str | None,
        _option(
            "Distillation",
            metavar="K/N",
            help="Only predict part K of N into --predictions, so that processes share the work.",
        ),
    ] = None
    augment: Annotated[
        list[str] | None,
        _option(
            "Augmentation",
            metavar="KIND=SHARE",
            help="Share of augmented copies of a kind; 0 turns it off, all=0 every kind. "
            f"Kinds: {', '.join(KINDS)}.",
        ),
    ] = None
    synonyms: Annotated[
        Path | None,
        _option("Augmentation", metavar="FILE", help="Groups of synonyms, a line each, separated by tabs."),
    ] = None
    siblings: Annotated[
        Path | None,
        _option(
            "Augmentation", metavar="FILE", help="Groups of words of the same kind, such as fork and spoon."
        ),
    ] = None
    problem: Annotated[
        TrainableProblem, _option("Transport", help="Learned transport, or a problem of the paper.")
    ] = "learned"
    tau: Annotated[
        float | None,
        _option(
            "Transport",
            metavar="NUMBER",
            help="Penalty for words without a link; for --problem uot.",
            show_default="0.4",
        ),
    ] = None
    fraction: Annotated[
        float | None,
        _option(
            "Transport",
            metavar="NUMBER",
            help="Fraction of the shorter sentence to link; for --problem pot.",
            show_default="1",
        ),
    ] = None
    device: Annotated[
        str | None,
        _option(
            "Hardware",
            metavar="NAME",
            help="Device: cpu, cuda or cuda:1.",
            show_default="a GPU if there is one",
        ),
    ] = None
    precision: Annotated[
        Precision | None,
        _option(
            "Hardware", help="Precision of the computation.", show_default="bfloat16 on a GPU, else float32"
        ),
    ] = None
    accumulate: Annotated[
        int,
        _option(
            "Hardware", metavar="N", min=1, help="Number of parts in which a batch is read, to save memory."
        ),
    ] = 1
    workers: Annotated[
        int | None,
        _option(
            "Hardware",
            metavar="N",
            min=0,
            help="Number of processes that prepare batches.",
            show_default="0 on a CPU",
        ),
    ] = None
