"""The reliability of the probabilities of a trained aligner, on pairs that it was not trained on."""

from collections.abc import Sequence

import numpy as np

from otalign.aligner import Aligner
from otalign.alignment import Level
from otalign.encoders.embeddings import to_numpy
from otalign.gold import Gold
from otalign.metrics.reliability import Reliability

MIN_PROBABILITY = 0.01  # most word pairs have a lower one, and would hide the others


def measure_reliability(aligner: Aligner, golds: Sequence[Gold], level: Level) -> dict[str, Reliability]:
    """Return the reliability of links, with and without the improbable ones, and of nulls."""
    links, nulls = (np.concatenate(parts, axis=1) for parts in _collect(aligner, golds, level))
    probable = links[:, links[0] >= MIN_PROBABILITY]
    return {
        "links": Reliability.from_outcomes(*probable),
        "all cells": Reliability.from_outcomes(*links),
        "nulls": Reliability.from_outcomes(*nulls),
    }


def _collect(
    aligner: Aligner, golds: Sequence[Gold], level: Level
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return probabilities and labels, (2, …) each, of word pairs and of words."""
    links: list[np.ndarray] = [np.zeros((2, 0))]
    nulls: list[np.ndarray] = [np.zeros((2, 0))]
    first = 0
    for _, embeddings in aligner.embed((gold.source, gold.target) for gold in golds):
        scored = aligner.score_embeddings(embeddings, lambda indices, _, scores: (indices.tolist(), scores))
        for indices, scores in scored:
            arrays = [to_numpy(array) for array in scores[:3]]
            for k, *pair_scores in zip(indices, *arrays, strict=True):
                labels = _mask_links(golds[first + k], level)
                n, m = labels.shape
                links.append(np.stack([pair_scores[0][:n, :m].ravel(), labels.ravel()]))
                for axis, null_scores, size in ((1, pair_scores[1], n), (0, pair_scores[2], m)):
                    nulls.append(np.stack([null_scores[:size], ~np.any(labels, axis=axis)]))
        first += len(embeddings.shapes)
    return links, nulls


def _mask_links(gold: Gold, level: Level) -> np.ndarray:
    """Return the mask (n, m) of linked words."""
    linked = np.zeros(gold.shape, dtype=bool)
    for i, j in gold.pairs(level):
        linked[i, j] = True
    return linked
