"""Search for the best settings on a dev set, and calibration of trained aligners.

Example:
    ```python
    pairs = [(gold.source, gold.target) for gold in golds]
    store = EmbeddingStore(encoder, pairs, [EncoderChoice(4), EncoderChoice(5)], "cache/")
    results = tune(golds, store, Settings(encoder=encoder.name, layer=4), levels=("sure", "possible"))
    results["sure"].settings, results["sure"].f1
    ```
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
