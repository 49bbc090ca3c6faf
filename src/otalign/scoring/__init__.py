"""From word vectors to scores of links and nulls.

Pairs are scored in batches (`batches`) by a `Scorer`: `TransportScorer` solves a transport problem between
the words (`cost`, `fertility`, `transport`), `LearnedScorer` applies a trained head (`heads`, `learned`).
`extraction` turns scores into links.
"""

from otalign.link_arrays import LinkArrays, PairLinks
from otalign.scoring.batches import (
    BatchBudget,
    PairBatch,
    PairRows,
    find_rows,
    group_pairs,
    split_into_batches,
)
from otalign.scoring.extraction import extract_links
from otalign.scoring.heads import Head, ProjectionHead, TransportHead, load_head
from otalign.scoring.learned import LearnedScorer
from otalign.scoring.scorer import LinkScores, Scorer
from otalign.scoring.transport import TransportScorer
from otalign.settings import AnySettings, LearnedSettings

__all__ = [
    "BatchBudget",
    "Head",
    "LearnedScorer",
    "LinkArrays",
    "LinkScores",
    "PairBatch",
    "PairLinks",
    "PairRows",
    "ProjectionHead",
    "Scorer",
    "TransportHead",
    "TransportScorer",
    "extract_links",
    "find_rows",
    "group_pairs",
    "load_head",
    "make_scorer",
    "split_into_batches",
]


def make_scorer(settings: AnySettings, head: Head | None = None, int8: bool = False) -> Scorer:
    """Make the scorer of an aligner. No other place asks which kind of scorer an aligner has.

    Args:
        settings: Settings of the aligner.
        head: Its head, if it was trained.
        int8: Whether its encoder computes in int8.

    Raises:
        ValueError: If the settings and the head do not belong together.
    """
    if isinstance(settings, LearnedSettings):
        if not isinstance(head, TransportHead):
            raise ValueError("settings must have a transport problem, since the aligner has no trained head")
        return LearnedScorer(head, settings.links, int8)
    if isinstance(head, TransportHead):
        raise ValueError(
            f"settings must be LearnedSettings, since the aligner has learned its transport, got problem "
            f"{settings.problem!r}"
        )
    assert head is None or isinstance(head, ProjectionHead)
    return TransportScorer(settings, head)
