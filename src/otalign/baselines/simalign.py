"""SimAlign (Jalili Sabet et al., Findings of EMNLP 2020): links from the similarities of words, untrained.

SimAlign(IterMax(), distortion=0.3).links(similarity(X, Y))

S is an (n, m) matrix of similarities, at least 0. First, words that are far apart are made less similar: S_ij
is multiplied by 1 − distortion · (i/(n−1) − j/(m−1))². Then a matching picks links: `ArgMax`, `IterMax` or
`Match`. Last, words that are as much like one word as like any other are left null: links whose entropy is
above `threshold` are dropped. Of equal similarities the first counts.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from otalign.alignment import Pairs


@dataclass(frozen=True)
class ArgMax:
    """Words link where each is the other's most similar word."""

    def matrix(self, S: np.ndarray) -> np.ndarray:
        return _mutual(S)


@dataclass(frozen=True)
class IterMax:
    """ArgMax, then again for the words left over, `rounds` times in all.

    In a later round a linked word may take a second link, to a word without one, at a `discount`. A side of
    one or two words, or one whose words are all linked, has had its last round.
    """

    rounds: int = 2
    discount: float = 0.9

    def __post_init__(self):
        if self.rounds < 1:
            raise ValueError(f"rounds must be at least 1, got {self.rounds}; one round is ArgMax()")
        if not 0 <= self.discount <= 1:
            raise ValueError(
                f"discount must be from 0 (linked words take no more links) to 1, got {self.discount}"
            )

    def matrix(self, S: np.ndarray) -> np.ndarray:
        linked = _mutual(S)
        if min(S.shape) <= 2:
            return linked
        for _ in range(1, self.rounds):
            free_source, free_target = ~linked.any(1, keepdims=True), ~linked.any(0, keepdims=True)
            if not (free_source.any() and free_target.any()):
                break
            # By the number of free words: none, one, two.
            weight = np.array([0.0, self.discount, min(2 * self.discount, 1.0)])
            free = free_source.astype(np.intp) + free_target
            new = _mutual(S * weight[free]) & (free > 0)
            if not new.any():
                break
            linked = linked | new
        return linked


@dataclass(frozen=True)
class MaximumMatching:
    """Every word of the shorter side gets one partner, so that the similarities sum to the most."""

    def matrix(self, S: np.ndarray) -> np.ndarray:
        try:
            from scipy.optimize import linear_sum_assignment
        except ImportError as error:
            raise ImportError("Match() needs SciPy: pip install scipy") from error
        linked = np.zeros(S.shape, dtype=bool)
        linked[linear_sum_assignment(S, maximize=True)] = True
        return linked


Matching = ArgMax | IterMax | MaximumMatching


@dataclass(frozen=True)
class SimAlign:
    """A matching with its distortion, and the entropy from 0 to 1 above which a link is dropped."""

    matching: Matching = IterMax()
    distortion: float = 0.0
    threshold: float = 1.0

    def __post_init__(self):
        if not isinstance(self.matching, Matching):
            raise TypeError(f"matching must be ArgMax(), IterMax() or Match(), got {self.matching!r}")
        for name in ("distortion", "threshold"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise ValueError(f"{name} must be from 0 to 1, got {value}; {_OFF[name]} turns it off")

    def links(self, S: np.ndarray) -> Pairs:
        """The links (source, target) of one pair."""
        S, linked = self._match(S)
        if self.threshold < 1:
            linked &= link_entropy(S) <= self.threshold
        i, j = linked.nonzero()
        return frozenset(zip(i.tolist(), j.tolist(), strict=True))

    def with_percentile(self, similarities: Iterable[np.ndarray], percentile: float = 95) -> "SimAlign":
        """The same with its threshold at a percentile of the entropies of all links in a corpus.

        What entropy is high depends on the encoder, so the paper sets it so.
        """
        if not 0 <= percentile <= 100:
            raise ValueError(f"percentile must be from 0 to 100, got {percentile}; 100 keeps all links")
        found = []
        for similarity in similarities:
            S, linked = self._match(similarity)
            found.append(link_entropy(S)[linked])
        entropies = np.concatenate(found) if found else np.empty(0)
        # Rounding may leave an entropy a little above one.
        threshold = min(float(np.percentile(entropies, percentile)), 1.0) if entropies.size else 1.0
        return replace(self, threshold=threshold)

    def _match(self, S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The distorted similarities, and which of them are links."""
        S = apply_distortion(_check_similarity(S), self.distortion)
        return S, self.matching.matrix(S) if S.size else np.zeros(S.shape, dtype=bool)


_OFF = {"distortion": 0, "threshold": 1}


def similarity(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """(1 + cosine) / 2 of all words, (n, m), from their vectors (n, d) and (m, d)."""
    X, Y = (np.asarray(V) / np.maximum(np.linalg.norm(V, axis=1, keepdims=True), 1e-30) for V in (X, Y))
    return np.maximum((X @ Y.T + 1) / 2, 0)  # rounding may go below zero


def apply_distortion(S: np.ndarray, distortion: float) -> np.ndarray:
    """S_ij · (1 − distortion · (i/(n−1) − j/(m−1))²); a word alone is at no distance."""
    n, m = S.shape
    if distortion == 0 or min(n, m) < 2:
        return S
    apart = np.arange(n)[:, None] / (n - 1) - np.arange(m) / (m - 1)
    return S * (1 - distortion * apart**2)


def link_entropy(S: np.ndarray) -> np.ndarray:
    """How little a link stands out, (n, m): the lower of the entropies of its row and column, from 0 to 1."""
    return np.minimum(_entropy(S)[:, None], _entropy(S.T))


def _entropy(S: np.ndarray) -> np.ndarray:
    """Of each row as a distribution, from 0 to 1. A row of one word is sure; one of zeros is not."""
    length = S.shape[1]
    if length < 2:
        return np.zeros(len(S))
    total = S.sum(1, keepdims=True)
    p = np.where(total > 0, S / np.where(total > 0, total, 1), 1 / length)
    return -np.sum(p * np.log(np.where(p > 0, p, 1)), axis=1) / math.log(length)


def _mutual(S: np.ndarray) -> np.ndarray:
    linked = np.zeros(S.shape, dtype=bool)
    best = S.argmax(1)
    rows = np.flatnonzero(S.argmax(0)[best] == np.arange(len(S)))
    linked[rows, best[rows]] = True
    return linked


def _check_similarity(S: np.ndarray) -> np.ndarray:
    S = np.asarray(S, np.float64)  # discounts and distortion must not round similarities to equals
    if S.ndim != 2:
        raise ValueError(f"S must be a matrix of similarities (n, m), got shape {S.shape}")
    if S.size and not (S.min() >= 0 and S.max() < np.inf):  # false for NaN too
        raise ValueError(
            f"S must be finite and at least 0, got values from {S.min()} to {S.max()}; "
            "turn cosines to similarities by (1 + cosine) / 2"
        )
    return S
