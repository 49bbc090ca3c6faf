"""Scores of a corpus: each is a function of the means over pairs of what was counted.

Precision and recall count links and null words alike. Macro, they are the means of the pairs' own, and
F1 is taken of the two means; micro, all pairs are one. Written as a function of means, a score of a
corpus, of each pair and of thousands of resamples is the same few lines.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from otalign.metrics.counts import Counted, Counts, Tally, harmonic_mean

Average = Literal["macro", "micro"]


@dataclass(frozen=True)
class Measure:
    """A score: the terms of each pair, (N, K), and what the means of the terms come to, (…, K) → (…)."""

    name: str
    average: Average
    counted: Counted
    width: int  # K
    terms: Callable[[Counts], np.ndarray]
    value: Callable[[np.ndarray], np.ndarray]

    def __call__(self, counts: Counts) -> float:
        """The score of the corpus."""
        if not len(counts):
            raise ValueError(
                "counts must hold at least one pair, got none; a score of nothing is not defined"
            )
        return float(self.value(self.terms(counts).mean(axis=0)))

    def each(self, counts: Counts) -> np.ndarray:
        """The score of each pair as if it stood alone, (N,)."""
        return np.asarray(self.value(self.terms(counts)), dtype=float)


def _macro_terms(counted: Counted) -> Callable[[Counts], np.ndarray]:
    def terms(counts: Counts) -> np.ndarray:
        tally = counts.tally(counted)
        return np.stack([tally.precision, tally.recall], axis=-1)

    return terms


def _micro_terms(counted: Counted) -> Callable[[Counts], np.ndarray]:
    def terms(counts: Counts) -> np.ndarray:
        tally = counts.tally(counted)
        return np.stack([tally.correct, tally.predicted, tally.gold], axis=-1)

    return terms


def _macro_rates(means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return means[..., 0], means[..., 1]


def _micro_rates(means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    tally = Tally(means[..., 0], means[..., 1], means[..., 2])
    return tally.precision, tally.recall


def _rate_measures(average: Average, counted: Counted) -> list[Measure]:
    width, terms, rates = {
        "macro": (2, _macro_terms(counted), _macro_rates),
        "micro": (3, _micro_terms(counted), _micro_rates),
    }[average]
    prefix = ("micro_" if average == "micro" else "") + ("" if counted == "links+nulls" else f"{counted}_")
    return [
        Measure(prefix + "precision", average, counted, width, terms, lambda means: rates(means)[0]),
        Measure(prefix + "recall", average, counted, width, terms, lambda means: rates(means)[1]),
        Measure(prefix + "f1", average, counted, width, terms, lambda means: harmonic_mean(*rates(means))),
    ]


def _exact_match_terms(counts: Counts) -> np.ndarray:
    return counts.exact_match[:, None]


def _aer_terms(counts: Counts) -> np.ndarray:
    """|A ∩ S| + |A ∩ (S ∪ P)| and |A| + |S| of each pair, (N, 2)."""
    found = counts.column("sure_predicted") + counts.column("allowed_predicted")
    return np.stack([found, counts.column("links_predicted") + counts.column("sure")], axis=-1)


def _aer(means: np.ndarray) -> np.ndarray:
    found, whole = means[..., 0], means[..., 1]
    some = whole > 0  # nothing predicted and nothing sure: no error
    return np.where(some, 1 - found / np.where(some, whole, 1), 0)


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        measure.name: measure
        for measure in [
            *_rate_measures("macro", "links+nulls"),
            *_rate_measures("macro", "links"),
            *_rate_measures("macro", "nulls"),
            Measure(
                "exact_match", "macro", "links+nulls", 1, _exact_match_terms, lambda means: means[..., 0]
            ),
            *_rate_measures("micro", "links+nulls"),
            *_rate_measures("micro", "links"),
            *_rate_measures("micro", "nulls"),
            Measure("aer", "micro", "links", 2, _aer_terms, _aer),
        ]
    }
)


def select_measures(names: Iterable[str]) -> list[Measure]:
    """The measures of these names."""
    names = list(names)
    for name in names:
        if name not in MEASURES:
            raise ValueError(f"measures must be among {', '.join(MEASURES)}; got {name!r}")
    return [MEASURES[name] for name in names]


def scores(counts: Counts, measures: Iterable[str] = tuple(MEASURES)) -> dict[str, float]:
    """The scores of the corpus by name."""
    return {measure.name: measure(counts) for measure in select_measures(measures)}


def per_pair(counts: Counts) -> dict[str, np.ndarray]:
    """The scores of each pair by name, and what it may be grouped by, (N,) each."""
    # For a single pair micro and macro are the same.
    measures = [m for m in MEASURES.values() if m.average == "macro" or m.name == "aer"]
    found = {measure.name: measure.each(counts) for measure in measures}
    return found | {
        "null_rate": counts.null_rate,
        "length": counts.length,
        "phrase_share": counts.phrase_share,
    }
