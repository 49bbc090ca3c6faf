"""Evaluation of predicted alignments against gold: counts of each sentence pair, and scores from them.

Counting is the only step that sees alignments. Every score is a function of means over pairs of these counts,
so that confidence intervals and significance tests resample the counts. Scores are shares from 0 to 1.

Example:
    >>> from otalign.metrics import count_pair, compute_scores
    >>> counts = count_pair(predicted=[(0, 0), (1, 1)], gold=[(0, 0)], n=2, m=2)
    >>> round(compute_scores(counts, ["links_precision"])["links_precision"], 2)
    0.5
"""

from otalign.metrics.bins import Bin, Grouping, break_down
from otalign.metrics.counting import count, count_pair
from otalign.metrics.counts import Counted, Counts, Tally
from otalign.metrics.evaluation import evaluate
from otalign.metrics.measures import MEASURES, Measure, compute_scores, score_pairs
from otalign.metrics.resampling import Comparison, Interval, Resampling, compare, compute_intervals
from otalign.metrics.signature import describe_score

__all__ = [
    "MEASURES",
    "Bin",
    "Comparison",
    "Counted",
    "Counts",
    "Grouping",
    "Interval",
    "Measure",
    "Resampling",
    "Tally",
    "break_down",
    "compare",
    "compute_intervals",
    "compute_scores",
    "count",
    "count_pair",
    "describe_score",
    "evaluate",
    "score_pairs",
]
