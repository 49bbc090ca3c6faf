"""Links whose scores are above a threshold, and the confidences of nulls, as plain values."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from otalign.alignment import Link
from otalign.arrays import Array, array_namespace, is_finite
from otalign.encoders.embeddings import to_numpy
from otalign.scoring.batches import PairBatch
from otalign.scoring.scorer import LinkScores

DIGITS = 4  # of scores and confidences


class PairLinks(NamedTuple):
    """Links of one pair, and the confidence of each word that it has none."""

    links: tuple[Link, ...]
    null_confidences: tuple[tuple[float, ...], tuple[float, ...]]  # source and target words

    @classmethod
    def empty(cls, n: int, m: int) -> "PairLinks":
        """Return the links of a pair with an empty side: all words of the other side are null."""
        return cls((), ((1.0,) * n, (1.0,) * m))


class LinkCells(NamedTuple):
    """Cells of a batch that are links, in order, on the device of the scores."""

    pair: Array
    source: Array
    target: Array
    weight: Array


def select_cells(scores: LinkScores, threshold: float) -> LinkCells:
    """Select the cells above a threshold, so that little has to be copied from a GPU."""
    links = scores.links
    if scores.tiles is not None:
        chosen = links > threshold
        i, j, order = scores.tiles.find_cells(chosen)
        return LinkCells(np.zeros_like(i), i, j, to_numpy(links[chosen])[order])
    pair, i, j = array_namespace(links).nonzero(links > threshold)
    return LinkCells(pair, i, j, links[pair, i, j])


@dataclass(frozen=True, eq=False)
class BatchLinks:
    """Links of the pairs of a batch, kept as numbers and made into values on demand.

    Among the values of tens of thousands of pairs, Python would spend most of its time on garbage collection.
    """

    source: list[int]
    target: list[int]
    weight: list[float]
    ends: list[int]  # where the links of each pair end, after 0
    nulls: tuple[list[list[float]], list[list[float]]]
    lengths: tuple[list[int], list[int]]

    def get(self, row: int) -> PairLinks:
        """Return the links of a pair, given its row in the batch."""
        its = slice(self.ends[row], self.ends[row + 1])
        links = tuple(map(Link, self.source[its], self.target[its], self.weight[its]))
        (sources, targets), (n, m) = self.nulls, self.lengths
        return PairLinks(links, (tuple(sources[row][: n[row]]), tuple(targets[row][: m[row]])))

    def __iter__(self) -> Iterator[PairLinks]:
        return map(self.get, range(len(self.ends) - 1))


def extract_links(scores: LinkScores, batch: PairBatch, threshold: float) -> BatchLinks:
    """Extract the links whose scores are above a threshold.

    Raises:
        ValueError: If a score is not finite.
    """
    pair, i, j, weight = (to_numpy(part) for part in select_cells(scores, threshold))
    nulls = [to_numpy(part) for part in (scores.source_nulls, scores.target_nulls)]
    if not all(map(is_finite, nulls)):  # a NaN is not a link, but makes the null score of its words NaN
        raise ValueError("the scores of some words are not finite; the head of the aligner is damaged")
    n, m = (to_numpy(mask).sum(-1).tolist() for mask in (batch.is_source, batch.is_target))
    counts = np.bincount(pair, minlength=len(nulls[0]))
    return BatchLinks(
        i.tolist(),
        j.tolist(),
        _round(weight),
        [0, *np.cumsum(counts).tolist()],
        (_round(nulls[0]), _round(nulls[1])),
        (n, m),
    )


def _round(shares: np.ndarray) -> list:
    return np.round(shares.astype(float), DIGITS).tolist()  # as float32, more digits would appear
