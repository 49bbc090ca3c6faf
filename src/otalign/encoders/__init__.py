"""Sentences → word embeddings: the only part that knows a model library."""

from pathlib import Path

from otalign.encoders.embeddings import Embeddings
from otalign.encoders.encoder import Encoder, Precision
from otalign.encoders.prepared import Pairing, PairPreparer, PreparedPairs

__all__ = [
    "Embeddings",
    "Encoder",
    "PairPreparer",
    "Pairing",
    "Precision",
    "PreparedPairs",
    "has_encoder",
    "list_layers",
    "load",
]

EXPORTED, HUGGING_FACE = "encoder.onnx", "config.json"  # by which the two kinds of folder are known


def has_encoder(folder: Path) -> bool:
    """Return whether a folder holds an encoder."""
    return any((folder / file).is_file() for file in (EXPORTED, HUGGING_FACE))


def list_layers(model: str | Path) -> range:
    """Return the layers at which an encoder can be loaded.

    These are all layers of a Hugging Face model, the last one if training has mixed them, and the only layer
    of an exported encoder.
    """
    from otalign.encoders.onnx import Onnx
    from otalign.encoders.pretrained import depth, mix_in

    if (Path(model) / EXPORTED).is_file():
        layer = Onnx(model).layer
        return range(layer, layer + 1)
    last = depth(str(model))
    return range(0 if mix_in(Path(model)) is None else last, last + 1)


def load(
    model: str | Path,
    layer: int | None = None,
    *,
    device: str | None = None,
    threads: int | None = None,
    batch_size: int | None = None,
    precision: Precision = "float32",
) -> Encoder:
    """The encoder in a folder, exported or of Hugging Face, or of that name on the hub, at a layer.

    `batch_size` counts the subwords, padding included, that the model sees at once; None suits the device.
    `precision` is that in which a model of Hugging Face works, float32 or, faster on a GPU, bfloat16.
    """
    from otalign.encoders.onnx import Onnx
    from otalign.encoders.transformers import Transformers

    if not (Path(model) / EXPORTED).is_file():
        return Transformers(
            str(model), layer, device=device, threads=threads, batch_size=batch_size, precision=precision
        )
    if precision != "float32":
        raise ValueError(f"precision was chosen when {model} was exported; leave {precision!r} out")
    if device not in (None, "cpu"):
        raise ValueError(f"device must be 'cpu' for the exported encoder {model}, got {device!r}")
    encoder = Onnx(model, threads=threads, batch_size=batch_size)
    if layer not in (None, encoder.layer):
        raise ValueError(f"layer must be {encoder.layer}, at which {model} was exported, got {layer}")
    return encoder
