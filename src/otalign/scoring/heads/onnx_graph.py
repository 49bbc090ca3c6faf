"""A writer of ONNX graphs: just enough of the format for a head, without the library `onnx`.

A model file is a message of protobuf, a sequence of fields. The numbers of fields are those of `onnx.proto`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from struct import pack
from typing import Any, Union

import numpy as np

IR_VERSION = 9  # of the format
OPSETS = {"": 18, "com.microsoft": 1}  # versions of the operators of ONNX and of those that onnxruntime adds
ELEMENT_TYPES = {np.dtype(kind): k for kind, k in [("f4", 1), ("u1", 2), ("i1", 3), ("i8", 7)]}
FLOAT, INT, INTS = 1, 2, 7  # types of attributes

Operand = Union["Value", float, np.ndarray]


@dataclass(frozen=True)
class Value:
    """A value in a graph. Operators add nodes to the graph, and broadcast as in NumPy."""

    graph: "Graph"
    name: str

    def __add__(self, other: Operand) -> "Value":
        return self.graph.apply("Add", self, other)

    def __sub__(self, other: Operand) -> "Value":
        return self.graph.apply("Sub", self, other)

    def __rsub__(self, other: Operand) -> "Value":
        return self.graph.apply("Sub", other, self)

    def __mul__(self, other: Operand) -> "Value":
        return self.graph.apply("Mul", self, other)

    def __truediv__(self, other: Operand) -> "Value":
        return self.graph.apply("Div", self, other)

    def __matmul__(self, other: Operand) -> "Value":
        return self.graph.apply("MatMul", self, other)

    def __gt__(self, other: Operand) -> "Value":
        """Return 1 where it is greater, else 0."""
        return self.graph.apply("Cast", self.graph.apply("Greater", self, other), to=FLOAT)


class Graph:
    """A graph under construction."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []
        self._inputs: list[bytes] = []

    def add_input(self, name: str, shape: Sequence[str | int], kind: type = np.float32) -> Value:
        """Add an input of a type with the given dimensions; a name stands for any size."""
        self._inputs.append(_format_value(name, shape, kind))
        return Value(self, name)

    def apply(self, operator: str, *operands: Operand, domain: str = "", **attributes: Any) -> Value:
        """Add a node, and return its output. Numbers and arrays become constants."""
        inputs = [x.name if isinstance(x, Value) else self._add_constant(x) for x in operands]
        name = f"value_{len(self._nodes)}"
        fields: list[tuple[int, str | bytes]] = [*((1, x) for x in inputs), (2, name), (4, operator)]
        fields += [(7, domain), *((5, _format_attribute(*item)) for item in attributes.items())]
        self._nodes.append(_format(fields))
        return Value(self, name)

    def serialize(self, outputs: Iterable[tuple[Value, Sequence[str | int]]]) -> bytes:
        """Return the model, given its outputs with their shapes."""
        parts = {1: self._nodes, 2: ["head"], 5: self._constants, 11: self._inputs}
        parts[12] = [_format_value(value.name, shape) for value, shape in outputs]
        graph = _format((number, part) for number, content in parts.items() for part in content)
        opsets = [(8, _format([(1, domain), (2, version)])) for domain, version in OPSETS.items()]
        return _format([(1, IR_VERSION), (7, graph), *opsets])

    def _add_constant(self, value: float | np.ndarray) -> str:
        name, array = f"constant_{len(self._constants)}", np.asarray(value)
        if array.dtype.kind == "f":
            array = array.astype(np.float32)
        dimensions = ((1, size) for size in array.shape)
        tensor = [*dimensions, (2, ELEMENT_TYPES[array.dtype]), (8, name), (9, array.tobytes())]
        self._constants.append(_format(tensor))
        return name


def _format_value(name: str, shape: Sequence[str | int], kind: type = np.float32) -> bytes:
    sizes = [_format([(2 if isinstance(size, str) else 1, size)]) for size in shape]
    tensor = _format([(1, ELEMENT_TYPES[np.dtype(kind)]), (2, _format((1, size) for size in sizes))])
    return _format([(1, name), (2, _format([(1, tensor)]))])


def _format_attribute(name: str, value: float | int | Sequence[int]) -> bytes:
    match value:
        case int():
            return _format([(1, name), (3, value), (20, INT)])
        case float():
            return _format([(1, name), (2, value), (20, FLOAT)])
    return _format([(1, name), *((8, item) for item in value), (20, INTS)])


def _format(fields: Any) -> bytes:
    """Return a message of fields (number, value)."""
    return b"".join(part for number, value in fields for part in _format_field(number, value))


def _format_field(number: int, value: int | float | str | bytes) -> Iterator[bytes]:
    match value:
        case int():
            yield _format_integer(number << 3) + _format_integer(value)
        case float():
            yield _format_integer(number << 3 | 5) + pack("<f", value)
        case _:
            content = value.encode() if isinstance(value, str) else value
            yield _format_integer(number << 3 | 2) + _format_integer(len(content))
            yield content


def _format_integer(value: int) -> bytes:
    """Return a natural number in groups of seven bits, the lowest first; all but the last have an eighth."""
    groups = []
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    return bytes([*groups, value])
