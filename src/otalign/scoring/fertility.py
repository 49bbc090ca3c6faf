"""Mass of each word, which the transport plan may move.

Uniform: 1 for every word. Norm: the length of the word's vector, since words that carry more meaning have
longer vectors. Where the problem needs equal totals, the masses of each sentence are divided by their sum.
"""

from otalign.arrays import Array, array_namespace
from otalign.ot import Problem
from otalign.scoring.cost import compute_norms
from otalign.settings import Fertility


def compute_masses(X: Array, is_word: Array, fertility: Fertility, problem: Problem) -> Array:
    """Compute the masses (B, N) of words X (B, N, D), in float64; 0 where there is no word."""
    xp = array_namespace(X)
    mass = xp.astype(is_word, xp.float64)
    if fertility == "norm":
        mass = mass * xp.astype(compute_norms(xp, X), xp.float64)
    if problem.needs_equal_totals:
        uniform = xp.astype(is_word, xp.float64)
        mass = xp.where(xp.sum(mass, axis=-1, keepdims=True) > 0, mass, uniform)
        mass = mass / xp.sum(mass, axis=-1, keepdims=True)
    return mass
