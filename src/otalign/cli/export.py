"""`otalign export`: an encoder or an aligner for ONNX Runtime, which needs no torch."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from otalign.aligner import Aligner
from otalign.cli.methods import read_training_pairs
from otalign.cli.options import DataFolder
from otalign.cli.panels import INPUT, MODEL, OUTPUT
from otalign.cli.terminal import show_activity
from otalign.encoders.export import check_new
from otalign.encoders.export import export as export_encoder
from otalign.encoders.onnx import Onnx
from otalign.encoders.transformers import Transformers
from otalign.settings import SETTINGS

CALIBRATION_PAIRS = 300  # more change no range of activations noticeably


def export(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="Folder of an aligner or encoder, or the name of an encoder on the hub.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FOLDER", help="New folder to write.", rich_help_panel=OUTPUT),
    ],
    layer: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Last encoder layer to keep.",
            show_default="chosen for the encoder",
            rich_help_panel=MODEL,
        ),
    ] = None,
    int8: Annotated[
        bool,
        typer.Option(
            "--int8",
            help="Quantize to 8-bit integers: a quarter of the size, and faster.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    calibration: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE|CORPUS",
            help="Sentence pairs to calibrate --int8 on, beside a few in the package: a file, a corpus, or "
            "CORPUS:SPLIT; may be repeated.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    data: DataFolder = None,
) -> None:
    """Export a model to ONNX, to run it without torch.

    The result is compared with the original on a few sentences before it is saved. An aligner stays an
    aligner. With --int8 the ranges of activations are fixed, so that a pair gets the same links alone and in
    any batch.

    Examples:
        otalign export bert-base-uncased --layer 8 -o bert-onnx/
        otalign export my-aligner/ --int8 --calibration pairs.tsv -o small-aligner/
    """
    check_new(output)
    if calibration and not int8:
        raise ValueError("--calibration applies only to --int8; add --int8 or remove --calibration")
    pairs = [
        pair for some in read_training_pairs(calibration or [], False, data, "--calibration") for pair in some
    ]
    sample = random.Random(0).sample(pairs, min(len(pairs), CALIBRATION_PAIRS))
    with show_activity("exporting"):
        aligner = Aligner.load(model, layer=layer, device="cpu")
        if not isinstance(aligner.encoder, Transformers):
            raise ValueError(f"{model} is exported already; give the encoder that it was made from")
        compared = export_encoder(aligner.encoder, output, int8=int8, calibration=sample)
        if (Path(model) / SETTINGS).is_file():
            replace(aligner, encoder=Onnx(output)).save(output)
    print(f"{output}: {compared}")
