"""What training adds to an encoder: from the embeddings of two sentences to how strongly words are linked.

A head is a value of arrays, of NumPy or torch, so that what is trained is what is used. There are two.
`Projection` is the paper's: a linear map and a tanh ahead of the transport that the settings say.
`LearnedTransport` is ours, and learns the transport too.
"""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np

from otalign.arrays import array_namespace, device
from otalign.scoring.cost import directions, displacement
from otalign.scoring.strengths import Tile
from otalign.untrusted import check_array, one_line

Array = Any

LEVELS = (
    "sure",
    "possible",
)  # what a learned transport tells apart: each possible link includes the sure ones
CHANNELS = 16  # of what is seen in a cell's neighbourhood
FILE = "head.safetensors"
BLOCK = 128  # rows and columns of one pair, looked at together
REACH = 2  # cells that a cell is seen from
FAR = -1e4  # the similarity to what is no word


class Head:
    """Arrays that were trained. Subclasses are dataclasses of nothing else."""

    @staticmethod
    def shapes(size: int) -> dict[str, tuple[int, ...]]:
        """Return the shape of each array for embeddings of a size."""
        raise NotImplementedError

    def arrays(self) -> dict[str, Array]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # pyright: ignore

    def beside(self, vectors: Array) -> Self:
        """The same in the library and at the place of the embeddings that it is for."""
        xp, at = array_namespace(vectors), device(vectors)
        return type(self)(**{name: xp.asarray(a, device=at) for name, a in self.arrays().items()})

    def save(self, folder: Path) -> None:
        from safetensors.numpy import save_file

        kind = {"head": type(self).__name__}
        save_file({k: np.ascontiguousarray(a) for k, a in self.arrays().items()}, folder / FILE, kind)


