"""Supervised training of an aligner: an encoder and a head, learned from gold links and from teachers.

Modules are imported when a name of theirs is first used: worker processes that prepare batches need no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from otalign.training.augmentation import NO_AUGMENTATION, Augmentation
    from otalign.training.checkpoints import Checkpoint
    from otalign.training.distillation import Distillation
    from otalign.training.epochs import DevScore, Epoch
    from otalign.training.fit import refit, train
    from otalign.training.objectives import choose_recipe
    from otalign.training.options import RunOptions
    from otalign.training.predictions import predict_targets
    from otalign.training.recipe import FURTHER, PAPER, Recipe
    from otalign.training.result import TrainingResult
    from otalign.training.sources import CorpusSplits
    from otalign.training.store import PairTexts

__all__ = [
    "FURTHER",
    "NO_AUGMENTATION",
    "PAPER",
    "Augmentation",
    "Checkpoint",
    "CorpusSplits",
    "DevScore",
    "Distillation",
    "Epoch",
    "PairTexts",
    "Recipe",
    "RunOptions",
    "TrainingResult",
    "choose_recipe",
    "predict_targets",
    "refit",
    "train",
]

_MODULES = {
    "augmentation": ("NO_AUGMENTATION", "Augmentation"),
    "checkpoints": ("Checkpoint",),
    "distillation": ("Distillation",),
    "epochs": ("DevScore", "Epoch"),
    "fit": ("refit", "train"),
    "objectives": ("choose_recipe",),
    "options": ("RunOptions",),
    "predictions": ("predict_targets",),
    "recipe": ("FURTHER", "PAPER", "Recipe"),
    "result": ("TrainingResult",),
    "sources": ("CorpusSplits",),
    "store": ("PairTexts",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
