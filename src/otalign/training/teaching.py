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
from otalign.strengths import tiles
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
    for chunk, embeddings in teacher.embedded((gold.source, gold.target) for gold in golds):
        head = teacher.head and teacher.head.beside(embeddings.vectors)
        assert isinstance(head, LearnedTransport)
        here = said[done : done + len(chunk)]
        for places, tile in tiles(embeddings, [one.shape[1:] for one in here]):
            cells = tile.is_source[:, :, None] & tile.is_target[:, None, :]
            log_odds = head.log_odds(tile)
            for level, links in enumerate(LEVELS):
                found = in_numpy(link_probabilities(log_odds, cells, head.calibration, links))
                for k, pair in zip(places, found, strict=True):
                    _, n, m = here[k].shape
                    here[k][level] = pair[:n, :m]
        done += len(chunk)
        progress("teacher", done, len(golds))
    return said
