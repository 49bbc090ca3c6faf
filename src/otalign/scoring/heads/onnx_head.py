"""A trained head as an ONNX graph, which onnxruntime runs several times as fast as NumPy does.

The formulas are those of `TransportHead`, for float32 on a CPU. All of them are computed in one call, which
does not hold Python's lock. Sums are rounded in the same order whatever the other pairs of a batch are, if
the numbers of words are padded to multiples of `STEP`.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from otalign.alignment import LEVELS, Level
from otalign.encoders.quantization import CONTRIBUTED, PRODUCT
from otalign.scoring.batches import PairRows
from otalign.scoring.heads.onnx_graph import Graph, Value

if TYPE_CHECKING:
    from otalign.scoring.heads.learned_transport import TransportHead

STEP = 4  # words: with fewer, vector instructions leave a rest, which is rounded differently
MASKED = 1e4  # subtracted from the similarity of cells without words
LEAST = 1e-30  # smallest divisor
ZERO, MOST = 128, 63  # zero of a word vector in int8, and the largest weight, of seven bits as in an encoder
SAME = 0.999  # as in `learned_transport`
EPSILON = 1e-7  # smallest probability of which a logarithm is taken
ROWS, COLUMNS = 3, 2  # axes to sum up cells (B, levels, N, M) for each source word or each target word


class OnnxHead:
    """Computes the probabilities of links by onnxruntime. It is thread-safe.

    Args:
        head: The head, with NumPy arrays.
        level: Level of the links.
        int8: Whether to map word vectors in int8. Each has a range of its own, so that scores do not depend
            on the batch.
    """

    def __init__(self, head: "TransportHead", level: Level, int8: bool = False) -> None:
        import onnxruntime

        options: Any = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = 1  # batches run in parallel instead
        model = _GraphBuilder(head, int8).build(level)
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def score(self, rows: PairRows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Compute the calibrated probabilities of links, (B, N, M); 0 where there is no word.

        Args:
            rows: Rows of embeddings in NumPy.

        Returns:
            These, and for source words (B, N) and target words (B, M) the logarithms of the probabilities
            that they have no link, as if links were independent.
        """
        words = {"vectors": rows.embeddings.vectors}
        if rows.embeddings.further is not None:
            words["spelling"] = rows.embeddings.further
        inputs = {name: np.ascontiguousarray(x, dtype=np.float32) for name, x in words.items()}
        links, source, target = self._session.run(
            None, inputs | {"source": rows.source, "target": rows.target}
        )
        return np.asarray(links), np.asarray(source), np.asarray(target)


