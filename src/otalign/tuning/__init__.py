"""Search for the best settings on a dev set, and calibration of trained aligners.

Example:
    >>> from otalign import Aligner, Gold, Settings
    >>> from otalign.tuning import EmbeddingStore, EncoderChoice, SearchGrid, tune
    >>> golds = [Gold(("a", "used", "car"), ("a", "car"), frozenset({(0, 0), (2, 1)}))]
    >>> encoder = Aligner.load().encoder
    >>> pairs = [(gold.source, gold.target) for gold in golds]
    >>> store = EmbeddingStore(encoder, pairs, [EncoderChoice(encoder.layer)], "cache")
    >>> grid = SearchGrid(parameters=(0.5, 1.0), distortions=(0.0, 0.2))
    >>> results = tune(golds, store, Settings(encoder=encoder.name, layer=encoder.layer), grid)
    >>> results["sure"].settings.problem_name, results["sure"].f1
    ('pot', 1.0)
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
