"""Random gold and embeddings, and a lookup encoder, for tests that need no model."""

from collections.abc import Sequence
from functools import cache
from itertools import accumulate

import numpy as np

from otalign.encoders import Embeddings
from otalign.gold import Gold

SHAPES = [(5, 4), (1, 1), (9, 17), (0, 3), (4, 0), (1, 6), (0, 0), (7, 7), (20, 3), (5, 4), (2, 2), (12, 11)]


def make_golds(seed: int = 0, shapes: Sequence[tuple[int, int]] = SHAPES) -> list[Gold]:
    """Return random gold: links mostly on the diagonal, some possible, some nulls; both sides share words."""
    rng = np.random.default_rng(seed)
    golds = []
    for n, m in shapes:
        words = [f"w{k}" for k in rng.integers(0, 15, size=max(n, m))]
        links = {(k, k) for k in range(min(n, m)) if rng.random() < 0.7}
        links |= {(int(rng.integers(n)), int(rng.integers(m))) for _ in range(2) if n and m}
        possible = {link for link in links if rng.random() < 0.3}
        golds.append(Gold(tuple(words[:n]), tuple(words[:m]), links - possible, possible))
    return golds


def make_embeddings(golds: Sequence[Gold], seed: int = 0, width: int = 6) -> Embeddings:
    """Return embeddings: a vector for each word of the vocabulary, with noise."""
    rng = np.random.default_rng(seed)
    sentences = [side for gold in golds for side in (gold.source, gold.target)]
    meaning = rng.normal(size=(15, width))
    rows = [meaning[int(word[1:])] + 0.7 * rng.normal(size=width) for words in sentences for word in words]
    starts = np.array([0, *accumulate(map(len, sentences))])
    return Embeddings(np.array(rows, dtype=np.float32).reshape(-1, width), starts)


class LookupEncoder:
    """An encoder that looks up a random embedding for each word and layer."""

    name, limit, layer = "lookup", 512, 3

    def __init__(self):
        self.runs = 0

    def list_files(self):
        return []

    def embed(self, pairs, pairing):
        return self.embed_layers(pairs, pairing, [self.layer])[self.layer]

    def embed_layers(self, pairs, pairing, layers):
        self.runs += 1
        sentences = [sentence.words for pair in pairs for sentence in pair]
        starts = np.array([0, *accumulate(map(len, sentences))])
        return {
            layer: Embeddings(
                np.array(
                    [_vector(word, layer, pairing) for words in sentences for word in words], dtype=np.float32
                ).reshape(-1, 6),
                starts,
            )
            for layer in layers
        }


@cache
def _vector(word: str, layer: int, pairing: str) -> np.ndarray:
    return np.random.default_rng([int(word[1:]), layer, len(pairing)]).normal(size=6)
