"""What a trained aligner says of the links of pairs, for another to learn from.

A teacher knows how sure it is of a link, and speaks of both levels where gold may know but one. So its
probabilities, calibrated as its head says, are learned beside the gold, or where there is none in its place.
"""

from collections.abc import Sequence

import numpy as np

from otalign.aligner import Aligner
from otalign.alignment import Gold
from otalign.encoders.embeddings import in_numpy
from otalign.head import LEVELS, LearnedTransport
from otalign.ot import Problem
from otalign.settings import Learned
from otalign.tuning.store import Progress, unheard
from otalign.weights import link_probabilities


def check_teacher(teacher: Aligner | None, problem: Problem | Learned) -> None:
    """That it has what is taught, and that it can be learned."""
    if teacher is None:
        return
    if not isinstance(teacher.head, LearnedTransport):
        raise ValueError(
            f"teacher must be an aligner that has learned its transport, got {teacher.signature}; "
            "only such gives probabilities"
        )
    if not isinstance(problem, Learned):
        raise ValueError(f"problem must be Learned() to learn from a teacher, got {problem!r}")


def said_by(teacher: Aligner, golds: Sequence[Gold], progress: Progress = unheard) -> list[np.ndarray]:
    """The teacher's probabilities of the links of each pair, (levels, n, m), in float16."""
    said = [np.zeros((len(LEVELS), *gold.shape), dtype=np.float16) for gold in golds]
    done = 0
    for places, tile, head in teacher.tiles((gold.source, gold.target) for gold in golds):
        assert isinstance(head, LearnedTransport)
        cells = tile.is_source[:, :, None] & tile.is_target[:, None, :]
        log_odds = head.log_odds(tile)
        for level, links in enumerate(LEVELS):
            found = in_numpy(link_probabilities(log_odds, cells, head.calibration, links))
            for k, pair in zip(places, found, strict=True):
                n, m = golds[k].shape
                said[k][level] = pair[:n, :m]
        done += len(places)
        progress("teacher", done, len(golds))
    progress("teacher", len(golds), len(golds))  # pairs without words on one side are in no tile
    return said
