"""A Hugging Face encoder at a layer → the folder that `Onnx` runs, in float32 or int8, checked.

What stands in the folder was compared with the original on whole sentences before it was put there.
"""

import logging
import shutil
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
from otalign.encoders.transformers import Transformers
from otalign.text.words import Text, to_sentence, tokenize

TOLERANCE = 1e-4  # of float32: the largest difference of any number in an embedding
ALIKE = 0.9  # of int8: the least mean cosine between a word's embedding and the original

PAIRINGS: tuple[Pairing, ...] = ("joint", "separate")

# Sentences to compare and to calibrate on: short, long, odd letters, numbers, nothing at all.
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
    """That there is nothing at a place where a folder is to be made."""
    if folder.is_file():
        raise ValueError(f"{folder} is a file; give a new folder")
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} is there already and not empty; give a new folder")


def export(
    original: Transformers,
    folder: Path,
    *,
    int8: bool = False,
    calibration: Iterable[tuple[Text, Text]] = (),
) -> str:
    """Write the folder, and give what the comparison with the original found, in words.

    In int8, the ranges of activations are observed on the sentence pairs of `calibration` and on some of the
    package's own.
    """
    check_new(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Made beside its place and moved there, so that what fails the comparison is never taken for good.
    with TemporaryDirectory(dir=folder.parent, prefix=".export-") as made:
        _write(original, Path(made), int8, calibration)
        said = _compare(original, Onnx(made), int8)
        shutil.copytree(made, folder, dirs_exist_ok=True)
    return said


def _write(
    original: Transformers, folder: Path, int8: bool, calibration: Iterable[tuple[Text, Text]]
) -> None:
    try:
        import onnx
        import onnxscript  # noqa: F401 (torch's exporter needs it, and says so less well)
    except ImportError as error:
        raise ImportError("exporting needs onnx and onnxscript: pip install 'otalign[export]'") from error
    graph = make_graph(original)
    if int8:
        from otalign.encoders.quantization import quantize

        _approximate_gelu(graph)
        with _quiet():
            graph = quantize(graph, calibration_feeds(original, calibration))
    about = {"name": original.name, "layer": original.layer, "limit": original.limit, "pad": original.pad}
    remove_traces(graph)
    onnx.helper.set_model_props(graph, {key: str(value) for key, value in about.items()})
    onnx.save(graph, folder / MODEL)
    original.subworder.tokenizer.save(str(folder / TOKENIZER))


def calibration_feeds(encoder: Encoder, pairs: Iterable[tuple[Text, Text]] = ()) -> Iterator[dict[str, Any]]:
    """Prepare model inputs that show the ranges of activations: sentence pairs and `TEXTS`, not padded."""
    texts = [tokenize(text) for text in TEXTS]
    every = [(to_sentence(source), to_sentence(target)) for source, target in pairs]
    every += [(source, target) for source in texts for target in texts]
    reader = replace(encoder.reader, padding=False)
    for pairing in PAIRINGS:
        for batch in reader.prepare(every, pairing).batches:
            given = dict[str, np.ndarray](zip(INPUTS, (batch.ids, batch.mask, batch.types), strict=True))
            yield {name: given[name] for name in encoder.inputs}


def make_graph(original: Transformers) -> Any:
    """The model up to its layer, for batches and lengths of any size."""
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
    """Remove what torch notes of the export, such as stack traces, which hold paths of this machine."""
    graph = model.graph
    for part in (graph, *graph.node, *graph.value_info, *graph.input, *graph.output, *graph.initializer):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")


def _approximate_gelu(graph: Any) -> None:
    """Gelu by tanh instead of erf: a third faster, and what int8 rounds away is far more than they differ."""
    import onnx

    for node in graph.graph.node:
        if node.op_type == "Gelu":
            del node.attribute[:]
            node.attribute.append(onnx.helper.make_attribute("approximate", "tanh"))


@contextmanager
def _plain_attention(model: Any) -> Iterator[None]:
    """Attention step by step: of torch's own, a graph guards each step against rows without a subword."""
    before = model.config._attn_implementation
    model.config._attn_implementation = "eager"
    try:
        yield
    finally:
        model.config._attn_implementation = before


def _compare(original: Encoder, made: Encoder, int8: bool) -> str:
    """How close the two are on `TEXTS`, in words; an error if it is not close enough."""
    sentences = [tokenize(text) for text in TEXTS]
    pairs = [(source, target) for source in sentences for target in sentences]
    x, y = (
        np.concatenate([encoder.embed(pairs, pairing).vectors for pairing in PAIRINGS])
        for encoder in (original, made)
    )
    worst = float(abs(x - y).max())
    lengths = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    cosine = float((np.sum(x * y, axis=1) / lengths).mean())
    said = f"{len(x):,} words compared: largest difference {worst:.1e}, mean cosine {cosine:.6f}"
    if not (cosine >= ALIKE if int8 else worst <= TOLERANCE):
        raise ValueError(f"the exported encoder is not the original ({said}); nothing was written")
    return said


@contextmanager
def _quiet() -> Iterator[None]:
    """The exporters tell at length of what they cannot do and do not need to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = logging.root.manager.disable
        logging.disable(logging.WARNING)
        try:
            yield
        finally:
            logging.disable(before)
