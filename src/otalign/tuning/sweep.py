"""Precision and recall at all thresholds in one pass, equal to aligning and scoring at each.

A link needs a score above the threshold, so all that matters of a cell is its rank: the number of thresholds
below its score. Links are counted by the ranks of the cells, nulls by the highest rank of each word, and
cumulative sums over ranks give the counts at every threshold.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from otalign.alignment import Level
from otalign.arrays import Array
from otalign.encoders import Embeddings
from otalign.encoders.embeddings import to_numpy
from otalign.gold import Gold
from otalign.metrics import Tally
from otalign.metrics.counts import compute_f1
from otalign.scoring.batches import PairBatch, split_into_batches
from otalign.scoring.transport import BUDGET, TransportInputs, compute_inputs, score_links
from otalign.settings import Settings
from otalign.text.spelling import LENGTHS

THRESHOLDS = tuple(k / 100 for k in range(101))
DIGITS = 10  # digits of an F1 in comparisons: the rest is rounding, which varies with the order of the pairs

Index = tuple[np.ndarray, ...]  # positions in an array of ranks, the pair's number first


@dataclass(frozen=True, eq=False)
class Curve:
    """Precision and recall of a corpus at each threshold.

    Attributes:
        thresholds: Thresholds in ascending order, (T,).
        precision: Precision at each threshold, (T,).
        recall: Recall at each threshold, (T,).

    Example:
        >>> curve = Curve(np.array([0.2, 0.5]), np.array([0.5, 1.0]), np.array([1.0, 1.0]))
        >>> curve.thresholds[curve.best]
        np.float64(0.5)
    """

    thresholds: np.ndarray
    precision: np.ndarray
    recall: np.ndarray

    @property
    def f1(self) -> np.ndarray:
        """F1 at each threshold, (T,)."""
        return compute_f1(self.precision, self.recall)

    @property
    def best(self) -> int:
        """Index of the first threshold with the highest F1."""
        return int(np.argmax(np.round(self.f1, DIGITS)))


@dataclass(frozen=True, eq=False)
class Marks:
    """Positions of the links and nulls of a batch's gold at one level, and their number."""

    links: Index
    source_nulls: Index
    target_nulls: Index
    count: np.ndarray  # (B, 1)


@dataclass(frozen=True, eq=False)
class MarkedBatch:
    """A batch of pairs, with their indices in the corpus, their gold at each level and lengths of words."""

    indices: list[int]
    batch: PairBatch
    marks: dict[Level, Marks]
    lengths: tuple[Array, Array] | None = None  # (B, N) and (B, M)

    @cached_property
    def words(self) -> tuple[Index, Index]:
        """Positions of the words, source and target."""
        return np.nonzero(to_numpy(self.batch.is_source)), np.nonzero(to_numpy(self.batch.is_target))

    def count(self, scores: Mapping[Level, np.ndarray], thresholds: np.ndarray) -> dict[Level, Tally]:
        """Count links and nulls of each pair at each threshold, (B, T), given the scores (B, N, M)."""
        counters: dict[int, _RankCounter] = {}  # levels may share their scores
        for level in scores:
            counters.setdefault(id(scores[level]), _RankCounter.build(scores[level], thresholds))
        return {
            level: Tally(
                counters[id(scores[level])].count_predictions(
                    marks.links, marks.source_nulls, marks.target_nulls
                ),
                counters[id(scores[level])].count_predictions(None, *self.words),
                marks.count,
            )
            for level, marks in self.marks.items()
        }


class _RankCounter(NamedTuple):
    """Ranks of the cells (B, N, M) of a batch, and of its words: the number of thresholds below each."""

    cells: np.ndarray
    source: np.ndarray
    target: np.ndarray
    thresholds: int

    @classmethod
    def build(cls, scores: np.ndarray, thresholds: np.ndarray) -> "_RankCounter":
        # Thresholds get the type of the scores, as in a comparison.
        ranks = np.searchsorted(thresholds.astype(scores.dtype), scores, side="left")
        return cls(ranks, ranks.max(axis=2), ranks.max(axis=1), len(thresholds))

    def count_predictions(self, links: Index | None, source: Index, target: Index) -> np.ndarray:
        """Count predicted links and nulls at each threshold, (B, T).

        Args:
            links: Cells among which predicted links are counted; None for all.
            source: Source words among which predicted nulls are counted.
            target: Target words among which predicted nulls are counted.
        """
        size = len(self.cells), self.thresholds + 1
        linked = np.cumsum(_histogram(self.cells, links, size)[:, :0:-1], axis=1)[:, ::-1]
        words = _histogram(self.source, source, size) + _histogram(self.target, target, size)
        return linked + np.cumsum(words, axis=1)[:, :-1]


def _histogram(ranks: np.ndarray, where: Index | None, size: tuple[int, int]) -> np.ndarray:
    """Count how often each pair has each rank, (B, T + 1), at some positions or in all cells.

    Cells without words have rank 0 and are not among the positions of words, so they do not count.
    """
    pairs, width = size
    if where is None:
        flat = ranks + width * np.arange(pairs)[:, None, None]
    else:
        flat = ranks[where] + width * where[0]
    return np.bincount(flat.reshape(-1), minlength=pairs * width).reshape(size)


