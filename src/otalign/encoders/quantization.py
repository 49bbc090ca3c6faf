"""Quantization of an exported encoder to int8: weights per channel, activations with fixed ranges.

Dynamic quantization takes the range of an activation from the current batch, so that the numbers of a pair
depend on the other pairs. Here the ranges are observed once, on calibration inputs, and become constants
of the graph: a pair gives the same numbers in every batch.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

Range = tuple[float, float]
Feed = Mapping[str, np.ndarray]  # the inputs of a model by name

LEVELS = 255  # steps of an unsigned byte


def quantize(model: Any, feeds: Iterable[Feed]) -> Any:
    """Quantize a float32 ONNX model to int8.

    Args:
        model: An `onnx.ModelProto`.
        feeds: Inputs to observe the ranges of activations on.

    Returns:
        The quantized `onnx.ModelProto`.
    """
    dynamic = quantize_weights(model)
    return fix_ranges(dynamic, observe_ranges(model, find_activations(dynamic), feeds))


def quantize_weights(model: Any) -> Any:
    """Quantize the weights of a model to int8; activations are quantized with the range of each batch."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with TemporaryDirectory() as folder:
        original, quantized = Path(folder) / "float32.onnx", Path(folder) / "int8.onnx"
        onnx.save(model, original)
        # Seven bits: with eight, sums overflow on processors that have no instructions for int8.
        quantize_dynamic(
            original, quantized, per_channel=True, reduce_range=True, weight_type=QuantType.QInt8
        )
        return onnx.load(quantized)


def find_activations(model: Any) -> list[str]:
    """Find the names of the activations that a dynamically quantized model quantizes."""
    nodes = (node for node in model.graph.node if node.op_type == "DynamicQuantizeLinear")
    return list(dict.fromkeys(node.input[0] for node in nodes))


def observe_ranges(model: Any, activations: Sequence[str], feeds: Iterable[Feed]) -> dict[str, Range]:
    """Run a model and observe the ranges of activations.

    Args:
        model: An `onnx.ModelProto`; it is not changed.
        activations: The names of values inside its graph.
        feeds: The inputs to run it on, without padding.

    Returns:
        The smallest and the largest value of each activation; zero is always between them.
    """
    import onnx
    import onnxruntime

    observed = onnx.ModelProto()
    observed.CopyFrom(model)
    del observed.graph.output[:]
    observed.graph.output.extend(
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in activations
    )
    options: Any = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        observed.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    ranges = dict.fromkeys(activations, (0.0, 0.0))
    for feed in feeds:
        values = map(np.asarray, session.run(list(activations), dict(feed)))
        for name, value in zip(activations, values, strict=True):
            low, high = ranges[name]
            ranges[name] = min(low, float(value.min())), max(high, float(value.max()))
    return ranges


def fix_ranges(model: Any, ranges: Mapping[str, Range]) -> Any:
    """Replace dynamic ranges of activations by constants.

    Args:
        model: An `onnx.ModelProto` with `DynamicQuantizeLinear` nodes; it is not changed.
        ranges: The range of each activation that is quantized, by name.

    Returns:
        The same model with `QuantizeLinear` nodes; values outside a range are clipped to it.
    """
    import onnx
    from onnx import helper, numpy_helper

    fixed = onnx.ModelProto()
    fixed.CopyFrom(model)
    graph = fixed.graph
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    nodes: list[Any] = []

    def add_constant(name: str, value: np.ndarray) -> None:
        constants[name] = value
        graph.initializer.append(numpy_helper.from_array(value, name))

    for node in model.graph.node:
        if node.op_type == "DynamicQuantizeLinear":
            (activation,), (quantized, scale, zero_point) = node.input, node.output
            low, high = ranges[activation]
            step = (high - low) / LEVELS or 1.0
            add_constant(scale, np.array(step, dtype=np.float32))
            add_constant(zero_point, np.array(round(-low / step), dtype=np.uint8))
            nodes.append(helper.make_node("QuantizeLinear", [activation, scale, zero_point], [quantized]))
        elif node.op_type == "Mul" and all(name in constants for name in node.input):
            add_constant(node.output[0], np.multiply(*(constants[name] for name in node.input)))
        else:
            nodes.append(node)
    del graph.node[:]
    graph.node.extend(nodes)
    used = {name for node in nodes for name in node.input}
    # Without the factors of products that became constants.
    initializers = [tensor for tensor in graph.initializer if tensor.name in used]
    del graph.initializer[:]
    graph.initializer.extend(initializers)
    return fixed
