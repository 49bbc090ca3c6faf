"""Word alignment between two sentences, with the words that have no counterpart, by optimal transport."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from otalign.aligner import Aligner
    from otalign.alignment import Alignment, Alignments, Gold, Link
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
]

HOMES = {
    "Aligner": "aligner",
    "Alignment": "alignment",
    "Alignments": "alignment",
    "Gold": "alignment",
    "Link": "alignment",
    "Settings": "settings",
}


def __getattr__(name: str) -> Any:
    """Each name is fetched when it is first asked for, so that importing the package takes no time."""
    if name not in __all__:
        raise AttributeError(f"module 'otalign' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"otalign.{HOMES.get(name, 'ot')}"), name)