def compute_curves(
    pairs: int,
    levels: Iterable[Level],
    batches: Iterable[tuple[MarkedBatch, Mapping[Level, np.ndarray]]],
    thresholds: Sequence[float] = THRESHOLDS,
) -> dict[Level, Curve]:
    """Compute precision and recall of a corpus at every threshold.

    Args:
        pairs: Number of pairs of the corpus.
        levels: Levels of the gold.
        batches: Batches with the scores (B, N, M) of their links at each level. Pairs with an empty side are
            in none; they consist of nulls at any threshold, and are right.
        thresholds: Thresholds in ascending order.
    """
    at = np.array(thresholds, dtype=float)
    rates: dict[Level, np.ndarray] = {level: np.ones((2, pairs, len(at))) for level in levels}
    for batch, scores in batches:
        for level, tally in batch.count(scores, at).items():
            rates[level][:, batch.indices] = tally.precision, tally.recall
    return {level: Curve(at, *rate.mean(axis=1)) for level, rate in rates.items()}


@dataclass(frozen=True, eq=False)
class DevCorpus:
    """A corpus with its embeddings, centred if they are to be, ready to be solved under any settings."""

    pairs: int
    levels: tuple[Level, ...]
    batches: tuple[MarkedBatch, ...]

    @classmethod
    def build(cls, golds: Sequence[Gold], embeddings: Embeddings, levels: Iterable[Level]) -> "DevCorpus":
        """Split the pairs of a corpus into batches, and mark their gold links."""
        levels = tuple(levels)
        lengths = [length for gold in golds for length in gold.shape]
        if len(embeddings.starts) != len(lengths) + 1 or (np.diff(embeddings.starts) != lengths).any():
            raise ValueError(
                f"embeddings must be of the words of the {len(golds)} golds, source, target, source, …, "
                f"got {len(embeddings.starts) - 1} sentences of {embeddings.words} words"
            )
        words = [word for gold in golds for side in (gold.source, gold.target) for word in side]
        letters = Embeddings(LENGTHS.embed(words), embeddings.starts)
        batches = []
        for indices, batch in split_into_batches(embeddings, BUDGET):
            marked = mark_batch(indices, batch, [golds[k] for k in indices], levels)
            source, target = (letters.pad([2 * k + side for k in indices])[0][..., 0] for side in (0, 1))
            batches.append(replace(marked, lengths=(source, target)))
        return cls(len(golds), levels, tuple(batches))

    def compute_inputs(self, settings: Settings) -> list[TransportInputs]:
        """Compute the costs and masses of all pairs."""
        return [compute_inputs(marked.batch, settings, marked.lengths) for marked in self.batches]

    def compute_curves(
        self,
        inputs: Iterable[TransportInputs],
        settings: Settings,
        thresholds: Sequence[float] = THRESHOLDS,
    ) -> dict[Level, Curve]:
        """Score all pairs under settings, and compute the curve of each level."""

        def score() -> Iterator[tuple[MarkedBatch, dict[Level, np.ndarray]]]:
            for marked, batch_inputs in zip(self.batches, inputs, strict=True):
                scores = to_numpy(score_links(batch_inputs, marked.batch, settings).links)
                yield marked, dict.fromkeys(self.levels, scores)

        return compute_curves(self.pairs, self.levels, score(), thresholds)


def sweep_thresholds(
    golds: Sequence[Gold],
    embeddings: Embeddings,
    settings: Settings,
    levels: Iterable[Level] = ("sure",),
    thresholds: Sequence[float] = THRESHOLDS,
) -> dict[Level, Curve]:
    """Compute the curves of a corpus under settings, whose own threshold is not used.

    Args:
        golds: Pairs with their gold links.
        embeddings: Embeddings of source, target, source, …, centred if they are to be.
        settings: Settings of the transport.
        levels: Levels of the gold.
        thresholds: Thresholds in ascending order.

    Returns:
        The curve of each level.

    Raises:
        ValueError: If the embeddings are not those of the words of the golds.

    Example:
        >>> import numpy as np
        >>> from otalign import Gold, Settings
        >>> from otalign.encoders import Embeddings
        >>> from otalign.tuning import sweep_thresholds
        >>> golds = [Gold(("a", "used", "car"), ("a", "car"), frozenset({(0, 0), (2, 1)}))]
        >>> vectors = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0, 1]], dtype=np.float32)
        >>> embeddings = Embeddings(vectors, np.array([0, 3, 5]))
        >>> settings = Settings(encoder="bert-base-uncased", layer=8)
        >>> float(sweep_thresholds(golds, embeddings, settings)["sure"].f1.max())
        1.0
    """
    corpus = DevCorpus.build(golds, embeddings, levels)
    inputs = corpus.compute_inputs(settings)
    return corpus.compute_curves(inputs, settings, thresholds)


def mark_batch(
    indices: list[int], batch: PairBatch, golds: Sequence[Gold], levels: Iterable[Level]
) -> MarkedBatch:
    """Mark the gold of a batch at each level."""
    return MarkedBatch(indices, batch, {level: mark_golds(golds, level) for level in levels})


def mark_golds(golds: Sequence[Gold], level: Level) -> Marks:
    """Find the positions of the links and nulls of golds."""
    links, nulls = [], ([], [])
    for k, gold in enumerate(golds):
        pairs = gold.pairs(level)
        links += [(k, i, j) for i, j in pairs]
        for side, length in enumerate(gold.shape):
            linked = {pair[side] for pair in pairs}
            nulls[side].extend((k, word) for word in range(length) if word not in linked)
    marks = _index(links, 3), _index(nulls[0], 2), _index(nulls[1], 2)
    count = sum(np.bincount(index[0], minlength=len(golds)) for index in marks)
    return Marks(*marks, np.reshape(count, (-1, 1)))


def _index(places: list[tuple[int, ...]], width: int) -> Index:
    return tuple(np.array(places, dtype=np.intp).reshape(-1, width).T)
