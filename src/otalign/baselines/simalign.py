"""SimAlign (Jalili Sabet et al., Findings of EMNLP 2020): links from the similarities of words, untrained.

    SimAlign(IterMax(), distortion=0.3).align(compute_similarity(X, Y))

S is an (n, m) matrix of similarities, at least 0. First, words that are far apart become less similar: S_ij
is multiplied by 1 − distortion · (i/(n−1) − j/(m−1))². Then a matching selects links: `ArgMax`, `IterMax` or
`MaximumMatching`. Last, links with an entropy above `threshold` are dropped, so that words without a clear
counterpart are null. Among equal similarities the first wins.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from otalign.alignment import Pairs


@dataclass(frozen=True)
class ArgMax:
    """A matching that links two words if each is the other's most similar word.

    Example:
        >>> import numpy as np
        >>> from otalign.baselines import ArgMax, SimAlign
        >>> S = np.array([[0.9, 0.8, 0.1], [0.8, 0.7, 0.2], [0.1, 0.2, 0.6]])
        >>> sorted(SimAlign(ArgMax()).align(S))
        [(0, 0), (2, 2)]
    """

    def match(self, S: np.ndarray) -> np.ndarray:
        """Return the mask of links, (n, m).

        Args:
            S: Similarities (n, m).
        """
        return _find_mutual(S)


@dataclass(frozen=True)
class IterMax:
    """ArgMax, repeated for the remaining words, `rounds` times in all.

    In a later round a linked word may get a second link, to a word without one, at a `discount`. There are no
    further rounds if a side has one or two words, or if all of its words are linked.

    Attributes:
        rounds: Number of rounds.
        discount: Factor of similarities of linked words in later rounds, from 0 to 1.

    Raises:
        ValueError: If a value is out of its range.

    Example:
        >>> import numpy as np
        >>> from otalign.baselines import IterMax, SimAlign
        >>> S = np.array([[0.9, 0.8, 0.1], [0.8, 0.7, 0.2], [0.1, 0.2, 0.6]])
        >>> sorted(SimAlign(IterMax()).align(S))
        [(0, 0), (0, 1), (1, 0), (2, 2)]
    """

    rounds: int = 2
    discount: float = 0.9

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise ValueError(f"rounds must be at least 1, got {self.rounds}; one round is ArgMax()")
        if not 0 <= self.discount <= 1:
            raise ValueError(
                f"discount must be from 0 (linked words get no more links) to 1, got {self.discount}"
            )

    def match(self, S: np.ndarray) -> np.ndarray:
        """Return the mask of links, (n, m).

        Args:
            S: Similarities (n, m).
        """
        linked = _find_mutual(S)
        if min(S.shape) <= 2:
            return linked
        for _ in range(1, self.rounds):
            free_source, free_target = ~linked.any(1, keepdims=True), ~linked.any(0, keepdims=True)
            if not (free_source.any() and free_target.any()):
                break
            # Indexed by the number of free words: none, one, two.
            weight = np.array([0.0, self.discount, min(2 * self.discount, 1.0)])
            free = free_source.astype(np.intp) + free_target
            new = _find_mutual(S * weight[free]) & (free > 0)
            if not new.any():
                break
            linked = linked | new
        return linked


@dataclass(frozen=True)
class MaximumMatching:
    """A matching of every word of the shorter side with one partner, of the highest total similarity.

    Example:
        >>> import numpy as np
        >>> from otalign.baselines import MaximumMatching, SimAlign
        >>> sorted(SimAlign(MaximumMatching()).align(np.array([[0.9, 0.8], [0.8, 0.1]])))
        [(0, 1), (1, 0)]
    """

    def match(self, S: np.ndarray) -> np.ndarray:
        """Return the mask of links, (n, m).

        Args:
            S: Similarities (n, m).

        Raises:
            ImportError: If SciPy is not installed.
        """
        try:
            from scipy.optimize import linear_sum_assignment
        except ImportError as error:
            raise ImportError("MaximumMatching() needs SciPy: pip install scipy") from error
        linked = np.zeros(S.shape, dtype=bool)
        linked[linear_sum_assignment(S, maximize=True)] = True
        return linked


Matching = ArgMax | IterMax | MaximumMatching


@dataclass(frozen=True)
class SimAlign:
    """Options of SimAlign.

    Attributes:
        matching: Method that selects links.
        distortion: Penalty for words at different positions, from 0 (none) to 1.
        threshold: Entropy from 0 to 1 above which a link is dropped; 1 drops none.

    Raises:
        TypeError: If the matching has another type.
        ValueError: If a number is out of its range.

    Example:
        >>> import numpy as np
        >>> from otalign.baselines import SimAlign
        >>> sorted(SimAlign().align(np.array([[0.9, 0.2], [0.1, 0.8]])))
        [(0, 0), (1, 1)]
    """

    matching: Matching = IterMax()
    distortion: float = 0.0
    threshold: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.matching, Matching):
            raise TypeError(
                f"matching must be ArgMax(), IterMax() or MaximumMatching(), got {self.matching!r}"
            )
        for name in ("distortion", "threshold"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise ValueError(f"{name} must be from 0 to 1, got {value}; {_OFF[name]} turns it off")

    def align(self, S: np.ndarray) -> Pairs:
        """Select the links of one pair.

        Args:
            S: Similarities (n, m), finite and at least 0.

        Returns:
            Links (source, target).

        Raises:
            ValueError: If S is not such a matrix.
        """
        S, linked = self._match(S)
        if self.threshold < 1:
            linked &= compute_link_entropy(S) <= self.threshold
        i, j = linked.nonzero()
        return frozenset(zip(i.tolist(), j.tolist(), strict=True))

    def with_percentile(self, similarities: Iterable[np.ndarray], percentile: float = 95) -> "SimAlign":
        """Set the threshold to a percentile of the entropies of all links in a corpus, like the paper.

        Args:
            similarities: Similarities (n, m) of each pair.
            percentile: Percentile from 0 to 100; 100 keeps all links.

        Returns:
            The same options with that threshold.

        Raises:
            ValueError: If the percentile is out of range, or an array is not a matrix of similarities.
        """
        if not 0 <= percentile <= 100:
            raise ValueError(f"percentile must be from 0 to 100, got {percentile}; 100 keeps all links")
        parts = []
        for similarity in similarities:
            S, linked = self._match(similarity)
            parts.append(compute_link_entropy(S)[linked])
        entropies = np.concatenate(parts) if parts else np.empty(0)
        # Due to rounding, an entropy may slightly exceed one.
        threshold = min(float(np.percentile(entropies, percentile)), 1.0) if entropies.size else 1.0
        return replace(self, threshold=threshold)

    def _match(self, S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the distorted similarities, and the mask of links."""
        S = apply_distortion(_check_similarity(S), self.distortion)
        return S, self.matching.match(S) if S.size else np.zeros(S.shape, dtype=bool)


