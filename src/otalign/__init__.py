"""Word alignment between two sentences, with the words that have no counterpart, by optimal transport."""

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from otalign.aligner import Aligner
    from otalign.alignment import Alignment, Alignments, Link
    from otalign.gold import Gold
    from otalign.metrics import evaluate
    from otalign.ot import Balanced, Entropic, Exact, Partial, Unbalanced
    from otalign.settings import Settings

__version__ = "0.1.0"

__all__ = [
    "Aligner",
    "Alignment",
    "Alignments",
    "Balanced",
    "Entropic",
    "Exact",
    "Gold",
    "Link",
    "Partial",
    "Settings",
    "Unbalanced",
    "__version__",
    "evaluate",
]

# No library that otalign uses sends telemetry. Each library reads its variable when it is imported or
# started, which is after this, also in worker processes; a user's own value cannot turn telemetry back on.
os.environ |= {"ORT_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "RAY_USAGE_STATS_ENABLED": "0"}

_MODULES = {
    "Aligner": "aligner",
    "Alignment": "alignment",
    "Alignments": "alignment",
    "Gold": "gold",
    "Link": "alignment",
    "Settings": "settings",
    "evaluate": "metrics",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used, so that importing the package takes no time."""
    if name not in __all__:
        raise AttributeError(f"module 'otalign' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"otalign.{_MODULES.get(name, 'ot')}"), name)