class _GraphBuilder:
    """Builds the graph of a head. Cells are (B, features, N, M)."""

    def __init__(self, head: "TransportHead", int8: bool) -> None:
        self.head, self.int8, self.graph = head, int8, Graph()

    def build(self, level: Level) -> bytes:
        """Return the model for links of a level."""
        head, graph = self.head, self.graph
        rows = [graph.add_input(name, ["B", n], np.int64) for name, n in (("source", "N"), ("target", "M"))]
        vectors = graph.add_input("vectors", ["W", len(head.offset)])
        source, target = (graph.apply("Gather", vectors, x) for x in rows)
        self.is_word = [x > np.array(-1) for x in rows]
        self.mask = self._combine("Mul", *self.is_word)
        self.padding = (self.mask - 1.0) * MASKED
        spelling = self._compare_spelling(rows) if head.reads_spelling else []
        X, Y = self._map(source), self._map(target)
        cosines = self._multiply(X, Y) * self._invert_norms(X, 1, 3) * self._invert_norms(Y, 1, 2)
        sharpness = np.exp(head.log_sharpness)
        S = cosines * _expand_levels(sharpness) + self._read_neighbours(cosines, sharpness, spelling)
        likely = S * self.mask + self.padding
        f = self._log_add(self._score_nulls(source, 3), self._log_sum(likely, ROWS))
        g = self._log_add(self._score_nulls(target, 2), self._log_sum(likely, COLUMNS))
        alpha, beta, gamma = map(_expand_levels, (head.alpha, head.beta, head.gamma))
        logits = S * (alpha + 2 * beta) - (f * beta - gamma) - g * beta
        links = self._score_links(logits + self._support_links(logits), level)
        nulls = [self._sum_none(links, axis) for axis in (ROWS, COLUMNS)]
        shapes = ["B", "N", "M"], ["B", "N"], ["B", "M"]
        links = graph.apply("Squeeze", links, np.array([1]))
        return graph.serialize(zip([links, *nulls], shapes, strict=True))

    def _combine(self, operator: str, source: Value, target: Value) -> Value:
        """Apply an operator to a value (B, N) of each source word and one (B, M) of each target word."""
        rows, columns = (
            self.graph.apply("Unsqueeze", values, np.array(axes))
            for values, axes in ((source, [1, 3]), (target, [1, 2]))
        )
        return self.graph.apply(operator, rows, columns)

    def _find_places(self) -> list[Value]:
        """Return i/(n−1) of source words (B, N) and j/(m−1) of target words (B, M); 0 where n or m is 1."""
        graph = self.graph
        lasts = [graph.apply("ReduceSum", x, np.array([1]), keepdims=1) - 1.0 for x in self.is_word]
        several = (lasts[0] > 0.0) * (lasts[1] > 0.0)
        return [
            (graph.apply("CumSum", x, np.array(1)) - 1.0) * several / graph.apply("Max", last, 1.0)
            for x, last in zip(self.is_word, lasts, strict=True)
        ]

    def _map(self, words: Value) -> Value:
        """Return the vectors of words whose cosines are computed."""
        head = self.head
        product = self._multiply_int8(words, head.map) if self.int8 else words @ head.map
        return self.graph.apply("Tanh", product + head.offset)

    def _multiply_int8(self, x: Value, matrix: np.ndarray) -> Value:
        """Return the products of vectors with a matrix in int8; each vector and each column has its range."""
        graph = self.graph
        largest = graph.apply("ReduceMax", graph.apply("Abs", x), np.array([2]), keepdims=1)
        largest = graph.apply("Max", largest, LEAST)
        vectors = graph.apply(
            "QuantizeLinear", x * graph.apply("Div", ZERO - 1.0, largest), 1.0, np.array(ZERO, np.uint8)
        )
        steps = np.maximum(abs(matrix).max(axis=0), LEAST) / MOST
        columns = np.rint(matrix / steps).astype(np.int8)
        zero = np.array(ZERO, np.uint8)
        product = graph.apply(PRODUCT, vectors, columns, 1.0, steps, zero, domain=CONTRIBUTED)
        return product * (largest * (1 / (ZERO - 1)))

    def _multiply(self, x: Value, y: Value) -> Value:
        """Return the products (B, 1, N, M) of the vectors of source and target words."""
        product = x @ self.graph.apply("Transpose", y, perm=[0, 2, 1])
        return self.graph.apply("Unsqueeze", product, np.array([1]))

    def _invert_norms(self, x: Value, *axes: int) -> Value:
        """Return 1 / the length of each vector; of a zero vector a large number."""
        squares = self.graph.apply("ReduceSum", x * x, np.array([2]), keepdims=0)  # ReduceL2 takes longer
        norms = self.graph.apply("Sqrt", self.graph.apply("Max", squares, LEAST))
        inverse = self.graph.apply("Reciprocal", norms)
        return self.graph.apply("Unsqueeze", inverse, np.array(axes))

    def _score_nulls(self, words: Value, axis: int) -> Value:
        """Return the scores of words having no link, (B, levels, N, 1) or (B, levels, 1, M)."""
        scores = words @ self.head.price + self.head.base_price
        by_level = self.graph.apply("Transpose", scores, perm=[0, 2, 1])
        return self.graph.apply("Unsqueeze", by_level, np.array([axis]))

    def _read_neighbours(self, cosines: Value, sharpness: np.ndarray, spelling: list[Value]) -> Value:
        """Return what the neighbourhood of each cell adds to S."""
        head, graph = self.head, self.graph
        sure = cosines * float(sharpness[0]) + self.padding
        attention = graph.apply("Softmax", sure, axis=ROWS) + graph.apply("Softmax", sure, axis=COLUMNS)
        distance = graph.apply("Abs", self._combine("Sub", *self._find_places()))
        features = [cosines, attention, distance, *spelling]
        # The weights include constant factors of features: of S, instead of which the cosine is read, of the
        # mean of two attentions, and of the share of words that occur elsewhere.
        near = head.near.reshape(9, -1, head.near.shape[-1])
        levels, halved = len(LEVELS), [1, 0.5, 1, 1, 1, 0.5][: len(features)]
        first = np.tensordot(near[:, :levels], sharpness, axes=(1, 0))[:, None]
        kernel = np.concatenate([first, near[:, levels:-1], near[:, -1:]], axis=1)
        kernel = kernel * np.array([*halved, 1])[:, None]
        cells = graph.apply("Concat", *features, self.mask, axis=1) * self.mask
        once = self._convolve(cells, kernel, head.near_offset) * self.mask
        twice = once + self._convolve(once, head.wider, head.wider_offset)
        return self._mix(twice, head.seen)

    def _compare_spelling(self, rows: list[Value]) -> list[Value]:
        """Return what `TransportHead` reads of the spelling of all words, the last feature doubled."""
        from otalign.text.spelling import SIZE

        spelling = self.graph.add_input("spelling", ["W", SIZE])
        alike = self._multiply(*(self.graph.apply("Gather", spelling, x) for x in rows))
        same = (alike > SAME) * self.mask
        return [alike, same, (self._sum(same, COLUMNS) > same) + (self._sum(same, ROWS) > same)]

    def _support_links(self, logits: Value) -> Value:
        """Return what the links around each cell add to its logit."""
        head, graph = self.head, self.graph
        links = graph.apply("Sigmoid", logits) * self.mask
        sums = (self._slice(self._sum(links, axis), 0, 1, 1) for axis in (COLUMNS, ROWS))
        counts = graph.apply("Clip", graph.apply("Add", *sums), 0.0, 4.0) * self.mask
        kernel = head.around.reshape(9, -1, head.around.shape[-1]) * np.array([1, 1, 0.5, 1])[:, None]
        cells = graph.apply("Concat", links, counts, self.mask, axis=1)
        return self._mix(self._convolve(cells, kernel, head.around_offset), head.support)

    def _score_links(self, logits: Value, level: Level) -> Value:
        """Return the probabilities of the links of a level, which are those of sure links at most."""
        graph, calibration = self.graph, self.head.calibration
        if level == "possible":
            first = LEVELS.index(level)
            logits, calibration = self._slice(logits, first, first + 1, 1), calibration[:, first : first + 1]
        calibrated = self._calibrate(logits, calibration)
        least = graph.apply("ReduceMin", calibrated, np.array([1]), keepdims=1)
        # The operator Sigmoid is imprecise for small probabilities, on which those of nulls depend.
        odds = graph.apply("Exp", graph.apply("Neg", least)) + 1.0
        return graph.apply("Reciprocal", odds) * self.mask

    def _sum_none(self, links: Value, axis: int) -> Value:
        """Return the logarithms of the probabilities of words having no link, if links were independent."""
        graph = self.graph
        none = graph.apply("Log", 1.0 - graph.apply("Min", links, 1 - EPSILON))
        # Twice, like two levels: the columns of a single matrix would be summed in another order.
        sums = self._sum(graph.apply("Concat", none, none, axis=1), axis)
        return graph.apply("Squeeze", self._slice(sums, 0, 1, 1), np.array([1, axis]))

    def _calibrate(self, logits: Value, calibration: np.ndarray) -> Value:
        """Return calibrated logits, as `otalign.scoring.learned.calibrate` does."""
        graph = self.graph
        scale, bend, shift, tilt = map(_expand_levels, calibration)
        calibrated, size = logits * scale + shift, graph.apply("Abs", logits)
        if np.any(bend):
            root = graph.apply("Sqrt", size * size + 1.0)
            calibrated += graph.apply("Sign", logits) * graph.apply("Log", size + root) * bend
        if np.any(tilt):
            rest = graph.apply("Log", graph.apply("Exp", graph.apply("Neg", size)) + 1.0)
            calibrated += (size + rest * 2.0) * tilt
        return calibrated

    def _convolve(self, cells: Value, kernel: np.ndarray, offset: np.ndarray) -> Value:
        """Apply a convolution of 3 × 3 cells and a ReLU."""
        weights = kernel.reshape(3, 3, -1, len(offset)).transpose(3, 2, 0, 1)
        convolved = self.graph.apply("Conv", cells, weights, offset, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        return self.graph.apply("Relu", convolved)

    def _mix(self, cells: Value, weights: np.ndarray) -> Value:
        """Apply a linear layer to the features of each cell."""
        return self.graph.apply("Conv", cells, weights.T[:, :, None, None], kernel_shape=[1, 1])

    def _log_sum(self, x: Value, axis: int) -> Value:
        """Return the logarithms of sums of exponentials; ReduceLogSumExp takes longer."""
        top = self.graph.apply("ReduceMax", x, np.array([axis]), keepdims=1)
        return top + self.graph.apply("Log", self._sum(self.graph.apply("Exp", x - top), axis))

    def _log_add(self, x: Value, y: Value) -> Value:
        """Return log(exp x + exp y)."""
        distance = self.graph.apply("Abs", x - y)
        rest = self.graph.apply("Exp", self.graph.apply("Neg", distance)) + 1.0
        return self.graph.apply("Max", x, y) + self.graph.apply("Log", rest)

    def _sum(self, x: Value, axis: int) -> Value:
        return self.graph.apply("ReduceSum", x, np.array([axis]), keepdims=1)

    def _slice(self, x: Value, start: int, end: int, axis: int) -> Value:
        return self.graph.apply("Slice", x, np.array([start]), np.array([end]), np.array([axis]))


def _expand_levels(values: np.ndarray) -> np.ndarray:
    """Expand values (levels,) to broadcast with cells (B, levels, N, M)."""
    return values[:, None, None]
