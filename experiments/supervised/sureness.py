"""How far the probabilities of a trained aligner can be relied on, on pairs that it has not seen."""

from collections.abc import Sequence

import numpy as np

from otalign.aligner import Aligner
from otalign.alignment import Level
from otalign.encoders.embeddings import to_numpy
from otalign.gold import Gold
from otalign.metrics.reliability import Reliability

LEAST = 0.01  # below, a link is surely none: there are so many of those that they would hide the others


def reliability(aligner: Aligner, golds: Sequence[Gold], level: Level) -> dict[str, Reliability]:
    """Of its links, without those that are surely none and with them, and of its nulls."""
    links, nulls = (np.concatenate(parts, axis=1) for parts in _collect(aligner, golds, level))
    possible = links[:, links[0] >= LEAST]
    return {
        "links": Reliability.of(*possible),
        "all cells": Reliability.of(*links),
        "nulls": Reliability.of(*nulls),
    }


def _collect(
    aligner: Aligner, golds: Sequence[Gold], level: Level
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Probabilities and facts, (2, …) each: of the cells, and of the words."""
    links: list[np.ndarray] = [np.zeros((2, 0))]
    nulls: list[np.ndarray] = [np.zeros((2, 0))]
    first = 0
    for _, embeddings in aligner.embed((gold.source, gold.target) for gold in golds):
        for indices, _, scores in aligner.score_embeddings(embeddings):
            found = [to_numpy(one) for one in scores[:3]]
            for k, *of_pair in zip(indices, *found, strict=True):
                facts = _mask_links(golds[first + k], level)
                n, m = facts.shape
                links.append(np.stack([of_pair[0][:n, :m].ravel(), facts.ravel()]))
                for axis, one, size in ((1, of_pair[1], n), (0, of_pair[2], m)):
                    nulls.append(np.stack([one[:size], ~np.any(facts, axis=axis)]))
        first += len(embeddings.shapes)
    return links, nulls


def _mask_links(gold: Gold, level: Level) -> np.ndarray:
    """Whether two words are linked, (n, m)."""
    linked = np.zeros(gold.shape, dtype=bool)
    for i, j in gold.pairs(level):
        linked[i, j] = True
    return linked
