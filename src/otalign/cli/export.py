"""`otalign export`: an encoder, or the encoder of an aligner, for onnxruntime."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from otalign.aligner import SETTINGS, Aligner
from otalign.encoders.export import check_new
from otalign.encoders.export import export as written_as_onnx
from otalign.encoders.onnx import Onnx
from otalign.encoders.transformers import Transformers


def export(
    model: Annotated[
        str,
        typer.Argument(help="An encoder's folder or name on the Hugging Face hub, or an aligner's folder."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="A new folder to make.")],
    layer: Annotated[int | None, typer.Option(help="The last layer to keep.")] = None,
    int8: Annotated[bool, typer.Option("--int8", help="A quarter of the size, and faster.")] = False,
) -> None:
    """Export an encoder up to a layer, in float32 or int8, to run without torch.

    The result is compared with the original on sentences before it is put in its place. An aligner's folder
    becomes an aligner's folder.

    Example: otalign export bert-base-uncased --layer 8 --int8 -o bert-int8
    """
    check_new(output)
    aligner = Aligner.load(model, layer=layer, device="cpu")
    if not isinstance(aligner.encoder, Transformers):
        raise ValueError(f"{model} is exported already; give the encoder that it was made from")
    compared = written_as_onnx(aligner.encoder, output, int8=int8)
    if (Path(model) / SETTINGS).is_file():
        replace(aligner, encoder=Onnx(output)).save(output)
    print(f"{output}: {compared}")
