"""IBM Model 2 in one direction: every generated word is the translation of one given word, or of null.

The parameters are a table t(generated | given) over the meetings of a corpus, a table t(generated | null),
and the tension of the diagonal prior. An iteration of variational Bayes gathers expected counts under them,
and turns these into new parameters.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from otalign.baselines.cooccurrence import Block
from otalign.baselines.diagonal import feature, prior

UNSEEN = 1e-9  # t of words that never met


@dataclass(frozen=True, eq=False)
class Parameters:
    """The last entry of each table stands for all words that it does not know."""

    table: np.ndarray  # (meetings + 1,)
    null: np.ndarray  # (generated types + 1,)
    tension: float
    null_probability: float

    @classmethod
    def uniform(cls, meetings: int, types: int, tension: float, null_probability: float) -> "Parameters":
        table, null = (np.append(np.full(size, 1 / types), UNSEEN) for size in (meetings, types))
        return cls(table, null, tension, null_probability)

    def joint(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """P(word, its choice): by given words (k, n, m), and by null (k, m)."""
        _, n, m = block.meetings.shape
        by_words = np.take(self.table, block.meetings)
        by_words *= (1 - self.null_probability) * prior(n, m, self.tension)
        return by_words, self.null_probability * self.null[block.target]

    def choices(self, block: Block) -> np.ndarray:
        """The best given word of every generated one, −1 for null, (k, m). Of equals null, then the first."""
        by_words, by_null = self.joint(block)
        best = by_words.argmax(1)
        reached = np.take_along_axis(by_words, best[:, None], 1)[:, 0]
        return np.where(reached > by_null, best, -1)


@dataclass(frozen=True, eq=False)
class ExpectedCounts:
    """What the posterior expects: how often words translate each other, and the sum of its links' feature."""

    table: np.ndarray
    null: np.ndarray
    feature: float
    log_likelihood: float

    @classmethod
    def compute_expected(cls, blocks: Iterable[Block], parameters: Parameters) -> "ExpectedCounts":
        table, null = np.zeros_like(parameters.table), np.zeros_like(parameters.null)
        total_feature = log_likelihood = 0.0
        for block in blocks:
            by_words, by_null = parameters.joint(block)
            evidence = by_words.sum(1) + by_null
            by_words /= evidence[:, None]
            by_null /= evidence
            np.add.at(table, block.meetings.ravel(), by_words.ravel())
            np.add.at(null, block.target.ravel(), by_null.ravel())
            _, n, m = by_words.shape
            total_feature += float((by_words.sum(0) * feature(n, m, first=0)).sum())
            log_likelihood += float(np.log(evidence).sum())
        return cls(table[:-1], null[:-1], total_feature, log_likelihood)

    def probabilities(self, given: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """The tables that follow under a Dirichlet prior; `given` holds the given word of each meeting."""
        totals = np.bincount(given, weights=self.table + alpha)
        table = np.empty(len(self.table) + 1)
        piece = 1 << 16  # digamma takes a dozen steps, faster where its values stay in the cache
        log_totals = digamma(totals)
        for at in range(0, len(self.table), piece):
            part = slice(at, min(at + piece, len(self.table)))
            table[part] = np.exp(digamma(self.table[part] + alpha) - log_totals[given[part]])
        table[-1] = UNSEEN
        null = self.null + alpha
        null = np.exp(digamma(null) - digamma(np.array(null.sum())))
        return table, np.append(null, UNSEEN)


def digamma(x: np.ndarray) -> np.ndarray:
    """ψ(x) for x > 0, to 1e-12: its recurrence up to x + 8, its asymptotic series there."""
    x = np.asarray(x, np.float64)
    below = np.zeros_like(x)
    for k in range(8):
        below += 1 / (x + k)
    y = x + 8
    z = 1 / (y * y)
    series = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132 - z * 691 / 32760)))))
    return np.log(y) - 0.5 / y - series - below
