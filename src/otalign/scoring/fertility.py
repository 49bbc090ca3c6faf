"""Embeddings → the mass of each word: how much of the plan it may take part in.

Uniform: 1 for every word. Norm: the length of its embedding, since words that carry more meaning have
longer ones. For the balanced problem each sentence is scaled to a total of 1; words without any length
share it alike.
"""

from typing import Any

from otalign.arrays import array_namespace
from otalign.ot import Balanced, Problem
from otalign.scoring.cost import norms
from otalign.settings import Fertility

Array = Any


def masses(X: Array, is_word: Array, fertility: Fertility, problem: Problem) -> Array:
    """The masses (B, N), in float64, of the words X (B, N, D); 0 where there is no word."""
    xp = array_namespace(X)
    mass = xp.astype(is_word, xp.float64)
    if fertility == "norm":
        mass = mass * xp.astype(norms(xp, X), xp.float64)
    if isinstance(problem, Balanced):
        uniform = xp.astype(is_word, xp.float64)
        mass = xp.where(xp.sum(mass, axis=-1, keepdims=True) > 0, mass, uniform)
        mass = mass / xp.sum(mass, axis=-1, keepdims=True)
    return mass
