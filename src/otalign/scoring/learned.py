"""Scores from learned transport: calibrated probabilities of links and nulls."""

from dataclasses import dataclass, replace
from typing import Any

from otalign.alignment import LEVELS, Level
from otalign.arrays import Array, array_namespace, is_numpy_array
from otalign.scoring.batches import BatchBudget, PairBatch, PairRows, is_long
from otalign.scoring.heads import TransportHead
from otalign.scoring.heads.cells import SOURCE, TARGET
from otalign.scoring.heads.onnx_head import EPSILON, STEP
from otalign.scoring.scorer import LinkScores
from otalign.text.spelling import SPELLING, WordFeatures

# The head computes so much for each cell that few cells fit into a cache, and padding is expensive.
BUDGET = BatchBudget(cells=1 << 14, cell_bytes=1 << 11, step=8)
ONNX_BUDGET = BUDGET._replace(step=STEP, fill_step=True)


@dataclass(frozen=True, eq=False)
class LearnedScorer:
    """Scores links of a level by a trained head. A pair may have no link at all.

    Attributes:
        head: The head.
        level: Level of the links.
        int8: Whether the encoder computes in int8, and so may the head.
    """

    head: TransportHead
    level: Level
    int8: bool = False
    splits_paragraphs: bool = True

    @property
    def budget(self) -> BatchBudget:
        """Size of the batches with which the scorer is fastest."""
        return ONNX_BUDGET if is_numpy_array(self.head.map) else BUDGET

    @property
    def word_features(self) -> WordFeatures | None:
        """The spelling of words, if the head reads it."""
        return SPELLING if self.head.reads_spelling else None

    def to_device(self, vectors: Array) -> "LearnedScorer":
        """Return the scorer with the arrays of its head in the library, and on the device, of the vectors."""
        return replace(self, head=self.head.to_device(vectors))

    def score(self, batch: PairBatch) -> LinkScores:
        """Compute the calibrated probabilities of all links and nulls of a batch."""
        if len(batch.X) == 1 and is_long(int(batch.is_source.sum()), int(batch.is_target.sum())):
            return self._score_tiles(batch)
        if is_numpy_array(batch.X):
            return self.score_rows(PairRows.from_batch(batch, len(self.head.offset)))
        logits = self.head.compute_logits(batch)
        links = compute_link_probabilities(logits, batch.cells, self.head.calibration, self.level)
        xp, none = array_namespace(links), compute_log_none(links)
        return self._add_nulls(links, xp.sum(none, axis=2), xp.sum(none, axis=1))

    def score_rows(self, rows: PairRows) -> LinkScores:
        """Compute the same for a batch that is given as rows of embeddings."""
        if is_numpy_array(rows.embeddings.vectors) and not rows.is_long:
            return self._add_nulls(*self.head.onnx[self.level, self.int8].score(rows))
        return self.score(rows.pad())

    def _add_nulls(self, links: Array, source: Array, target: Array) -> LinkScores:
        """Return the scores, given the logarithms of the probabilities of words to have no link."""
        sums = array_namespace(links).concat([source, target], axis=1)
        nulls, sources = self._score_nulls(to_logits(sums)), links.shape[1]
        return LinkScores(links, nulls[:, :sources], nulls[:, sources:])

    def _score_tiles(self, batch: PairBatch) -> LinkScores:
        """Score the links and nulls of a long pair by the tiles where links may be."""
        tiles = self.head.select_tiles(batch)
        logits = tiles.crop(self.head.compute_logits(batch, tiles))
        cells = tiles.crop(tiles.mask)
        links = compute_link_probabilities(logits, cells, self.head.calibration, self.level)
        none = compute_log_none(links)
        sums = (tiles.sum_words(none, side) for side in (SOURCE, TARGET))
        return LinkScores(links, *(self._score_nulls(to_logits(x)) for x in sums), tiles=tiles)

    def _score_nulls(self, logits: Array) -> Array:
        """Compute the calibrated probabilities of nulls."""
        calibration = self.head.null_calibration[:, LEVELS.index(self.level)]
        return _sigmoid(array_namespace(logits), calibrate(logits, calibration))


def compute_link_probabilities(logits: Array, cells: Array, calibration: Array, level: Level) -> Array:
    """Compute the probabilities (B, N, M) of the links of a level.

    Args:
        logits: Logits of both levels (levels, B, N, M).
        cells: Mask of the pairs of words (B, N, M).
        calibration: Calibration of both levels (4, levels).
        level: Level of the links. A sure link is never more probable than the same possible link.
    """
    xp = array_namespace(logits)
    sure, possible = (_sigmoid(xp, calibrate(logits[k], calibration[:, k])) for k in range(len(LEVELS)))
    links = possible if level == "possible" else xp.minimum(sure, possible)
    return xp.where(cells, links, xp.zeros_like(links))


def calibrate(logits: Array, calibration: Array) -> Array:
    """Return scale · x + bend · asinh x + shift + tilt · log(2 + 2 cosh x) for logits x.

    The slope goes from scale - tilt for negative logits to scale + tilt for positive ones. The bend is 0,
    except in heads that were saved by earlier versions.

    Args:
        logits: Logits of any shape.
        calibration: Scale, bend, shift and tilt.
    """
    xp, (scale, bend, shift, tilt) = array_namespace(logits), calibration
    size = xp.abs(logits)
    return scale * logits + bend * xp.asinh(logits) + shift + tilt * (size + 2 * xp.log1p(xp.exp(-size)))


def compute_null_logits(links: Array, axis: int) -> Array:
    """Compute the logits of words having no link along an axis, as if links (B, N, M) were independent."""
    return to_logits(array_namespace(links).sum(compute_log_none(links), axis=axis))


def compute_log_none(links: Array) -> Array:
    """Compute the logarithms of the probabilities that there is no link."""
    xp = array_namespace(links)
    return xp.log1p(-xp.clip(links, 0.0, 1 - EPSILON))


def to_logits(logarithms: Array) -> Array:
    """Convert logarithms of probabilities to logits."""
    xp = array_namespace(logarithms)
    below = xp.clip(logarithms, None, -EPSILON)
    return below - xp.log(-xp.expm1(below))


def _sigmoid(xp: Any, x: Array) -> Array:
    return 1 / (1 + xp.exp(-xp.clip(x, -60.0, 60.0)))
