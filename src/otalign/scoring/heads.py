"""Trained layers on top of an encoder.

A head is a value of arrays, of NumPy or torch, so that training and inference run the same code.
`ProjectionHead` is the paper's: a linear layer with tanh before the transport problem of the settings.
`TransportHead` is ours, and learns the transport too.
"""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np

from otalign.alignment import LEVELS
from otalign.arrays import Array, array_namespace, device
from otalign.atomic import open_atomic
from otalign.failures import describe
from otalign.scoring.batches import PairBatch
from otalign.scoring.cost import compute_displacement, normalize
from otalign.untrusted import check_array

CHANNELS = 16  # of the convolutions
HEAD_FILE = "head.safetensors"
FEATURES = len(LEVELS) + 3  # of a cell that the first convolution reads
SPELLING_FEATURES = 2
SAME = 0.999  # similarity of spelling above which words are the same; less than 1, because of rounding
BLOCK = 128  # rows and columns of a long pair that are convolved at a time
REACH = 2  # cells around a cell that its convolutions read
PADDING = -1e4  # similarity of a cell without words


class Head:
    """Base class of heads, which are dataclasses of trained arrays."""

    @property
    def reads_spelling(self) -> bool:
        """True if word vectors must be followed by the vectors of their spelling."""
        return False

    def compute_shapes(self, size: int) -> dict[str, tuple[int, ...]]:
        """Return the shape that each array must have, given the size of the embeddings."""
        raise NotImplementedError

    def arrays(self) -> dict[str, Array]:
        """Return the arrays by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # pyright: ignore

    def to_device(self, vectors: Array) -> Self:
        """Return the head with its arrays in the library, and on the device, of the vectors."""
        xp, at = array_namespace(vectors), device(vectors)
        return type(self)(**{name: xp.asarray(a, device=at) for name, a in self.arrays().items()})

    def save(self, folder: Path) -> None:
        """Write the head to a folder."""
        from safetensors.numpy import save

        (name,) = (name for name, type_ in get_head_types().items() if type_ is type(self))
        arrays = {key: np.ascontiguousarray(array) for key, array in self.arrays().items()}
        with open_atomic(folder / HEAD_FILE) as file:
            file.write(save(arrays, {"head": name}))


def get_head_types() -> "dict[str, type[ProjectionHead | TransportHead]]":
    """Return the types of heads by the names that files give them."""
    return {"Projection": ProjectionHead, "LearnedTransport": TransportHead}


def load_head(folder: Path, size: int | None = None) -> Head | None:
    """Load the head in a folder.

    Args:
        folder: Folder of an aligner.
        size: Size of the embeddings that the head must be for; None to accept any.

    Returns:
        The head, or None if the folder has none.

    Raises:
        ValueError: If the file is damaged, or the head is for embeddings of another size.
    """
    if not (folder / HEAD_FILE).is_file():
        return None
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(folder / HEAD_FILE, "numpy") as file:
            type_ = get_head_types()[file.metadata()["head"]]
            head = type_(**{name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118
        for name, shape in head.compute_shapes(len(head.offset) if size is None else size).items():
            check_array(name, getattr(head, name), shape)
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise ValueError(
            f"{folder / HEAD_FILE} is not a valid otalign head file: {describe(error, brief=True)}"
        ) from error
    return head


@dataclass(frozen=True, eq=False)
class ProjectionHead(Head):
    """The paper's head: word vectors become tanh(x A + b), then a transport problem is solved."""

    map: Array  # (D, D)
    offset: Array  # (D,)

    @classmethod
    def initialize(cls, size: int, random: np.random.Generator) -> Self:
        """Return a head with random weights."""
        return cls(_draw_weights(random, size, size), np.zeros(size, dtype=np.float32))

    def compute_shapes(self, size: int) -> dict[str, tuple[int, ...]]:
        """Return the shapes of map and offset."""
        return {"map": (size, size), "offset": (size,)}

    def project(self, batch: PairBatch) -> PairBatch:
        """Return the batch with projected word vectors."""
        xp = array_namespace(batch.X)
        X, Y = (xp.tanh(_multiply(xp, x, self.map) + self.offset) for x in (batch.X, batch.Y))
        return batch._replace(X=X, Y=Y)


