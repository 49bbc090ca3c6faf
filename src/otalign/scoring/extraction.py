"""Links, whose scores are above a threshold or beside such scores, and confidences of nulls, as values."""

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


def select_cells(scores: LinkScores, threshold: float, completion: float = 0.0) -> LinkCells:
    """Select the cells above a threshold, so that little has to be copied from a GPU.

    Args:
        scores: Scores of a batch.
        threshold: Minimum score of a link.
        completion: Share of the threshold that a link beside another one may lack.
    """
    links = scores.links
    pair, i, j = array_namespace(links).nonzero(complete_phrases(links, completion) > threshold)
    return LinkCells(pair, i, j, links[pair, i, j])


def complete_phrases(links: Array, completion: float) -> Array:
    """Raise each score towards that of its best neighbour, to at most 1 / (1 - completion) of itself.

    Neighbours are the links of one of the two words to the word before or after the other. Above a threshold
    are then the scores above it, and those above 1 - completion of it beside them: a threshold with
    hysteresis, which completes phrases.

    Args:
        links: Scores (B, N, M); 0 where there is no word.
        completion: Share of a threshold that a link beside another one may lack, less than 1.
    """
    if not completion:
        return links
    xp = array_namespace(links)
    best = xp.zeros_like(links)
    for start, end in ((slice(1, None), slice(None, -1)), (slice(None, -1), slice(1, None))):
        best[:, start] = xp.maximum(best[:, start], links[:, end])
        best[:, :, start] = xp.maximum(best[:, :, start], links[:, :, end])
    return xp.maximum(links, xp.minimum(links / (1 - completion), best))


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


def extract_links(
    scores: LinkScores, batch: PairBatch, threshold: float, completion: float = 0.0
) -> BatchLinks:
    """Extract the links whose scores are above a threshold, or not far below it beside another link.

    Args:
        scores: Scores of a batch.
        batch: The batch.
        threshold: Minimum score of a link.
        completion: Share of the threshold that a link beside another one may lack.

    Raises:
        ValueError: If a score is not finite.
    """
    pair, i, j, weight = (to_numpy(part) for part in select_cells(scores, threshold, completion))
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
