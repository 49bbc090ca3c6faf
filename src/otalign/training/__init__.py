"""Supervised alignment: an encoder and a head, trained through the transport on gold links."""

from otalign.training.fit import Source, Trained, train
from otalign.training.loop import Epoch
from otalign.training.recipe import PAPER, Recipe, recipe_for

__all__ = ["PAPER", "Epoch", "Recipe", "Source", "Trained", "recipe_for", "train"]
