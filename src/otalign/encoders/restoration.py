"""Restoration of an exported encoder as a Hugging Face model, so that it can be trained further.

The graph of an exported encoder holds all weights. A linear layer is a product and the sum with its bias,
whose name identifies the layer; in int8, both are one node. Weights in int8 keep their rounding.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from otalign.atomic import copy_atomic, open_atomic, write_atomic
from otalign.encoders.onnx import MODEL, TOKENIZER
from otalign.encoders.pretrained import MIX
from otalign.encoders.quantization import PRODUCT

CONFIG_KEY, MIX_KEY = "config", "mix"  # metadata keys that describe the model
PREFIX = "model."  # prefix of the names of weights in a graph
QUANTIZED = "_quantized"  # suffix of the names of weights in int8
BIAS = "bias"  # end of the name of the bias of a linear layer


def describe_model(config: Any, layer: int, mix: np.ndarray | None) -> dict[str, str]:
    """Return the metadata of an exported encoder that `restore` needs.

    Args:
        config: Configuration of the Hugging Face model.
        layer: Layer at which it is exported.
        mix: Weights of its last layers, if training has mixed them.
    """
    values = config.to_dict() | {"num_hidden_layers": layer}
    saved = {
        key: value for key, value in values.items() if key not in ("_name_or_path", "transformers_version")
    }
    about = {CONFIG_KEY: json.dumps(saved, sort_keys=True)}
    return about if mix is None else about | {MIX_KEY: json.dumps(mix.tolist())}


def restore(exported: Path, folder: Path) -> None:
    """Write an exported encoder as a Hugging Face model.

    Args:
        exported: Folder of the exported encoder.
        folder: Folder to write to.

    Raises:
        ValueError: If the encoder was exported by an earlier version.
        ImportError: If onnx is missing.
    """
    try:
        import onnx
    except ImportError as error:
        name = exported.name
        raise ImportError(f"training {name} further needs onnx: pip install 'otalign[export]'") from error
    from safetensors.numpy import save

    model = onnx.load(exported / MODEL, load_external_data=False)
    about = {entry.key: entry.value for entry in model.metadata_props}
    if CONFIG_KEY not in about or any(node.op_type == "MatMulInteger" for node in model.graph.node):
        raise ValueError(
            f"{exported} was exported by an earlier version, which training cannot read; export it again, or "
            "give the encoder that was exported"
        )
    write_atomic(folder / "config.json", about[CONFIG_KEY])
    with open_atomic(folder / "model.safetensors") as file:
        file.write(save(read_weights(model.graph), {"format": "pt"}))
    copy_atomic(exported / TOKENIZER, folder / TOKENIZER)
    if MIX_KEY in about:
        with open_atomic(folder / MIX) as file:
            np.save(file, np.array(json.loads(about[MIX_KEY]), dtype=np.float32))


def read_weights(graph: Any) -> dict[str, np.ndarray]:
    """Read the weights of a model from the graph of its export, by the names of the Hugging Face model."""
    from onnx import numpy_helper

    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    makers = {output: node for node in graph.node for output in node.output}
    weights = {name: array for name, array in constants.items() if array.dtype == np.float32}
    for name, array in constants.items():
        if name.startswith(PREFIX) and name.endswith(QUANTIZED):
            original = name.removesuffix(QUANTIZED)
            weights[original] = _dequantize(
                array, constants[f"{original}_zero_point"], constants[f"{original}_scale"]
            )
    for node in graph.node:
        layer, matrix = _read_layer(node, makers, constants)
        if matrix is not None and layer.endswith(BIAS):
            weights[layer.removesuffix(BIAS) + "weight"] = matrix.T
    return {
        name.removeprefix(PREFIX): np.ascontiguousarray(array)
        for name, array in weights.items()
        if name.startswith(PREFIX)
    }


def _read_layer(
    node: Any, makers: dict[str, Any], constants: dict[str, np.ndarray]
) -> tuple[str, np.ndarray | None]:
    """Return the name of a linear layer's bias, and its matrix (inputs, outputs); None for other nodes."""
    if node.op_type == PRODUCT:  # without a bias, there is no name
        _, weight, _, scale, _, zero_point, *bias = node.input
        return "".join(bias), _dequantize(constants[weight], constants[zero_point], constants[scale])
    if node.op_type == "Add" and node.input[0] in makers and node.input[1] in constants:
        product = makers[node.input[0]]
        if product.op_type == "MatMul":
            return node.input[1], constants.get(product.input[1])
    return "", None


def _dequantize(array: np.ndarray, zero_point: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return ((array.astype(np.float32) - zero_point) * scale).astype(np.float32)
