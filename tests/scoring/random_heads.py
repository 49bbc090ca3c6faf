"""Random heads and batches, with every array away from its initial value."""

import numpy as np

from otalign.scoring import PairBatch
from otalign.scoring.heads import ProjectionHead, TransportHead
from otalign.text.spelling import embed_spelling

SIZE = 6
WORDS = ("boat", "boats", "ship", "a", "sail", "")
SHAPES = ((4, 3), (1, 5), (6, 6), (2, 1))


def make_batch(
    shapes=SHAPES, size: int = SIZE, seed: int = 0, more: int = 0, spelling: bool = False
) -> PairBatch:
    """Make a batch of pairs of these shapes, padded with noise, `more` words of it than needed.

    With spelling, the vectors of some words follow.
    """
    spellings = embed_spelling(WORDS)[:, : None if spelling else 0]
    random = np.random.default_rng(seed)
    X, Y = (
        np.empty((len(shapes), max(side) + more, size + spellings.shape[1]))
        for side in zip(*shapes, strict=True)
    )
    noise = np.random.default_rng([seed, more])
    for x in (X, Y):
        x[:] = noise.normal(size=x.shape)
    for k, (n, m) in enumerate(shapes):
        X[k, :n, :size], Y[k, :m, :size] = random.normal(size=(n, size)), random.normal(size=(m, size))
        X[k, :n, size:], Y[k, :m, size:] = (spellings[(k + np.arange(of)) % len(WORDS)] for of in (n, m))
    is_word = [
        np.arange(x.shape[1]) < np.array(side)[:, None]
        for x, side in zip((X, Y), zip(*shapes, strict=True), strict=True)
    ]
    return PairBatch(X.astype(np.float32), Y.astype(np.float32), *is_word)


def make_transport_head(seed: int = 0, size: int = SIZE, spelling: bool = False, **arrays) -> TransportHead:
    random = np.random.default_rng(seed)
    new = TransportHead.initialize(size, random, spelling=spelling).arrays()
    drawn = {name: a + 0.3 * random.normal(size=a.shape).astype(np.float32) for name, a in new.items()}
    return TransportHead(**(drawn | arrays))


def make_projection_head(seed: int = 0, size: int = SIZE) -> ProjectionHead:
    random = np.random.default_rng(seed)
    new = ProjectionHead.initialize(size, random).arrays()
    return ProjectionHead(
        **{k: a + 0.3 * random.normal(size=a.shape).astype(np.float32) for k, a in new.items()}
    )


def to_torch(batch: PairBatch, dtype=None) -> PairBatch:
    import torch

    tensors = PairBatch(*(torch.tensor(part) for part in batch))
    return tensors if dtype is None else tensors._replace(X=tensors.X.to(dtype), Y=tensors.Y.to(dtype))
