"""Scores of a corpus, each a function of the means over pairs of what was counted.

Precision and recall count links and null words alike, or only one of them, or phrases. Macro precision and
recall are means over pairs, and F1 is computed from the two means; micro scores treat all pairs as one. Since
scores are functions of means, the same code scores a corpus, each pair, and thousands of resamples.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from otalign.metrics.counts import COLUMNS, Counted, Counts, Tally, compute_f1

Average = Literal["macro", "micro"]
NO_PAIRS = Counts(np.zeros((0, len(COLUMNS)), dtype=int))


@dataclass(frozen=True)
class Measure:
    """A score.

    Attributes:
        name: Its name.
        label: Its name as it is printed.
        average: Whether pairs are averaged (macro) or pooled (micro).
        counted: What is counted: links, nulls or both, phrases, or their overlap.
        terms: Function from counts to the K terms of each pair, (N, K).
        value: Function from means of terms to scores, (…, K) → (…).
        per_pair: Whether `score_pairs` returns it. False if another measure is the same for a single pair, as
            a micro and a macro score are.

    Example:
        >>> from otalign.metrics import MEASURES, count_pair
        >>> MEASURES["aer"](count_pair([(0, 0)], [(0, 0)], n=1, m=1))
        0.0
    """

    name: str
    label: str
    average: Average
    counted: Counted
    terms: Callable[[Counts], np.ndarray]
    value: Callable[[np.ndarray], np.ndarray]
    per_pair: bool = True

    @property
    def width(self) -> int:
        """Number K of terms."""
        return self.terms(NO_PAIRS).shape[1]

    def __call__(self, counts: Counts) -> float:
        """Compute the score of a corpus."""
        if not len(counts):
            raise ValueError("counts must hold at least one pair, got none; there is nothing to score")
        return float(self.value(self.terms(counts).mean(axis=0)))

    def each(self, counts: Counts) -> np.ndarray:
        """Compute the score of each pair by itself, (N,).

        Args:
            counts: Counts of N pairs.

        Returns:
            The scores.
        """
        return np.asarray(self.value(self.terms(counts)), dtype=float)


def _get_tallies(counts: Counts, counted: Counted) -> tuple[Tally, Tally]:
    """Return the tallies of precision and of recall, which differ only where an overlap counts."""
    if counted == "soft_phrases":
        return counts.soft_tallies()
    tally = counts.tally(counted)
    return tally, tally


def _make_macro_terms(counted: Counted) -> Callable[[Counts], np.ndarray]:
    def terms(counts: Counts) -> np.ndarray:
        guessed, true = _get_tallies(counts, counted)
        return np.stack([guessed.precision, true.recall], axis=-1)

    return terms


def _make_micro_terms(counted: Counted) -> Callable[[Counts], np.ndarray]:
    def terms(counts: Counts) -> np.ndarray:
        guessed, true = _get_tallies(counts, counted)
        return np.stack([guessed.correct, true.correct, true.predicted, true.gold], axis=-1)

    return terms


def _compute_macro_rates(means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return means[..., 0], means[..., 1]


def _compute_micro_rates(means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    guessed, true = (Tally(means[..., k], means[..., 2], means[..., 3]) for k in (0, 1))
    return guessed.precision, true.recall


def _make_rate_measures(average: Average, counted: Counted) -> list[Measure]:
    terms, rates = {
        "macro": (_make_macro_terms(counted), _compute_macro_rates),
        "micro": (_make_micro_terms(counted), _compute_micro_rates),
    }[average]
    prefix = ("micro_" if average == "micro" else "") + ("" if counted == "links+nulls" else f"{counted}_")

    def make(name: str, label: str, value: Callable[[np.ndarray], np.ndarray]) -> Measure:
        words = prefix.replace("_", " ")
        return Measure(
            prefix + name, words + label, average, counted, terms, value, per_pair=average == "macro"
        )

    return [
        make("precision", "precision", lambda means: rates(means)[0]),
        make("recall", "recall", lambda means: rates(means)[1]),
        make("f1", "F1", lambda means: compute_f1(*rates(means))),
    ]


def _compute_exact_match_terms(counts: Counts) -> np.ndarray:
    return counts.exact_match[:, None]


def _compute_aer_terms(counts: Counts) -> np.ndarray:
    """Compute |A ∩ S| + |A ∩ (S ∪ P)| and |A| + |S| of each pair, (N, 2)."""
    correct = counts.column("sure_predicted") + counts.column("allowed_predicted")
    return np.stack([correct, counts.column("links_predicted") + counts.column("sure")], axis=-1)


def _compute_aer(means: np.ndarray) -> np.ndarray:
    correct, total = means[..., 0], means[..., 1]
    nonzero = total > 0  # nothing predicted and nothing sure: no error
    return np.where(nonzero, 1 - correct / np.where(nonzero, total, 1), 0)


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        measure.name: measure
        for measure in [
            *_make_rate_measures("macro", "links+nulls"),
            *_make_rate_measures("macro", "links"),
            *_make_rate_measures("macro", "nulls"),
            *_make_rate_measures("macro", "phrases"),
            *_make_rate_measures("macro", "soft_phrases"),
            Measure(
                "exact_match",
                "exact match",
                "macro",
                "links",
                _compute_exact_match_terms,
                lambda means: means[..., 0],
            ),
            *_make_rate_measures("micro", "links+nulls"),
            *_make_rate_measures("micro", "links"),
            *_make_rate_measures("micro", "nulls"),
            *_make_rate_measures("micro", "phrases"),
            *_make_rate_measures("micro", "soft_phrases"),
            Measure("aer", "AER", "micro", "links", _compute_aer_terms, _compute_aer),
        ]
    }
)


def select_measures(names: Iterable[str]) -> list[Measure]:
    """Return the measures of these names, or raise ValueError."""
    names = list(names)
    for name in names:
        if name not in MEASURES:
            raise ValueError(f"measures must be among {', '.join(MEASURES)}; got {name!r}")
    return [MEASURES[name] for name in names]


def compute_scores(counts: Counts, measures: Iterable[str] = tuple(MEASURES)) -> dict[str, float]:
    """Compute scores of a corpus.

    Args:
        counts: Counts of the corpus.
        measures: Names in `MEASURES`.

    Returns:
        Scores by name, from 0 to 1.

    Raises:
        ValueError: If there are no pairs, or a name is unknown.

    Example:
        >>> from otalign.metrics import count_pair, compute_scores
        >>> compute_scores(count_pair([(0, 0)], [(0, 0)], n=1, m=2), ["f1", "aer"])
        {'f1': 1.0, 'aer': 0.0}
    """
    return {measure.name: measure(counts) for measure in select_measures(measures)}


def score_pairs(counts: Counts) -> dict[str, np.ndarray]:
    """Compute the scores and properties of each pair.

    Args:
        counts: Counts of the corpus.

    Returns:
        Arrays (N,) by name: the measures with `per_pair`, and the properties that pairs can be grouped by.

    Example:
        >>> from otalign.metrics import count_pair, score_pairs
        >>> score_pairs(count_pair([(0, 0)], [(0, 0)], n=1, m=3))["null_rate"]
        array([0.5])
    """
    values = {name: measure.each(counts) for name, measure in MEASURES.items() if measure.per_pair}
    return values | {
        "null_rate": counts.null_rate,
        "length": counts.length,
        "phrase_share": counts.phrase_share,
    }
