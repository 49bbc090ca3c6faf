"""Links whose scores are above a threshold, and the confidences of nulls, as arrays."""

from typing import NamedTuple

import numpy as np

from otalign.arrays import Array, array_namespace, is_finite
from otalign.encoders.embeddings import to_numpy
from otalign.link_arrays import LinkArrays, add_up, to_units
from otalign.scoring.batches import PairBatch
from otalign.scoring.scorer import LinkScores


class LinkCells(NamedTuple):
    """Cells of a batch that are links, in order, on the device of the scores."""

    pair: Array
    source: Array
    target: Array
    weight: Array


def select_cells(scores: LinkScores, threshold: float) -> LinkCells:
    """Select the cells above a threshold, so that little has to be copied from a GPU."""
    links = scores.links
    pair, i, j = array_namespace(links).nonzero(links > threshold)
    return LinkCells(pair, i, j, links[pair, i, j])


def extract_links(scores: LinkScores, batch: PairBatch, threshold: float) -> LinkArrays:
    """Extract the links whose scores are above a threshold.

    Raises:
        ValueError: If a score is not finite.
    """
    pair, i, j, weights = (to_numpy(part) for part in select_cells(scores, threshold))
    nulls = [to_numpy(part) for part in (scores.source_nulls, scores.target_nulls)]
    if not all(map(is_finite, nulls)):  # a NaN is not a link, but makes the null score of its words NaN
        raise ValueError("the scores of some words are not finite; the head of the aligner is damaged")
    is_word = np.concatenate([to_numpy(batch.is_source), to_numpy(batch.is_target)], axis=1)
    width = batch.is_source.shape[1]
    lengths = np.stack([is_word[:, :width].sum(1), is_word[:, width:].sum(1)], axis=1)
    return LinkArrays(
        add_up(np.bincount(pair, minlength=len(is_word))),
        i.astype(np.int32),
        j.astype(np.int32),
        to_units(weights),
        add_up(lengths.reshape(-1)),
        to_units(np.concatenate(nulls, axis=1)[is_word]),
    )
