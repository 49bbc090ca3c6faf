"""Links (scores above a threshold, or slightly below it beside a link) and null confidences, as arrays."""

from typing import NamedTuple

import numpy as np

from otalign.arrays import Array, array_namespace, is_finite
from otalign.encoders.embeddings import to_numpy
from otalign.link_arrays import LinkArrays, add_up, to_units
from otalign.scoring.batches import PairBatch, PairRows
from otalign.scoring.heads.tiles import TileCells
from otalign.scoring.scorer import LinkScores


class LinkCells(NamedTuple):
    """Cells of a batch that are links, in order, on the device of the scores."""

    pair: Array
    source: Array
    target: Array
    weight: Array


def select_cells(scores: LinkScores, threshold: float, hysteresis: float = 0.0) -> LinkCells:
    """Select the cells above a threshold, so that little has to be copied from a GPU.

    Args:
        scores: Scores of a batch.
        threshold: Minimum score of a link.
        hysteresis: Fraction by which the threshold is reduced beside another link.
    """
    links = scores.links
    if scores.tiles is not None:
        return _select_tile_cells(scores.tiles, links, threshold, hysteresis)
    pair, i, j = array_namespace(links).nonzero(apply_hysteresis(links, hysteresis) > threshold)
    return LinkCells(pair, i, j, links[pair, i, j])


def _select_tile_cells(tiles: TileCells, links: Array, threshold: float, hysteresis: float) -> LinkCells:
    """Select the cells of a long pair, as if its tiles were one matrix."""
    chosen = links / (1 - hysteresis) > threshold
    i, j, order = tiles.find_cells(chosen)
    weights = to_numpy(links[chosen])[order]
    width = int(j.max(initial=0)) + 2  # of the rows, so that the last cell of one is not beside the next
    places, strong = i * width + j, weights > threshold
    beside = [places[strong] + step for step in (-width, -1, 1, width)]
    kept = strong | np.isin(places, np.concatenate(beside))
    return LinkCells(np.zeros_like(i[kept]), i[kept], j[kept], weights[kept])


def apply_hysteresis(links: Array, hysteresis: float) -> Array:
    """Raise each score towards that of its best neighbour, to at most 1 / (1 - hysteresis) of itself.

    Neighbours are the links of one of the two words to the word before or after the other. A threshold then
    selects the scores above it and, beside them, those above 1 - hysteresis times the threshold. This
    completes phrases.

    Args:
        links: Scores (B, N, M); 0 where there is no word.
        hysteresis: Fraction by which a threshold is reduced beside another link, less than 1.
    """
    if not hysteresis:
        return links
    xp = array_namespace(links)
    best = xp.zeros_like(links)
    for start, end in ((slice(1, None), slice(None, -1)), (slice(None, -1), slice(1, None))):
        best[:, start] = xp.maximum(best[:, start], links[:, end])
        best[:, :, start] = xp.maximum(best[:, :, start], links[:, :, end])
    return xp.maximum(links, xp.minimum(links / (1 - hysteresis), best))


def extract_links(
    scores: LinkScores, batch: PairBatch | PairRows, threshold: float, hysteresis: float = 0.0
) -> LinkArrays:
    """Extract the links whose scores are above a threshold, or not far below it beside another link.

    Args:
        scores: Scores of a batch.
        batch: The batch.
        threshold: Minimum score of a link.
        hysteresis: Fraction by which the threshold is reduced beside another link.

    Raises:
        ValueError: If a score is not finite.
    """
    pair, i, j, weights = (to_numpy(part) for part in select_cells(scores, threshold, hysteresis))
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
