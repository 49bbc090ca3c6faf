"""How well a prediction agrees with the gold: what is counted in each sentence pair, and what follows.

Counting is the only step that sees alignments. Every score is a function of means over pairs of what
was counted, so intervals and tests resample those rows and never look at a sentence again.
Scores are shares from 0 to 1.
"""

from otalign.metrics.bins import Bin, Grouping, breakdown
from otalign.metrics.counting import count, count_pair
from otalign.metrics.counts import Counted, Counts, Tally
from otalign.metrics.evaluation import evaluate
from otalign.metrics.measures import MEASURES, Measure, per_pair, scores
from otalign.metrics.resampling import Comparison, Interval, Resampling, compare, intervals
from otalign.metrics.signature import signature

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
    "breakdown",
    "compare",
    "count",
    "count_pair",
    "evaluate",
    "intervals",
    "per_pair",
    "scores",
    "signature",
]
