"""IBM Model 2 in one direction: every generated word is the translation of one given word, or of null.

The parameters are a table t(generated | given) over the co-occurrences of a corpus, a table
t(generated | null), and the tension of the diagonal prior. An iteration of variational Bayes computes
expected counts under them, and new parameters from these.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from otalign.baselines.cooccurrence import Block
from otalign.baselines.diagonal import feature, prior

UNSEEN = 1e-9  # t of words that never co-occurred


@dataclass(frozen=True, eq=False)
class Parameters:
    """Parameters of the model. The last entry of each table is for all unknown words."""

    table: np.ndarray  # (cooccurrences + 1,)
    null: np.ndarray  # (generated types + 1,)
    tension: float
    null_probability: float

    @classmethod
    def uniform(cls, cooccurrences: int, types: int, tension: float, null_probability: float) -> "Parameters":
        """Make parameters with equal probabilities."""
        table, null = (np.append(np.full(size, 1 / types), UNSEEN) for size in (cooccurrences, types))
        return cls(table, null, tension, null_probability)

    def compute_joint(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Compute P(word, its choice): of given words (k, n, m), and of null (k, m)."""
        _, n, m = block.cooccurrences.shape
        by_words = np.take(self.table, block.cooccurrences)
        by_words *= (1 - self.null_probability) * prior(n, m, self.tension)
        return by_words, self.null_probability * self.null[block.target]

    def choose(self, block: Block) -> np.ndarray:
        """Return the best given word of every generated one, −1 for null, (k, m); ties prefer null."""
        by_words, by_null = self.compute_joint(block)
        best = by_words.argmax(1)
        highest = np.take_along_axis(by_words, best[:, None], 1)[:, 0]
        return np.where(highest > by_null, best, -1)


@dataclass(frozen=True, eq=False)
class ExpectedCounts:
    """Expected counts of translations under the posterior, and the sum of the feature over links."""

    table: np.ndarray
    null: np.ndarray
    feature: float
    log_likelihood: float

    @classmethod
    def compute(cls, blocks: Iterable[Block], parameters: Parameters) -> "ExpectedCounts":
        """Compute expected counts."""
        table, null = np.zeros_like(parameters.table), np.zeros_like(parameters.null)
        total_feature = log_likelihood = 0.0
        for block in blocks:
            by_words, by_null = parameters.compute_joint(block)
            evidence = by_words.sum(1) + by_null
            by_words /= evidence[:, None]
            by_null /= evidence
            np.add.at(table, block.cooccurrences.ravel(), by_words.ravel())
            np.add.at(null, block.target.ravel(), by_null.ravel())
            _, n, m = by_words.shape
            total_feature += float((by_words.sum(0) * feature(n, m, first=0)).sum())
            log_likelihood += float(np.log(evidence).sum())
        return cls(table[:-1], null[:-1], total_feature, log_likelihood)

    def estimate(self, given: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the tables under a Dirichlet prior; `given` holds the given word of each co-occurrence."""
        totals = np.bincount(given, weights=self.table + alpha)
        table = np.empty(len(self.table) + 1)
        piece = 1 << 16  # digamma takes a dozen steps, which are faster within the cache
        log_totals = digamma(totals)
        for start in range(0, len(self.table), piece):
            part = slice(start, min(start + piece, len(self.table)))
            table[part] = np.exp(digamma(self.table[part] + alpha) - log_totals[given[part]])
        table[-1] = UNSEEN
        null = self.null + alpha
        null = np.exp(digamma(null) - digamma(np.array(null.sum())))
        return table, np.append(null, UNSEEN)


def digamma(x: np.ndarray) -> np.ndarray:
    """Compute ψ(x) for x > 0, to 1e-12: its recurrence up to x + 8, its asymptotic series there."""
    x = np.asarray(x, np.float64)
    below = np.zeros_like(x)
    for k in range(8):
        below += 1 / (x + k)
    y = x + 8
    z = 1 / (y * y)
    series = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132 - z * 691 / 32760)))))
    return np.log(y) - 0.5 / y - series - below
