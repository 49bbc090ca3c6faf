"""Supervised training of an aligner: an encoder and a head, learned from gold links and from teachers.

Names are loaded when they are first used: the worker processes that prepare batches need no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from otalign.training.augmentation import NO_AUGMENTATION, Augmentation
    from otalign.training.distillation import Distillation
    from otalign.training.fit import refit, train
    from otalign.training.loop import Checkpoint, Epoch
    from otalign.training.predictions import predict_targets
    from otalign.training.recipe import FURTHER, PAPER, Recipe, recipe_for
    from otalign.training.sources import CorpusSplits
    from otalign.training.store import PairTexts
    from otalign.training.trained import Trained

__all__ = [
    "FURTHER",
    "NO_AUGMENTATION",
    "PAPER",
    "Augmentation",
    "Checkpoint",
    "CorpusSplits",
    "Distillation",
    "Epoch",
    "PairTexts",
    "Recipe",
    "Trained",
    "predict_targets",
    "recipe_for",
    "refit",
    "train",
]

_MODULES = {
    "augmentation": ("NO_AUGMENTATION", "Augmentation"),
    "distillation": ("Distillation",),
    "fit": ("refit", "train"),
    "loop": ("Checkpoint", "Epoch"),
    "predictions": ("predict_targets",),
    "recipe": ("FURTHER", "PAPER", "Recipe", "recipe_for"),
    "sources": ("CorpusSplits",),
    "store": ("PairTexts",),
    "trained": ("Trained",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
