"""Counts of a corpus: a table with a row for each sentence pair.

Links, source nulls and target nulls are each counted three times: predicted, in the gold, and in both. Rows
can be selected, concatenated and resampled freely.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from otalign.alignment import Level

Counted = Literal["links+nulls", "links", "nulls", "phrases", "soft_phrases"]
TALLIES = ("links+nulls", "links", "nulls", "phrases")
OVERLAP_UNIT = 1_000_000  # the overlap of two equal phrases: shares are counted in millionths

COLUMNS = (
    *("source_words", "target_words"),
    *("links_correct", "links_predicted", "links_gold"),
    *("source_nulls_correct", "source_nulls_predicted", "source_nulls_gold"),
    *("target_nulls_correct", "target_nulls_predicted", "target_nulls_gold"),
    # For AER, whatever the level: |S|, |A ∩ S| and |A ∩ (S ∪ P)| of the predicted links A.
    *("sure", "sure_predicted", "allowed_predicted"),
    "gold_groups",
    *("phrases_correct", "phrases_predicted", "phrases_gold"),
    # Sums over phrases of the best overlap with a phrase of the other alignment, in units of 1 /
    # OVERLAP_UNIT.
    *("phrase_precision_overlap", "phrase_recall_overlap"),
)
GOLD_COLUMNS = [k for k, name in enumerate(COLUMNS) if "words" in name or "gold" in name or name == "sure"]


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of one kind, with their precision, recall and F1; numbers or arrays (…).

    A share of 0/0 is 1 if the other side is empty too, and 0 otherwise: two empty sets agree,
    and predicting nothing is never an advantage.

    Attributes:
        correct: Number in both prediction and gold.
        predicted: Number in the prediction.
        gold: Number in the gold.

    Example:
        >>> from otalign.metrics import Tally
        >>> tally = Tally(correct=3, predicted=4, gold=6)
        >>> float(tally.precision), float(tally.recall), float(tally.f1)
        (0.75, 0.5, 0.6)
    """

    correct: Any
    predicted: Any
    gold: Any

    @property
    def precision(self) -> Any:
        """Share of the predicted that is correct, (…)."""
        return _divide(self.correct, self.predicted, self.gold)

    @property
    def recall(self) -> Any:
        """Share of the gold that is predicted, (…)."""
        return _divide(self.correct, self.gold, self.predicted)

    @property
    def f1(self) -> Any:
        """Harmonic mean of precision and recall, (…)."""
        return compute_f1(self.precision, self.recall)

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.correct + other.correct, self.predicted + other.predicted, self.gold + other.gold)


def compute_f1(precision: Any, recall: Any) -> Any:
    """Compute the harmonic mean of precision and recall, or 0 where both are 0, (…)."""
    total = np.add(precision, recall)
    return 2 * np.multiply(precision, recall) / np.where(total > 0, total, 1)


def _divide(part: Any, whole: Any, other_whole: Any) -> Any:
    nonzero = np.greater(whole, 0)
    return np.where(nonzero, part / np.where(nonzero, whole, 1), np.equal(other_whole, 0))[()]


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts of N sentence pairs.

    Attributes:
        table: Integers (N, columns), with the columns of `COLUMNS`.
        level: Level of the gold that was counted at.

    Raises:
        ValueError: If the level is unknown, or the table has another shape.

    Example:
        >>> from otalign.metrics import Counts, count_pair
        >>> counts = Counts.concatenate(count_pair([(0, 0)], [(0, k)], n=1, m=2) for k in (0, 1))
        >>> counts
        Counts(2 pairs, level='sure')
        >>> counts.tally("links").correct.tolist(), counts.exact_match.tolist()
        ([1, 0], [True, False])
    """

    table: np.ndarray
    level: Level = "sure"

    def __post_init__(self) -> None:
        check_level(self.level)
        if self.table.ndim != 2 or self.table.shape[1] != len(COLUMNS):
            raise ValueError(
                f"table must have the shape (pairs, {len(COLUMNS)}), got {self.table.shape}; "
                "use count or count_pair"
            )

    @classmethod
    def concatenate(cls, parts: Iterable["Counts"]) -> "Counts":
        """Concatenate the pairs of several counts.

        Args:
            parts: Counts at the same level.

        Returns:
            Counts of all pairs, in order.

        Raises:
            ValueError: If the levels differ, or there are no parts.
        """
        parts = list(parts)
        levels = sorted({part.level for part in parts})
        if len(levels) != 1:
            raise ValueError(
                f"parts must share one level of the gold, got {levels}; count them all at one level"
            )
        return cls(np.concatenate([part.table for part in parts]), parts[0].level)

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, index: Any) -> "Counts":
        """Return the counts of some pairs, given by an index, a slice, indices or a mask."""
        return Counts(np.atleast_2d(self.table[index]), self.level)

    def __repr__(self) -> str:
        return f"Counts({len(self)} pairs, level={self.level!r})"

    def column(self, name: str) -> np.ndarray:
        """Return a column of the table by name, (N,).

        Args:
            name: One of `COLUMNS`.
        """
        return self.table[:, COLUMNS.index(name)]

    def tally(self, counted: Counted) -> Tally:
        """Return the tallies of each pair for links, nulls or both, or for phrases, (N,).

        Args:
            counted: `links`, `nulls`, `links+nulls` or `phrases`.

        Raises:
            ValueError: If `counted` is none of these.
        """
        match counted:
            case "links" | "phrases":
                return self._tally(counted)
            case "nulls":
                return self._tally("source_nulls") + self._tally("target_nulls")
            case "links+nulls":
                return self.tally("links") + self.tally("nulls")
        raise ValueError(f"counted must be one of {', '.join(TALLIES)}, got {counted!r}")

    def soft_tallies(self) -> tuple[Tally, Tally]:
        """Return the tallies of phrases by their overlap, for precision and for recall, (N,) each."""
        predicted, gold = self.column("phrases_predicted"), self.column("phrases_gold")
        precision, recall = (
            Tally(self.column(f"phrase_{rate}_overlap") / OVERLAP_UNIT, predicted, gold)
            for rate in ("precision", "recall")
        )
        return precision, recall

    @property
    def exact_match(self) -> np.ndarray:
        """Mask of the pairs whose predicted links equal the gold's, (N,)."""
        links = self.tally("links")
        return (links.correct == links.predicted) & (links.correct == links.gold)

    @property
    def length(self) -> np.ndarray:
        """Number of words of both sentences, (N,)."""
        return self.column("source_words") + self.column("target_words")

    @property
    def null_rate(self) -> np.ndarray:
        """Share of null words in the gold, both sentences together; 0 without words, (N,)."""
        return self.tally("nulls").gold / np.maximum(self.length, 1)

    @property
    def phrase_share(self) -> np.ndarray:
        """Share of phrases among the groups of links in the gold; 0 without links, (N,).

        A group is a set of links connected by shared words; a group with several links is a phrase.
        """
        return self.column("phrases_gold") / np.maximum(self.column("gold_groups"), 1)

    def _tally(self, kind: str) -> Tally:
        return Tally(*(self.column(f"{kind}_{part}") for part in ("correct", "predicted", "gold")))


def check_level(level: str) -> None:
    """Raise ValueError unless a level is known."""
    if level not in get_args(Level):
        raise ValueError(f"level must be 'sure' or 'possible', got {level!r}")