@dataclass(frozen=True, eq=False)
class TransportHead(Head):
    """A learned transport, for sure links and for possible links.

    Word vectors become tanh(x A + b). S_ij is the cosine of two of them times a learned sharpness, plus the
    output of a small convolution over the cells around it, which also knows how alike two words are spelled,
    and whether they are the same word. The score of word i having no link is learned,
    r_i = x_i · p + q. One scaling step, as of unbalanced transport with a bin for unmatched mass,

        f_i = −log(exp r_i + Σ_j exp S_ij),    g_j = −log(exp r_j + Σ_i exp S_ij),

    makes the counterparts of a word, and none, compete. The logit of a link is
    α S_ij + β (2 S_ij + f_i + g_j) + γ. Both levels share A and b; each has all other weights of its own.
    Logits are calibrated on the dev sets after training; until then the calibration is the identity.
    """

    map: Array  # (D, D)
    offset: Array  # (D,)
    log_sharpness: Array  # (levels,)
    price: Array  # (D, levels)
    base_price: Array  # (levels,)
    alpha: Array  # (levels,)
    beta: Array  # (levels,)
    gamma: Array  # (levels,)
    near: Array  # (9 · 7, channels): first convolution, 3 × 3; (9 · 5, channels) without spelling
    near_offset: Array  # (channels,)
    wider: Array  # (9 · channels, channels): second convolution
    wider_offset: Array  # (channels,)
    seen: Array  # (channels, levels): output layer, added to S
    calibration: Array  # (3, levels): a logit x becomes scale · x + bend · asinh x + shift
    null_calibration: Array  # (3, levels)

    @classmethod
    def initialize(cls, size: int, random: np.random.Generator, *, spelling: bool = True) -> Self:
        """Return a head with random weights."""
        levels = len(LEVELS)

        def flat(value: float, *shape: int) -> np.ndarray:
            return np.full(shape, value, dtype=np.float32)

        same = np.repeat(np.array([[1.0], [0.0], [0.0]], dtype=np.float32), levels, axis=1)
        return cls(
            map=_draw_weights(random, size, size),
            offset=flat(0, size),
            log_sharpness=flat(np.log(10), levels),
            price=flat(0, size, levels),
            base_price=flat(0, levels),
            alpha=flat(0.5, levels),
            beta=flat(0.5, levels),
            gamma=flat(0, levels),
            near=_draw_weights(random, 9 * (FEATURES + SPELLING_FEATURES * spelling), CHANNELS),
            near_offset=flat(0, CHANNELS),
            wider=_draw_weights(random, 9 * CHANNELS, CHANNELS),
            wider_offset=flat(0, CHANNELS),
            seen=flat(0, CHANNELS, levels),
            calibration=same,
            null_calibration=same.copy(),
        )

    @property
    def reads_spelling(self) -> bool:
        """True if the convolution reads the spelling of words; heads made by earlier versions do not."""
        return len(self.near) > 9 * FEATURES

    def compute_shapes(self, size: int) -> dict[str, tuple[int, ...]]:
        """Return the shapes of all arrays."""
        levels, channels = len(LEVELS), CHANNELS
        return {
            "map": (size, size),
            "offset": (size,),
            "price": (size, levels),
            **dict.fromkeys(("log_sharpness", "base_price", "alpha", "beta", "gamma"), (levels,)),
            "near": (9 * (FEATURES + SPELLING_FEATURES * self.reads_spelling), channels),
            "wider": (9 * channels, channels),
            **dict.fromkeys(("near_offset", "wider_offset"), (channels,)),
            "seen": (channels, levels),
            **dict.fromkeys(("calibration", "null_calibration"), (3, levels)),
        }

    def compute_logits(self, batch: PairBatch) -> Array:
        """Compute the logits of all links at each level, (levels, B, N, M), before calibration."""
        xp, cells, size = array_namespace(batch.X), batch.cells, len(self.offset)
        words = batch.X[..., :size], batch.Y[..., :size]
        X, Y = (normalize(xp, xp.tanh(_multiply(xp, x, self.map) + self.offset)) for x in words)
        S = (X @ xp.matrix_transpose(Y))[None, ...] * _expand_levels(xp.exp(self.log_sharpness))
        S = S + self._convolve(xp, S, batch)
        f, g = (
            -xp.logaddexp(self._score_nulls(xp, x), _log_sum_exp(xp, xp.where(cells, S, PADDING), axis))
            for x, axis in zip(words, (3, 2), strict=True)
        )
        competition = 2 * S + f[:, :, :, None] + g[:, :, None, :]
        alpha, beta, gamma = map(_expand_levels, (self.alpha, self.beta, self.gamma))
        return alpha * S + beta * competition + gamma

    def _score_nulls(self, xp: Any, X: Array) -> Array:
        """Compute the scores of words having no link, (levels, B, N)."""
        return xp.permute_dims(_multiply(xp, X, self.price) + self.base_price, (2, 0, 1))

    def _convolve(self, xp: Any, S: Array, batch: PairBatch) -> Array:
        """Compute what the neighbourhood of each cell adds to S, (levels, B, N, M)."""
        cells = batch.cells
        sure = xp.where(cells, S[0, ...], PADDING)
        attention = (_softmax(xp, sure, 2) + _softmax(xp, sure, 1)) / 2
        distance = xp.astype(xp.abs(compute_displacement(xp, batch.is_source, batch.is_target)), S.dtype)
        mask = xp.astype(cells, S.dtype)
        spelling = self._compare_spelling(xp, batch) if self.reads_spelling else ()
        features = (*S, attention, distance, *spelling, mask)
        features = [xp.permute_dims(x, (1, 0, 2)) for x in features]  # (N, B, M) each
        rows, pairs, columns = features[0].shape
        # A pair of long texts is convolved block by block: its features would fill the memory.
        side = BLOCK if pairs == 1 else max(rows, columns)

        def convolve_block(top: int, left: int) -> Array:
            above, before = min(top, REACH), min(left, REACH)  # cells beside the block that it reads
            down = slice(top - above, top + side + REACH)
            across = slice(left - before, left + side + REACH)
            block = [x[down, :, across] for x in features]
            output = self._apply_layers(xp, xp.stack([x * block[-1] for x in block], axis=-1))
            return output[above : above + side, :, before : before + side, :]

        strips = (
            xp.concat([convolve_block(i, j) for j in range(0, columns, side)], axis=2)
            for i in range(0, rows, side)
        )
        return xp.permute_dims(xp.concat(list(strips), axis=0), (3, 1, 0, 2))

    def _compare_spelling(self, xp: Any, batch: PairBatch) -> tuple[Array, Array]:
        """Compute how alike two words are spelled, and whether they are the same, (B, N, M) each."""
        X, Y = (x[..., len(self.offset) :] for x in (batch.X, batch.Y))
        alike = X @ xp.matrix_transpose(Y)
        return alike, xp.astype(alike > SAME, alike.dtype)

    def _apply_layers(self, xp: Any, features: Array) -> Array:
        """Apply both convolutions to features (N, B, M, channels), of which the last is the mask."""
        mask = features[..., -1:]
        first = mask * _relu(xp, _convolve_3x3(xp, features, self.near) + self.near_offset)
        second = first + mask * _relu(xp, _convolve_3x3(xp, first, self.wider) + self.wider_offset)
        return _multiply(xp, second, self.seen)