def load(folder: Path, size: int | None = None) -> "Head | None":
    """The head in a folder, if there is one; it must be for embeddings of this size, if one is given."""
    if not (folder / FILE).is_file():
        return None
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(folder / FILE, "numpy") as file:
            kind = {"Projection": Projection, "LearnedTransport": LearnedTransport}[file.metadata()["head"]]
            head = kind(**{name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118
        for name, shape in head.shapes(len(head.offset) if size is None else size).items():
            check_array(name, getattr(head, name), shape)
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise ValueError(f"{folder / FILE} is no head of otalign: {one_line(error)}") from error
    return head


@dataclass(frozen=True, eq=False)
class Projection(Head):
    """The paper's: words are mapped by tanh(x A + b), then transported as the settings say."""

    map: Array  # (D, D)
    offset: Array  # (D,)

    @classmethod
    def new(cls, size: int, random: np.random.Generator) -> Self:
        return cls(_drawn(random, size, size), np.zeros(size, dtype=np.float32))

    @staticmethod
    def shapes(size: int) -> dict[str, tuple[int, ...]]:
        return {"map": (size, size), "offset": (size,)}

    def projected(self, tile: Tile) -> Tile:
        xp = array_namespace(tile.X)
        X, Y = (xp.tanh(_times(xp, x, self.map) + self.offset) for x in (tile.X, tile.Y))
        return tile._replace(X=X, Y=Y)


@dataclass(frozen=True, eq=False)
class LearnedTransport(Head):
    """Rows and columns that compete under learned prices, for the sure links and for all possible ones.

    Words are mapped by tanh(x A + b); S_ij is the cosine of two of them times a learned sharpness, plus what
    a small convolution reads off the cells around it. To leave word i without a link has a learned price,
    r_i = x_i · p + q. A step of scaling, as of unbalanced transport that has a bin for what is left over,

        f_i = −log(exp r_i + Σ_j exp S_ij),    g_j = −log(exp r_j + Σ_i exp S_ij),

    lets each word choose among its counterparts and none, and the log-odds of a link are
    α S_ij + β (2 S_ij + f_i + g_j) + γ. Levels share A and b, and learn the rest each for itself. After
    training, log-odds are calibrated on the dev sets; before that, the calibration changes nothing.
    """

    map: Array  # (D, D)
    offset: Array  # (D,)
    log_sharpness: Array  # (levels,)
    price: Array  # (D, levels)
    base_price: Array  # (levels,)
    alpha: Array  # (levels,)
    beta: Array  # (levels,)
    gamma: Array  # (levels,)
    near: Array  # (9 · 5, channels): of a cell and the eight around it, what is seen in each
    near_offset: Array  # (channels,)
    wider: Array  # (9 · channels, channels)
    wider_offset: Array  # (channels,)
    seen: Array  # (channels, levels): what that adds to S
    calibration: Array  # (3, levels): log-odds x become scale · x + bend · asinh x + shift
    null_calibration: Array  # (3, levels)

    @classmethod
    def new(cls, size: int, random: np.random.Generator) -> Self:
        levels = len(LEVELS)

        def flat(value: float, *shape: int) -> np.ndarray:
            return np.full(shape, value, dtype=np.float32)

        same = np.repeat(np.array([[1.0], [0.0], [0.0]], dtype=np.float32), levels, axis=1)
        return cls(
            map=_drawn(random, size, size),
            offset=flat(0, size),
            log_sharpness=flat(np.log(10), levels),
            price=flat(0, size, levels),
            base_price=flat(0, levels),
            alpha=flat(0.5, levels),
            beta=flat(0.5, levels),
            gamma=flat(0, levels),
            near=_drawn(random, 9 * (levels + 3), CHANNELS),
            near_offset=flat(0, CHANNELS),
            wider=_drawn(random, 9 * CHANNELS, CHANNELS),
            wider_offset=flat(0, CHANNELS),
            seen=flat(0, CHANNELS, levels),
            calibration=same,
            null_calibration=same.copy(),
        )

    @staticmethod
    def shapes(size: int) -> dict[str, tuple[int, ...]]:
        levels, channels = len(LEVELS), CHANNELS
        return {
            "map": (size, size),
            "offset": (size,),
            "price": (size, levels),
            **dict.fromkeys(("log_sharpness", "base_price", "alpha", "beta", "gamma"), (levels,)),
            "near": (9 * (levels + 3), channels),
            "wider": (9 * channels, channels),
            **dict.fromkeys(("near_offset", "wider_offset"), (channels,)),
            "seen": (channels, levels),
            **dict.fromkeys(("calibration", "null_calibration"), (3, levels)),
        }

    def log_odds(self, tile: Tile) -> Array:
        """Of a link in each cell, at each level, (levels, B, N, M); not calibrated."""
        xp = array_namespace(tile.X)
        cells = tile.is_source[:, :, None] & tile.is_target[:, None, :]
        X, Y = (directions(xp, xp.tanh(_times(xp, x, self.map) + self.offset)) for x in (tile.X, tile.Y))
        S = (X @ xp.matrix_transpose(Y))[None, ...] * _for_cells(xp.exp(self.log_sharpness))
        S = S + self._neighbourhood(xp, S, cells, tile)
        f, g = (
            -xp.logaddexp(self._prices(xp, x), _log_sum_exp(xp, xp.where(cells, S, FAR), axis))
            for x, axis in ((tile.X, 3), (tile.Y, 2))
        )
        competing = 2 * S + f[:, :, :, None] + g[:, :, None, :]
        alpha, beta, gamma = map(_for_cells, (self.alpha, self.beta, self.gamma))
        return alpha * S + beta * competing + gamma

    def _prices(self, xp: Any, X: Array) -> Array:
        """Of leaving each word without a link, (levels, B, N)."""
        return xp.permute_dims(_times(xp, X, self.price) + self.base_price, (2, 0, 1))

    def _neighbourhood(self, xp: Any, S: Array, cells: Array, tile: Tile) -> Array:
        """What the cells around each tell of it, (levels, B, N, M)."""
        words = xp.astype(cells, S.dtype)
        sure = xp.where(cells, S[0, ...], FAR)
        chosen = (_softmax(xp, sure, 2) + _softmax(xp, sure, 1)) / 2
        apart = xp.astype(xp.abs(displacement(xp, tile.is_source, tile.is_target)), S.dtype)
        there = [xp.permute_dims(x, (1, 0, 2)) for x in (*S, chosen, apart, words)]  # (N, B, M) each
        rows, pairs, columns = there[0].shape
        # Two long texts block by block: what is seen around their cells would fill a machine's memory.
        side = BLOCK if pairs == 1 else max(rows, columns)

        def block(top: int, left: int) -> Array:
            above, before = min(top, REACH), min(left, REACH)  # cells beside the block, seen from it
            down = slice(top - above, top + side + REACH)
            across = slice(left - before, left + side + REACH)
            here = [x[down, :, across] for x in there]
            seen = self._seen(xp, xp.stack([x * here[-1] for x in here], axis=-1))
            return seen[above : above + side, :, before : before + side, :]

        strips = (
            xp.concat([block(i, j) for j in range(0, columns, side)], axis=2) for i in range(0, rows, side)
        )
        return xp.permute_dims(xp.concat(list(strips), axis=0), (3, 1, 0, 2))

    def _seen(self, xp: Any, there: Array) -> Array:
        """Of cells (N, B, M, what is there, at last whether it is a cell of words)."""
        words = there[..., -1:]
        first = words * _relu(xp, _around(xp, there, self.near) + self.near_offset)
        second = first + words * _relu(xp, _around(xp, first, self.wider) + self.wider_offset)
        return _times(xp, second, self.seen)


def _drawn(random: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """A map to begin with."""
    return random.normal(scale=(3 * rows) ** -0.5, size=(rows, columns)).astype(np.float32)


def _for_cells(of_levels: Array) -> Array:
    """Numbers (levels,) to stand beside cells (levels, B, N, M)."""
    return of_levels[:, None, None, None]


def _log_sum_exp(xp: Any, x: Array, axis: int) -> Array:
    top = xp.max(x, axis=axis, keepdims=True)
    return xp.squeeze(top, axis=axis) + xp.log(xp.sum(xp.exp(x - top), axis=axis))


def _softmax(xp: Any, x: Array, axis: int) -> Array:
    raised = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
    return raised / xp.sum(raised, axis=axis, keepdims=True)


def _relu(xp: Any, x: Array) -> Array:
    return xp.maximum(x, xp.zeros((), dtype=x.dtype, device=device(x)))


def _around(xp: Any, A: Array, map: Array) -> Array:
    """What a map (9 · C, channels) makes of each cell of A (N, B, M, C) and the eight around it; 0 beyond the
    edge."""
    N, B, M, C = A.shape
    row = xp.zeros((1, B, M, C), dtype=A.dtype, device=device(A))
    column = xp.zeros((N + 2, B, 1, C), dtype=A.dtype, device=device(A))
    A = xp.concat([column, xp.concat([row, A, row], axis=0), column], axis=2)
    # Three beside each other are put together, and three rows of those are only added up: all nine would be
    # three times as much to copy, which takes longer than the product.
    three = xp.concat([A[:, :, j : j + M, :] for j in range(3)], axis=-1)
    maps = xp.reshape(map, (3, 3 * C, -1))
    above, at, below = (_times(xp, three[i : i + N, ...], maps[i, ...]) for i in range(3))
    return above + at + below


def _times(xp: Any, x: Array, map: Array) -> Array:
    """x @ map, as one product: NumPy would make one for each matrix of a stack."""
    return xp.reshape(xp.reshape(x, (-1, x.shape[-1])) @ map, (*x.shape[:-1], -1))