_OFF = {"distortion": 0, "threshold": 1}


def compute_similarity(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Compute similarities of words, (1 + cosine) / 2.

    Args:
        X: Vectors of source words, (n, d).
        Y: Vectors of target words, (m, d).

    Returns:
        Similarities (n, m).

    Example:
        >>> import numpy as np
        >>> from otalign.baselines import compute_similarity
        >>> compute_similarity(np.eye(2), np.eye(2)).tolist()
        [[1.0, 0.5], [0.5, 1.0]]
    """
    X, Y = (np.asarray(V) / np.maximum(np.linalg.norm(V, axis=1, keepdims=True), 1e-30) for V in (X, Y))
    return np.maximum((X @ Y.T + 1) / 2, 0)  # due to rounding, it may be below zero


def apply_distortion(S: np.ndarray, distortion: float) -> np.ndarray:
    """Compute S_ij · (1 − distortion · (i/(n−1) − j/(m−1))²); S itself if a side has one word."""
    n, m = S.shape
    if distortion == 0 or min(n, m) < 2:
        return S
    distance = np.arange(n)[:, None] / (n - 1) - np.arange(m) / (m - 1)
    return S * (1 - distortion * distance**2)


def compute_link_entropy(S: np.ndarray) -> np.ndarray:
    """Compute the lower of the entropies of each cell's row and column, from 0 to 1, (n, m)."""
    return np.minimum(_compute_entropy(S)[:, None], _compute_entropy(S.T))


def _compute_entropy(S: np.ndarray) -> np.ndarray:
    """Compute the entropy of each row, from 0 to 1; a row of one word has 0, a row of zeros 1."""
    length = S.shape[1]
    if length < 2:
        return np.zeros(len(S))
    total = S.sum(1, keepdims=True)
    p = np.where(total > 0, S / np.where(total > 0, total, 1), 1 / length)
    return -np.sum(p * np.log(np.where(p > 0, p, 1)), axis=1) / math.log(length)


def _find_mutual(S: np.ndarray) -> np.ndarray:
    linked = np.zeros(S.shape, dtype=bool)
    best = S.argmax(1)
    rows = np.flatnonzero(S.argmax(0)[best] == np.arange(len(S)))
    linked[rows, best[rows]] = True
    return linked


def _check_similarity(S: np.ndarray) -> np.ndarray:
    S = np.asarray(S, np.float64)  # in float32, discounts and distortion could make similarities equal
    if S.ndim != 2:
        raise ValueError(f"S must be a matrix of similarities (n, m), got shape {S.shape}")
    if S.size and not (S.min() >= 0 and S.max() < np.inf):  # false for NaN too
        raise ValueError(
            f"S must be finite and at least 0, got values from {S.min()} to {S.max()}; "
            "convert cosines to similarities with (1 + cosine) / 2"
        )
    return S
