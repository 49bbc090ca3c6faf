"""A head that also learns the transport: words compete for counterparts, and links support each other."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from otalign.alignment import LEVELS, Level
from otalign.arrays import Array, array_namespace
from otalign.scoring.batches import PairBatch
from otalign.scoring.cost import normalize
from otalign.scoring.heads.cells import (
    SOURCE,
    TARGET,
    AllCells,
    Cells,
    compute_log_sum_exp,
    compute_softmax,
)
from otalign.scoring.heads.convolution import apply_layer
from otalign.scoring.heads.head import Head, draw_weights, multiply
from otalign.scoring.heads.onnx_head import OnnxHead
from otalign.scoring.heads.tiles import TileCells, select_tiles

CHANNELS = 16  # output channels of the convolutions
FEATURES = len(LEVELS) + 3  # features of a cell in the first convolution
SPELLING_FEATURES = 3
PROBABILITY_FEATURES = len(LEVELS) + 2  # features of a cell in the last convolution
CALIBRATIONS = ("calibration", "null_calibration")  # arrays that are not learned from the train set
SAME = 0.999  # similarity of spelling above which words are the same; less than 1, because of rounding
PADDING = -1e4  # similarity of a cell without words


@dataclass(frozen=True, eq=False)
class TransportHead(Head):
    """A learned transport for sure links and for possible links.

    Word vectors become tanh(x A + b). S_ij is the cosine of two of them times a learned sharpness, plus the
    output of a small convolution over the cells around it, which also sees how similar the spelling of two
    words is, whether they are the same word, and whether one of them occurs elsewhere in the other sentence.
    The score of word i having no link is learned, r_i = x_i · p + q. One scaling step, as in unbalanced
    transport with a dustbin for unmatched mass,

        f_i = −log(exp r_i + Σ_j exp S_ij),    g_j = −log(exp r_j + Σ_i exp S_ij),

    makes the counterparts of a word, and none, compete. The logit of a link is

        L_ij = α S_ij + β (2 S_ij + f_i + g_j) + γ

    plus the output of one more convolution, over the probabilities σ(L) of the cells around it: in a phrase,
    links support each other. Both levels share A and b; all other weights are separate. Logits are
    calibrated on the dev sets after training; until then the calibration is the identity.
    """

    name = "LearnedTransport"
    map: Array  # (D, D)
    offset: Array  # (D,)
    log_sharpness: Array  # (levels,)
    price: Array  # (D, levels)
    base_price: Array  # (levels,)
    alpha: Array  # (levels,)
    beta: Array  # (levels,)
    gamma: Array  # (levels,)
    near: Array  # (9 · 8, channels): first convolution, 3 × 3; (9 · 5, channels) without spelling
    near_offset: Array  # (channels,)
    wider: Array  # (9 · channels, channels): second convolution
    wider_offset: Array  # (channels,)
    seen: Array  # (channels, levels): output layer, added to S
    around: Array  # (9 · 4, channels): convolution over probabilities
    around_offset: Array  # (channels,)
    support: Array  # (channels, levels): output layer, added to the logits
    calibration: Array  # (4, levels): scale, bend, shift and tilt of `otalign.scoring.learned.calibrate`
    null_calibration: Array  # (4, levels)

    @classmethod
    def initialize(cls, size: int, random: "np.random.Generator", *, spelling: bool = True) -> Self:
        """Return a head with random weights."""
        levels = len(LEVELS)

        def flat(value: float, *shape: int) -> np.ndarray:
            return np.full(shape, value, dtype=np.float32)

        same = np.repeat(np.array([[1.0], [0.0], [0.0], [0.0]], dtype=np.float32), levels, axis=1)
        return cls(
            map=draw_weights(random, size, size),
            offset=flat(0, size),
            log_sharpness=flat(np.log(10), levels),
            price=flat(0, size, levels),
            base_price=flat(0, levels),
            alpha=flat(0.5, levels),
            beta=flat(0.5, levels),
            gamma=flat(0, levels),
            near=draw_weights(random, 9 * (FEATURES + SPELLING_FEATURES * spelling), CHANNELS),
            near_offset=flat(0, CHANNELS),
            wider=draw_weights(random, 9 * CHANNELS, CHANNELS),
            wider_offset=flat(0, CHANNELS),
            seen=flat(0, CHANNELS, levels),
            around=draw_weights(random, 9 * PROBABILITY_FEATURES, CHANNELS),
            around_offset=flat(0, CHANNELS),
            support=flat(0, CHANNELS, levels),
            calibration=same,
            null_calibration=same.copy(),
        )

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> Self:
        """Return the head with these arrays; calibrations without a tilt, of older heads, get a tilt of 0."""
        tilted = {
            name: np.concatenate([arrays[name], np.zeros_like(arrays[name][:1])])
            for name in CALIBRATIONS
            if len(arrays[name]) == 3
        }
        return cls(**arrays | tilted)

    @property
    def reads_spelling(self) -> bool:
        """True if the convolution reads the spelling of words."""
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
            "around": (9 * PROBABILITY_FEATURES, channels),
            **dict.fromkeys(("near_offset", "wider_offset", "around_offset"), (channels,)),
            **dict.fromkeys(("seen", "support"), (channels, levels)),
            **dict.fromkeys(CALIBRATIONS, (4, levels)),
        }

    @cached_property
    def onnx(self) -> dict[tuple[Level, bool], OnnxHead]:
        """The head for onnxruntime by level and whether in int8, created on first use.

        Its arrays must be of NumPy.
        """
        return _OnnxHeads(self)

    def compute_logits(self, batch: PairBatch, cells: Cells | None = None) -> Array:
        """Compute the logits of links at each level, before calibration.

        Args:
            batch: Word vectors of pairs.
            cells: The cells that are scored; None for all.

        Returns:
            Logits (levels, B, N, M), or those of the cells.
        """
        xp = array_namespace(batch.X)
        cells = AllCells(batch) if cells is None else cells
        S = cells.multiply(*self._map_words(xp, batch))[None, ...] * _expand_levels(
            xp.exp(self.log_sharpness)
        )
        S = S + self._read_neighbours(xp, S, batch, cells)
        likely = xp.where(cells.mask, S, PADDING)
        f, g = (
            -xp.logaddexp(
                cells.expand(self._score_nulls(xp, x[..., : len(self.offset)]), side),
                compute_log_sum_exp(xp, cells, likely, side),
            )
            for side, x in ((SOURCE, batch.X), (TARGET, batch.Y))
        )
        competition = 2 * S + f + g
        alpha, beta, gamma = map(_expand_levels, (self.alpha, self.beta, self.gamma))
        logits = alpha * S + beta * competition + gamma
        return logits + self._support_links(xp, logits, cells)

    def select_tiles(self, batch: PairBatch) -> TileCells:
        """Select the cells of a long pair where links may be, given a batch of it alone."""
        xp = array_namespace(batch.X)
        return select_tiles(*self._map_words(xp, batch), xp.exp(self.log_sharpness[0]))

    def _map_words(self, xp: Any, batch: PairBatch) -> tuple[Array, Array]:
        """Return the vectors of source and target words that cosines are computed of."""
        size = len(self.offset)
        X, Y = (
            normalize(xp, xp.tanh(multiply(xp, x[..., :size], self.map) + self.offset))
            for x in (batch.X, batch.Y)
        )
        return X, Y

    def _score_nulls(self, xp: Any, X: Array) -> Array:
        """Compute the scores of words having no link, (levels, B, N)."""
        return xp.permute_dims(multiply(xp, X, self.price) + self.base_price, (2, 0, 1))

    def _read_neighbours(self, xp: Any, S: Array, batch: PairBatch, cells: Cells) -> Array:
        """Compute what the neighbourhood of each cell adds to S, (levels, B, N, M)."""
        sure = xp.where(cells.mask, S[0, ...], PADDING)
        attention = (compute_softmax(xp, cells, sure, SOURCE) + compute_softmax(xp, cells, sure, TARGET)) / 2
        distance = xp.astype(xp.abs(cells.compute_displacement()), S.dtype)
        spelling = self._compare_spelling(xp, batch, cells) if self.reads_spelling else ()

        def apply_layers(features: Array) -> Array:
            mask = features[..., -1:]
            first = apply_layer(xp, features, self.near, self.near_offset, mask)
            second = first + apply_layer(xp, first, self.wider, self.wider_offset, mask)
            return multiply(xp, second, self.seen)

        features = (*S, attention, distance, *spelling, xp.astype(cells.mask, S.dtype))
        return cells.convolve(features, apply_layers, reach=2)

    def _compare_spelling(self, xp: Any, batch: PairBatch, cells: Cells) -> tuple[Array, Array, Array]:
        """Compare the spelling of all words, (B, N, M) each.

        Returns:
            How similar the spelling of two words is, whether they are the same, and for how many of the two
            (none, one or both, as 0 to 1) the same word occurs elsewhere in the other sentence.
        """
        X, Y = (x[..., len(self.offset) :] for x in (batch.X, batch.Y))
        alike = cells.multiply(X, Y)
        same = xp.astype((alike > SAME) & cells.mask, alike.dtype)
        elsewhere = (xp.astype(cells.sum(same, side) > same, alike.dtype) for side in (TARGET, SOURCE))
        return alike, same, sum(elsewhere) / 2

    def _support_links(self, xp: Any, logits: Array, cells: Cells) -> Array:
        """Compute what the links around each cell add to its logit, (levels, B, N, M)."""
        mask = xp.astype(cells.mask, logits.dtype)
        links = mask / (1 + xp.exp(-xp.clip(logits, -30.0, 30.0)))
        # How many links both words have together, up to a few: a word inside a phrase has several.
        sure = links[0, ...]
        counts = cells.sum(sure, TARGET) + cells.sum(sure, SOURCE)

        def apply_layers(features: Array) -> Array:
            output = apply_layer(xp, features, self.around, self.around_offset, features[..., -1:])
            return multiply(xp, output, self.support)

        return cells.convolve((*links, xp.clip(counts, 0.0, 4.0) / 2, mask), apply_layers, reach=1)


class _OnnxHeads(dict[tuple[Level, bool], OnnxHead]):
    """The heads by the arguments of `OnnxHead`, created on first use."""

    def __init__(self, head: TransportHead) -> None:
        self._head = head

    def __missing__(self, key: tuple[Level, bool]) -> OnnxHead:
        self[key] = OnnxHead(self._head, *key)
        return self[key]


def _expand_levels(values: Array) -> Array:
    """Expand values (levels,) to broadcast with cells (levels, B, N, M)."""
    return values[:, None, None, None]
