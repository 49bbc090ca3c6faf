"""Evaluation of predictions in one call."""

from collections.abc import Iterable

from otalign.alignment import Alignment, Level
from otalign.gold import Gold
from otalign.metrics.counting import count
from otalign.metrics.measures import compute_scores

DEFAULT_MEASURES = ("precision", "recall", "f1", "aer")


def evaluate(
    predictions: Iterable[Alignment],
    gold: Iterable[Alignment | Gold],
    level: Level = "sure",
    measures: Iterable[str] = DEFAULT_MEASURES,
) -> dict[str, float]:
    """Score predicted alignments against gold.

    Args:
        predictions: Predicted alignments.
        gold: Gold of the same pairs, in the same order.
        level: Gold links to score: the sure ones, or all possible ones.
        measures: Names of measures; `otalign.metrics.MEASURES` lists them.

    Returns:
        The scores by name, from 0 to 1. Links and nulls count alike, except where the name says otherwise.

    Raises:
        ValueError: If the two do not have the same pairs, or a measure is unknown.

    Example:
        >>> from otalign import Alignment, Gold
        >>> gold = [Gold(["a", "b"], ["x", "y"], {(0, 0), (1, 1)})]
        >>> evaluate([Alignment(["a", "b"], ["x", "y"], [(0, 0)])], gold, measures=["precision", "recall"])
        {'precision': 0.3333333333333333, 'recall': 0.5}
    """
    return compute_scores(count(predictions, gold, level), measures)
