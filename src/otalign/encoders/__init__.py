"""Encoders: sentences → word embeddings. The only package that imports a model library."""

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

EXPORTED, HUGGING_FACE = "encoder.onnx", "config.json"  # files that identify the two kinds of folder


def has_encoder(folder: Path) -> bool:
    """Return whether a folder holds an encoder."""
    return any((folder / file).is_file() for file in (EXPORTED, HUGGING_FACE))


def list_layers(model: str | Path) -> range:
    """Return the layers at which an encoder can be loaded.

    Args:
        model: As for `load`.

    Returns:
        All layers of a Hugging Face model, or its last one if training has mixed layers; the only layer of an
        exported encoder.
    """
    from otalign.encoders.onnx import Onnx
    from otalign.encoders.pretrained import read_depth, read_mix

    if (Path(model) / EXPORTED).is_file():
        layer = Onnx(model).layer
        return range(layer, layer + 1)
    last = read_depth(str(model))
    return range(0 if read_mix(Path(model)) is None else last, last + 1)


def load(
    model: str | Path,
    layer: int | None = None,
    *,
    device: str | None = None,
    threads: int | None = None,
    batch_size: int | None = None,
    precision: Precision = "float32",
) -> Encoder:
    """Load an encoder.

    Args:
        model: Folder of an exported encoder or of a Hugging Face model, or a model's name on the hub.
        layer: Layer to use; 0 is the embedding layer, None the default.
        device: Device of torch; None for the best available.
        threads: Number of threads; None for all processors.
        batch_size: Subwords per batch, padding included; None for a size that suits the device.
        precision: Precision of a Hugging Face model: float32 or, faster on a GPU, bfloat16.

    Returns:
        The encoder.

    Raises:
        ValueError: If the model cannot be read, or does not have such options.
        ImportError: If torch or transformers are needed and missing.
    """
    from otalign.encoders.onnx import Onnx
    from otalign.encoders.transformers import Transformers

    if not (Path(model) / EXPORTED).is_file():
        return Transformers(
            str(model), layer, device=device, threads=threads, batch_size=batch_size, precision=precision
        )
    name = Path(model).name
    if precision != "float32":
        raise ValueError(f"precision must be 'float32' for the exported encoder {name}, got {precision!r}")
    if device not in (None, "cpu"):
        raise ValueError(f"device must be 'cpu' for the exported encoder {name}, got {device!r}")
    encoder = Onnx(model, threads=threads, batch_size=batch_size)
    if layer not in (None, encoder.layer):
        raise ValueError(f"layer must be {encoder.layer}, at which {name} was exported, got {layer}")
    return encoder
