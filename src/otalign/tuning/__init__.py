"""Search for the best settings on a dev set, and calibration of trained aligners.

store = Store(encoder, [(gold.source, gold.target) for gold in golds], [Choice(4), Choice(5)], "cache/")
tuned = tune(golds, store, Settings(encoder=encoder.name, layer=4), levels=("sure", "possible"))
tuned["sure"].settings, tuned["sure"].f1
"""

from otalign.tuning.calibration import calibrate
from otalign.tuning.grid import SearchGrid
from otalign.tuning.journal import Journal
from otalign.tuning.search import TrialResult, TuningResult, tune
from otalign.tuning.store import EmbeddingStore, EncoderChoice
from otalign.tuning.sweep import THRESHOLDS, Curve, sweep_thresholds

__all__ = [
    "THRESHOLDS",
    "Curve",
    "EmbeddingStore",
    "EncoderChoice",
    "Journal",
    "SearchGrid",
    "TrialResult",
    "TuningResult",
    "calibrate",
    "sweep_thresholds",
    "tune",
]
