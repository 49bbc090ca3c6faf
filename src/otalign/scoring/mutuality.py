"""Lower scores where the similarity of two words is not mutual: neither is the other's most similar word.

With the positive cosines S of a pair, ρ_ij = S_ij / √(max_j S_ij · max_i S_ij) is 1 where each of two words
is the most similar to the other, and less elsewhere. The mean of (max_j ρ_ij)^10 over the words, of the
sentence where it is larger, is the share u of words that have such a partner; the others are probably null.
Scores are multiplied by (ρ u)^mutuality.
"""

from typing import Any

from otalign.arrays import Array, array_namespace
from otalign.scoring.batches import PairBatch

SHARPNESS = 10  # power of ρ in the mean, so that a word whose partner prefers another one counts little


def scale_by_mutuality(links: Array, cosines: Array, batch: PairBatch, mutuality: float) -> Array:
    """Multiply scores (B, N, M) by how mutual the similarity is, of each two words and of the pair.

    Args:
        links: Scores of links, 0 where there is no word.
        cosines: Cosines (B, N, M).
        batch: The batch.
        mutuality: Power of what the scores are multiplied with, above 0.
    """
    xp = array_namespace(links)
    S = xp.where(batch.cells, xp.clip(cosines, min=0.0), xp.zeros_like(cosines))
    best = xp.sqrt(xp.max(S, axis=2, keepdims=True) * xp.max(S, axis=1, keepdims=True))
    ratios = S / xp.where(best > 0, best, xp.ones_like(best))
    shares = [
        _average(xp, xp.max(ratios, axis=axis) ** SHARPNESS, is_word)
        for axis, is_word in ((2, batch.is_source), (1, batch.is_target))
    ]
    factors = (ratios * xp.maximum(*shares)[:, None, None]) ** mutuality
    return links * xp.astype(factors, links.dtype, copy=False)


def _average(xp: Any, values: Array, is_word: Array) -> Array:
    """Compute the mean over the words of each sentence, (B,); 0 without words."""
    words = xp.sum(xp.astype(is_word, values.dtype), axis=1)
    return xp.sum(values, axis=1) / xp.where(words > 0, words, xp.ones_like(words))
