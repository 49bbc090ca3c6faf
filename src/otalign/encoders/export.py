"""Export of a Hugging Face encoder at a layer to a folder that `Onnx` runs, in float32 or int8.

The exported encoder is compared with the original on whole sentences before it is moved to its folder.
"""

import logging
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from otalign.encoders.encoder import INPUTS, Encoder, Pairing
from otalign.encoders.onnx import MODEL, TOKENIZER, Onnx
from otalign.encoders.restoration import describe_model
from otalign.encoders.transformers import Transformers
from otalign.text.words import Text, to_pair, tokenize

TOLERANCE = 1e-4  # float32: largest difference of any number in an embedding
ALIKE = 0.9  # int8: minimum mean cosine between embeddings and the original's

PAIRINGS: tuple[Pairing, ...] = ("joint", "separate")

# Sentences to compare and to calibrate on: short, long, unusual letters, numbers, and an empty one.
TEXTS = (
    "The committee will publish its findings early next week .",
    "Its results are going to be made public by the panel within days .",
    "yes",
    "",
    "Ça coûte 1,234.56 € — naïve café-goers paid 50% more in 2019 !",
    "北京 の 天気 は 😀 ﷺ xqzzkj https://example.org/a?b=c",
    "Rain fell on the hills , and then on the town , and then on the harbour , " * 12,
)


def check_new(folder: Path) -> None:
    """Check that a folder does not exist yet, or is empty.

    Args:
        folder: The folder.

    Raises:
        ValueError: If it is not.
    """
    file = next((part for part in (folder, *folder.parents) if part.is_file()), None)
    if file:
        raise ValueError(f"{file} is a file; choose a new folder")
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} already exists and is not empty; choose a new folder")


def export(
    original: Transformers,
    folder: Path,
    *,
    int8: bool = False,
    calibration: Iterable[tuple[Text, Text]] = (),
) -> str:
    """Export an encoder.

    Args:
        original: The encoder.
        folder: A new folder.
        int8: Whether to quantize to int8.
        calibration: Sentence pairs on which the ranges of activations are observed for int8, besides `TEXTS`.

    Returns:
        The result of the comparison with the original, as text.

    Raises:
        ValueError: If the folder exists, or the exported encoder differs too much.
        ImportError: If onnx or onnxscript is missing.
    """
    check_new(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Written to a temporary folder first, so that an encoder that fails the comparison is never used.
    with TemporaryDirectory(dir=folder.parent, prefix=".export-") as temporary:
        _write(original, Path(temporary), int8, calibration)
        exported = Onnx(temporary)
        result = _compare(original, exported, int8)
        folder.mkdir(exist_ok=True)
        exported.save(folder)
    return result


def _write(
    original: Transformers, folder: Path, int8: bool, calibration: Iterable[tuple[Text, Text]]
) -> None:
    try:
        import onnx
        import onnxscript  # noqa: F401 (torch's exporter needs it, and its error is less clear)
    except ImportError as error:
        raise ImportError("exporting needs onnx and onnxscript: pip install 'otalign[export]'") from error
    graph = make_graph(original)
    if int8:
        from otalign.encoders.quantization import quantize

        _approximate_gelu(graph)
        with _quiet():
            graph = quantize(graph, make_calibration_feeds(original, calibration))
    about = {"name": original.name, "layer": original.layer, "limit": original.limit, "pad": original.pad}
    about |= describe_model(original.model.config, original.layer, original.mix)
    remove_traces(graph)
    onnx.helper.set_model_props(graph, {key: str(value) for key, value in about.items()})
    onnx.save(graph, folder / MODEL)
    original.subword_tokenizer.tokenizer.save(str(folder / TOKENIZER))


def make_calibration_feeds(
    encoder: Encoder, pairs: Iterable[tuple[Text, Text]] = ()
) -> Iterator[dict[str, Any]]:
    """Prepare inputs to observe the ranges of activations on: sentence pairs and `TEXTS`, without padding."""
    texts = [tokenize(text) for text in TEXTS]
    all_pairs = [to_pair(pair) for pair in pairs]
    all_pairs += [(source, target) for source in texts for target in texts]
    reader = replace(encoder.reader, padding=False)
    for pairing in PAIRINGS:
        for batch in reader.prepare(all_pairs, pairing).batches:
            arrays = dict[str, np.ndarray](zip(INPUTS, (batch.ids, batch.mask, batch.types), strict=True))
            yield {name: arrays[name] for name in encoder.inputs}


def make_graph(original: Transformers) -> Any:
    """Convert the model up to its layer to ONNX, for batches and lengths of any size."""
    import torch

    names = original.inputs
    example = tuple(torch.ones((2, 8), dtype=torch.int64) for _ in names)
    sizes = {0: torch.export.Dim("batch"), 1: torch.export.Dim("length", max=original.limit)}
    with _quiet(), _plain_attention(original.model):
        exported = torch.onnx.export(
            original.as_module(),
            example,
            input_names=names,
            output_names=["states"],
            dynamic_shapes=(tuple(sizes for _ in names),),
            dynamo=True,
            verbose=False,
        )
    assert exported is not None
    return exported.model_proto


def remove_traces(model: Any) -> None:
    """Remove metadata of the export such as stack traces, which contain paths of this machine."""
    graph = model.graph
    for part in (graph, *graph.node, *graph.value_info, *graph.input, *graph.output, *graph.initializer):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")


def _approximate_gelu(graph: Any) -> None:
    """Compute Gelu by tanh instead of erf: a third faster, and closer to it than int8 is precise."""
    import onnx

    for node in graph.graph.node:
        if node.op_type == "Gelu":
            del node.attribute[:]
            node.attribute.append(onnx.helper.make_attribute("approximate", "tanh"))


@contextmanager
def _plain_attention(model: Any) -> Iterator[None]:
    """Use eager attention, since the graph of torch's own has extra steps for rows without a subword."""
    before = model.config._attn_implementation
    model.config._attn_implementation = "eager"
    try:
        yield
    finally:
        model.config._attn_implementation = before


def _compare(original: Encoder, exported: Encoder, int8: bool) -> str:
    """Compare two encoders on `TEXTS`; return the result as text, or raise ValueError."""
    sentences = [tokenize(text) for text in TEXTS]
    pairs = [(source, target) for source in sentences for target in sentences]
    x, y = (
        np.concatenate([encoder.embed(pairs, pairing).vectors for pairing in PAIRINGS])
        for encoder in (original, exported)
    )
    worst = float(abs(x - y).max())
    lengths = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    cosine = float((np.sum(x * y, axis=1) / lengths).mean())
    checked = (
        f"mean cosine {cosine:.4f} (at least {ALIKE} is needed)"
        if int8
        else f"largest difference {worst:.1e} (at most {TOLERANCE:g} is allowed)"
    )
    result = f"{len(x):,} words compared with the original, {checked}"
    if not (cosine >= ALIKE if int8 else worst <= TOLERANCE):
        raise ValueError(f"the exported encoder is too different: {result}; nothing was written")
    return result


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the exporters, which warn at length about things that are not needed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = logging.root.manager.disable
        logging.disable(logging.WARNING)
        try:
            yield
        finally:
            logging.disable(before)
