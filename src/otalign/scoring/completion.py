"""Completion of phrases: words that are still free join the link of a word nearby, if the span of both fits.

A plan needs this because the words linked to a word share its mass. Whether word i belongs to the link k–j is
told by the spans of up to `SPAN` words that begin at k and contain i: the gain of a span is its cosine with
word j, less the cosine of k alone. Each span supports the link i–j by 1 + gain / `LOSS`, at least 0.
"""

from collections.abc import Sequence
from typing import NamedTuple

from otalign.arrays import Array, array_namespace, shift_cells
from otalign.scoring.batches import PairBatch
from otalign.scoring.cost import compute_norms

SPAN = 3  # words of the longest span
LOSS = 0.2  # decrease of the cosine at which a span no longer supports a link
SELECTIVITY = 3  # power of the mass of the linked word: words of little mass are rarely linked to phrases


class SpanCosines(NamedTuple):
    """Cosines (B, N, M) of words with the spans that begin at a word of the other sentence.

    The vector of a span is the sum of its words'. Entry n − 1 is for spans of n words: −∞ where there are
    fewer, except that padding may hold anything as a span of one word.
    """

    source: Sequence[Array]  # spans of source words with target words
    target: Sequence[Array]  # source words with spans of target words


def compute_span_cosines(batch: PairBatch) -> SpanCosines:
    """Compute the cosines of all spans of up to `SPAN` words, in float64."""
    xp = array_namespace(batch.X)
    products = xp.astype(batch.X @ xp.matrix_transpose(batch.Y), xp.float64)
    source = _compute_side(batch.X, batch.is_source, products, compute_norms(xp, batch.Y))
    target = _compute_side(batch.Y, batch.is_target, products.mT, compute_norms(xp, batch.X))
    return SpanCosines(source, [cosines.mT for cosines in target])


def _compute_side(X: Array, is_word: Array, products: Array, other_norms: Array) -> list[Array]:
    """Compute the cosines of the spans of one sentence with the words of the other, by length of span.

    Args:
        X: Vectors (B, N, D).
        is_word: Mask of the words (B, N).
        products: Scalar products (B, N, M) of the vectors with those of the other sentence.
        other_norms: Lengths (B, M) of those of the other sentence.
    """
    xp = array_namespace(X)
    found: list[Array] = []
    sums, dots, exists = X, products, is_word[..., None]
    for step in range(SPAN):
        if step:
            sums = sums + shift_cells(xp, X, -step, 0)
            dots = dots + shift_cells(xp, products, -step, 0)
            exists = exists & shift_cells(xp, is_word[..., None], -step, 0)
        lengths = compute_norms(xp, sums)[:, :, None] * other_norms[:, None, :]
        cosines = dots / xp.where(lengths > 0, lengths, xp.ones_like(lengths))
        found.append(xp.where(exists, cosines, -xp.inf) if step else cosines)
    return found


def complete_phrases(
    links: Array, similarity: Array, cosines: SpanCosines, masses: tuple[Array, Array] | None, weight: float
) -> Array:
    """Let words that are still free join the links of words nearby, (B, N, M).

    A word is free as far as its strongest link is below 1. It takes over the score of a link in proportion to
    this, to the weight, to its own similarity with the linked word, to the support of the spans, and to a
    power of the mass of the linked word. Scores stay in [0, 1].

    Args:
        links: Scores of links (B, N, M), 0 where there is no word.
        similarity: Similarities (B, N, M), from 0 to 1, and 0 where there is no word.
        cosines: Cosines of spans.
        masses: Masses of the words (B, N) and (B, M); None if all are equal.
        weight: Weight of what is added.
    """
    xp = array_namespace(links)
    a, b = (None, None) if masses is None else (_scale_masses(mass) for mass in masses)
    joined = _join_links(links, cosines.source, b)
    joined = joined + _join_links(links.mT, [one.mT for one in cosines.target], a).mT
    return xp.clip(links + xp.astype(weight * similarity * joined, links.dtype, copy=False), max=1.0)


def _scale_masses(mass: Array) -> Array:
    """Scale masses to at most 1 in each sentence, and take their power."""
    xp = array_namespace(mass)
    most = xp.max(mass, axis=-1, keepdims=True)
    return (mass / xp.where(most > 0, most, xp.ones_like(most))) ** SELECTIVITY


def _join_links(links: Array, cosines: Sequence[Array], mass: Array | None) -> Array:
    """Compute the scores that source words take over from the links of source words nearby, (B, N, M)."""
    xp = array_namespace(links)
    alone, *spans = cosines
    best = xp.zeros_like(alone)
    after, before = [], []  # support of the spans that begin at a word, and of those that end with it
    for step, span in enumerate(spans, 1):
        last = shift_cells(xp, alone, -step, 0)
        after.append(xp.clip(1 + (span - alone) / LOSS, min=0.0))
        before.append(shift_cells(xp, xp.clip(1 + (span - last) / LOSS, min=0.0), step, 0))
    for supports, direction in ((after, 1), (before, -1)):
        total = xp.zeros_like(alone)
        for step in range(len(spans), 0, -1):  # a long span contains the words of the shorter ones
            total = total + supports[step - 1]
            best = xp.maximum(best, shift_cells(xp, links * total, direction * step, 0))
    free = 1 - xp.max(links, axis=2, keepdims=True)
    return free * best if mass is None else free * best * mass[:, None, :]
