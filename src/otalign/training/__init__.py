"""Supervised alignment: an encoder and a head, trained through the transport on gold links."""

from otalign.training.fit import refit, train
from otalign.training.loop import Checkpoint, Epoch
from otalign.training.recipe import FURTHER, PAPER, Recipe, recipe_for
from otalign.training.sources import Source
from otalign.training.trained import Trained

__all__ = [
    "FURTHER",
    "PAPER",
    "Checkpoint",
    "Epoch",
    "Recipe",
    "Source",
    "Trained",
    "recipe_for",
    "refit",
    "train",
]
