"""The settings that are best on a dev set: embeddings made once, batched solves, all thresholds in a pass.

store = Store(encoder, [(gold.source, gold.target) for gold in golds], [Choice(4), Choice(5)], "cache/")
tuned = tune(golds, store, Settings(encoder=encoder.name, layer=4), levels=("s", "s+p"))
tuned["s"].settings, tuned["s"].f1
"""

from otalign.tuning.calibration import suited
from otalign.tuning.grid import Grid
from otalign.tuning.journal import Journal
from otalign.tuning.search import Row, Tuned, tune
from otalign.tuning.store import Choice, Progress, Store
from otalign.tuning.sweep import THRESHOLDS, Curve, Field, curves

__all__ = [
    "THRESHOLDS",
    "Choice",
    "Curve",
    "Field",
    "Grid",
    "Journal",
    "Progress",
    "Row",
    "Store",
    "Tuned",
    "curves",
    "suited",
    "tune",
]
