"""`otalign export`: an encoder, or the encoder of an aligner, for onnxruntime."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from otalign.aligner import SETTINGS, Aligner
from otalign.cli.corpus import DataFolder
from otalign.cli.methods import training_pairs
from otalign.encoders.export import check_new
from otalign.encoders.export import export as written_as_onnx
from otalign.encoders.onnx import Onnx
from otalign.encoders.transformers import Transformers

CALIBRATION_PAIRS = 300  # more change no range of activations noticeably


def export(
    model: Annotated[
        str,
        typer.Argument(help="An encoder's folder or name on the Hugging Face hub, or an aligner's folder."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="A new folder to make.")],
    layer: Annotated[int | None, typer.Option(help="The last layer to keep.")] = None,
    int8: Annotated[bool, typer.Option("--int8", help="A quarter of the size, and faster.")] = False,
    calibration: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE|CORPUS[:SPLIT]",
            help="Sentence pairs on which --int8 observes the ranges of activations, beside a few that come "
            "with the package; may be given several times.",
        ),
    ] = None,
    data: DataFolder = None,
) -> None:
    """Export an encoder up to a layer, in float32 or int8, to run without torch.

    The result is compared with the original on sentences before it is put in its place. An aligner's folder
    becomes an aligner's folder. In int8 the ranges of activations are fixed, so that a pair gets the same
    links alone and in any batch.

    Example: otalign export bert-base-uncased --layer 8 --int8 -o bert-int8
    """
    check_new(output)
    if calibration and not int8:
        raise ValueError("--calibration applies only to --int8; add --int8 or remove --calibration")
    pairs = [
        pair for some in training_pairs(calibration or [], False, data, "--calibration") for pair in some
    ]
    sample = random.Random(0).sample(pairs, min(len(pairs), CALIBRATION_PAIRS))
    aligner = Aligner.load(model, layer=layer, device="cpu")
    if not isinstance(aligner.encoder, Transformers):
        raise ValueError(f"{model} is exported already; give the encoder that it was made from")
    compared = written_as_onnx(aligner.encoder, output, int8=int8, calibration=sample)
    if (Path(model) / SETTINGS).is_file():
        replace(aligner, encoder=Onnx(output)).save(output)
    print(f"{output}: {compared}")
