"""Quantization of an exported encoder to int8: weights per channel, activations with fixed ranges.

Dynamic quantization takes the range of an activation from the current batch, so that the numbers of a pair
depend on the other pairs. Here the ranges are observed once, on calibration inputs, and become constants
of the graph: a pair gives the same numbers in every batch.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

Range = tuple[float, float]
Feed = Mapping[str, np.ndarray]  # the inputs of a model by name

LEVELS = 255  # steps of an unsigned byte
CONTRIBUTED = "com.microsoft"  # domain of the operators that onnxruntime adds to those of ONNX
PRODUCT = "MatMulIntegerToFloat"


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
    """Replace dynamic ranges of activations by constants, and fuse products with their scales and biases.

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
    nodes: list[Any] = []
    for node in model.graph.node:
        if node.op_type != "DynamicQuantizeLinear":
            nodes.append(node)
            continue
        (activation,), (quantized, scale, zero_point) = node.input, node.output
        low, high = ranges[activation]
        step = (high - low) / LEVELS or 1.0
        graph.initializer.extend(
            [
                numpy_helper.from_array(np.array(step, dtype=np.float32), scale),
                numpy_helper.from_array(np.array(round(-low / step), dtype=np.uint8), zero_point),
            ]
        )
        nodes.append(helper.make_node("QuantizeLinear", [activation, scale, zero_point], [quantized]))
    constants = {tensor.name for tensor in graph.initializer}
    del graph.node[:]
    graph.node.extend(_fuse_products(nodes, constants))
    fixed.opset_import.append(helper.make_opsetid(CONTRIBUTED, 1))
    return fixed


def _fuse_products(nodes: Sequence[Any], constants: AbstractSet[str]) -> list[Any]:
    """Replace each product of integers, the conversion of its result, its scales and its bias by one node.

    The numbers are the same, but each is written to memory once.
    """
    from onnx import helper

    uses = Counter(name for node in nodes for name in node.input)
    scales: dict[str, Sequence[str]] = {}  # scale of the activation and of the weight, by their product
    products: dict[str, Any] = {}  # by the name of their result
    fused: list[Any] = []
    for node in nodes:
        name, (result, *_) = node.input[0], node.output
        if node.op_type == "MatMulInteger":
            products[result] = node
        elif node.op_type == "Cast" and name in products:
            products[result] = products[name]
        elif node.op_type == "Mul" and constants >= set(node.input):
            scales[result] = node.input
        elif node.op_type == "Mul" and name in products:
            values, zero_points = products[name].input[:2], products[name].input[2:]
            inputs = [*values, *scales[node.input[1]], *zero_points]
            fused.append(helper.make_node(PRODUCT, inputs, [result], domain=CONTRIBUTED))
            products[result] = fused[-1]
        elif node.op_type == "Add" and name in products and uses[name] == 1 and node.input[1] in constants:
            products[name].input.append(node.input[1])
            products[name].output[0] = result
        else:
            fused.append(node)
    return fused
