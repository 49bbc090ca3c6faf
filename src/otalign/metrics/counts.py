"""The counts of a corpus: a table with a row for each sentence pair, and what follows for each pair.

Links, source nulls and target nulls are each counted three times: those predicted, those in the gold,
and those in both. Rows are chosen, joined and resampled freely.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from otalign.alignment import Level

Counted = Literal["links+nulls", "links", "nulls"]

COLUMNS = (
    *("source_words", "target_words"),
    *("links_correct", "links_predicted", "links_gold"),
    *("source_nulls_correct", "source_nulls_predicted", "source_nulls_gold"),
    *("target_nulls_correct", "target_nulls_predicted", "target_nulls_gold"),
    # For AER, whatever the level: |S|, |A ∩ S| and |A ∩ (S ∪ P)| of the predicted links A.
    *("sure", "sure_predicted", "allowed_predicted"),
    *("gold_groups", "gold_phrases"),
)
GOLD_COLUMNS = [k for k, name in enumerate(COLUMNS) if "words" in name or "gold" in name or name == "sure"]


@dataclass(frozen=True, eq=False)
class Tally:
    """How many things of one kind are in both, in the prediction, in the gold; numbers or arrays (…).

    Where a share is of nothing, 0/0, it is 1 if the other side has nothing either, and 0 otherwise:
    agreement on nothing is agreement, and saying nothing never pays.
    """

    correct: Any
    predicted: Any
    gold: Any

    @property
    def precision(self) -> Any:
        return _share(self.correct, self.predicted, self.gold)

    @property
    def recall(self) -> Any:
        return _share(self.correct, self.gold, self.predicted)

    @property
    def f1(self) -> Any:
        return harmonic_mean(self.precision, self.recall)

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.correct + other.correct, self.predicted + other.predicted, self.gold + other.gold)


def harmonic_mean(x: Any, y: Any) -> Any:
    """2xy / (x + y), and 0 where both are 0, (…)."""
    total = np.add(x, y)
    return 2 * np.multiply(x, y) / np.where(total > 0, total, 1)


def _share(part: Any, whole: Any, other_whole: Any) -> Any:
    some = np.greater(whole, 0)
    return np.where(some, part / np.where(some, whole, 1), np.equal(other_whole, 0))[()]


@dataclass(frozen=True, eq=False)
class Counts:
    """What was counted in N sentence pairs, and what follows for each of them."""

    table: np.ndarray  # (N, columns) whole numbers, the columns as in COLUMNS
    level: Level = "sure"

    def __post_init__(self):
        check_level(self.level)
        if self.table.ndim != 2 or self.table.shape[1] != len(COLUMNS):
            raise ValueError(
                f"table must be of shape (pairs, {len(COLUMNS)}), got {self.table.shape}; "
                "make it by count or count_pair"
            )

    @classmethod
    def concatenate(cls, parts: Iterable["Counts"]) -> "Counts":
        """The pairs of all parts, one after the other."""
        parts = list(parts)
        levels = sorted({part.level for part in parts})
        if len(levels) != 1:
            raise ValueError(
                f"parts must share one level of the gold, got {levels}; count them all at one level"
            )
        return cls(np.concatenate([part.table for part in parts]), parts[0].level)

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, which: Any) -> "Counts":
        """Some of the pairs: one number, a slice, numbers or a mask."""
        return Counts(np.atleast_2d(self.table[which]), self.level)

    def __repr__(self) -> str:
        return f"Counts({len(self)} pairs, level={self.level!r})"

    def column(self, name: str) -> np.ndarray:
        return self.table[:, COLUMNS.index(name)]

    def tally(self, counted: Counted) -> Tally:
        """The tallies of each pair, (N,)."""
        match counted:
            case "links":
                return self._tally("links")
            case "nulls":
                return self._tally("source_nulls") + self._tally("target_nulls")
            case "links+nulls":
                return self.tally("links") + self.tally("nulls")
        raise ValueError(f"counted must be one of {', '.join(map(repr, get_args(Counted)))}, got {counted!r}")

    @property
    def exact_match(self) -> np.ndarray:
        """Whether prediction and gold are the same links, and with them the same nulls, (N,)."""
        links = self.tally("links")
        return (links.correct == links.predicted) & (links.correct == links.gold)

    @property
    def length(self) -> np.ndarray:
        """The words of both sentences, (N,)."""
        return self.column("source_words") + self.column("target_words")

    @property
    def null_rate(self) -> np.ndarray:
        """The share of null words in the gold, both sentences together; 0 without words, (N,)."""
        return self.tally("nulls").gold / np.maximum(self.length, 1)

    @property
    def phrase_share(self) -> np.ndarray:
        """The share of phrases among the gold's groups of links; 0 without links, (N,).

        A group is the links that hang together by shared words; with more than one link it is a phrase.
        """
        return self.column("gold_phrases") / np.maximum(self.column("gold_groups"), 1)

    def _tally(self, kind: str) -> Tally:
        return Tally(*(self.column(f"{kind}_{part}") for part in ("correct", "predicted", "gold")))


def check_level(level: str) -> None:
    if level not in get_args(Level):
        raise ValueError(f"level must be 'sure' or 'possible', got {level!r}")