def _draw_weights(random: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    return random.normal(scale=(3 * rows) ** -0.5, size=(rows, columns)).astype(np.float32)


def _expand_levels(values: Array) -> Array:
    """Expand values (levels,) to broadcast with cells (levels, B, N, M)."""
    return values[:, None, None, None]


def _log_sum_exp(xp: Any, x: Array, axis: int) -> Array:
    top = xp.max(x, axis=axis, keepdims=True)
    return xp.squeeze(top, axis=axis) + xp.log(xp.sum(xp.exp(x - top), axis=axis))


def _softmax(xp: Any, x: Array, axis: int) -> Array:
    raised = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
    return raised / xp.sum(raised, axis=axis, keepdims=True)


def _relu(xp: Any, x: Array) -> Array:
    return xp.maximum(x, xp.zeros((), dtype=x.dtype, device=device(x)))


def _convolve_3x3(xp: Any, A: Array, kernel: Array) -> Array:
    """Convolve A (N, B, M, C) with a kernel (9 · C, channels), with zeros beyond the edges."""
    N, B, M, C = A.shape
    row = xp.zeros((1, B, M, C), dtype=A.dtype, device=device(A))
    column = xp.zeros((N + 2, B, 1, C), dtype=A.dtype, device=device(A))
    A = xp.concat([column, xp.concat([row, A, row], axis=0), column], axis=2)
    # Three columns are concatenated, and three products of rows added up. To concatenate all nine cells would
    # copy three times as much, which takes longer than the product.
    three = xp.concat([A[:, :, j : j + M, :] for j in range(3)], axis=-1)
    kernels = xp.reshape(kernel, (3, 3 * C, -1))
    above, at, below = (_multiply(xp, three[i : i + N, ...], kernels[i, ...]) for i in range(3))
    return above + at + below


def _multiply(xp: Any, x: Array, matrix: Array) -> Array:
    """Compute x @ matrix as one product: NumPy would compute one for each matrix of a stack."""
    return xp.reshape(xp.reshape(x, (-1, x.shape[-1])) @ matrix, (*x.shape[:-1], -1))
