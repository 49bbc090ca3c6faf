"""Mass of each word, which the transport plan may move.

With uniform fertility it is 1 for every word. With `norm` it is the length of the word's vector, since words
that carry more meaning have longer vectors. With `length` it grows with the number of letters, since short
words are mostly function words and punctuation, which often have no counterpart. If the problem needs equal
totals, the masses of each sentence are divided by their sum.
"""

from otalign.arrays import Array, array_namespace
from otalign.ot import Problem
from otalign.scoring.cost import compute_norms
from otalign.settings import Fertility

LETTERS, POWER = 6, 0.3  # a word of k letters has the mass (min(k, LETTERS) / LETTERS) ** POWER


def compute_masses(
    X: Array, is_word: Array, lengths: Array | None, fertility: Fertility, problem: Problem
) -> Array:
    """Compute the masses (B, N) of words, in float64; 0 where there is no word.

    Args:
        X: Vectors (B, N, D).
        is_word: Mask of the words (B, N).
        lengths: Numbers of letters (B, N); may be None unless the fertility is `length`.
        fertility: What the masses depend on.
        problem: Problem that the masses are for.
    """
    xp = array_namespace(X)
    mass = xp.astype(is_word, xp.float64)
    if fertility == "norm":
        mass = mass * xp.astype(compute_norms(xp, X), xp.float64)
    if fertility == "length":
        mass = mass * (xp.clip(xp.astype(lengths, xp.float64), 1, LETTERS) / LETTERS) ** POWER
    if problem.needs_equal_totals:
        uniform = xp.astype(is_word, xp.float64)
        mass = xp.where(xp.sum(mass, axis=-1, keepdims=True) > 0, mass, uniform)
        mass = mass / xp.sum(mass, axis=-1, keepdims=True)
    return mass
