"""A journal of a search: its scores, line by line in a file, from which an interrupted search continues.

A line belongs to the search that wrote it: to its gold, levels, thresholds, settings and embeddings. Lines of
other searches, or an incomplete line at the end, are ignored.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import otalign
from otalign.alignment import Level
from otalign.atomic import write_atomic
from otalign.gold import Gold
from otalign.metrics.counts import compute_f1
from otalign.settings import Settings


@dataclass(frozen=True)
class ThresholdScore:
    """Precision and recall of settings on a dev set, at the threshold with the highest F1."""

    threshold: float
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return float(compute_f1(self.precision, self.recall))


Scores = dict[Level, ThresholdScore]


class Journal:
    """Scores that a search has computed, in memory, and in a file if one is given.

    Args:
        file: File to continue from and to append to.
        about: Description of the embeddings; scores of other embeddings are ignored.

    Example:
        >>> Journal().about
        ''
    """

    def __init__(self, file: Path | None = None, about: str = "") -> None:
        self.file = file
        self.about = about
        self._scores: dict[str, dict[str, Any]] = {}
        if file is None:
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
        complete, _, rest = text.rpartition("\n")
        if rest:  # the next entry must start on a new line
            write_atomic(file, complete and complete + "\n")
        for line in complete.splitlines():
            self._scores |= json.loads(line)

    def compute_key(self, golds: Sequence[Gold], thresholds: Iterable[float]) -> str:
        """Compute a digest of everything but the settings that the scores of a search depend on.

        Args:
            golds: Pairs with their gold links.
            thresholds: Thresholds that the search tries.

        Returns:
            The digest, in hexadecimal digits.
        """
        digest = sha256(json.dumps([self.about, otalign.__version__, *thresholds]).encode())
        for gold in golds:
            digest.update(json.dumps(gold.to_dict()).encode())
        return digest.hexdigest()

    def get(self, key: str, settings: Settings, levels: Iterable[Level]) -> Scores | None:
        """Return the scores of settings at these levels, or None if one is missing.

        Args:
            key: Digest of the search.
            settings: The settings, with any threshold.
            levels: Levels of the gold.
        """
        known = self._scores.get(_make_entry(key, settings), {})
        if not all(level in known for level in levels):
            return None
        return {level: ThresholdScore(**known[level]) for level in levels}

    def record(self, key: str, settings: Settings, scores: Scores) -> None:
        """Record the scores of settings.

        Args:
            key: Digest of the search.
            settings: The settings, with any threshold.
            scores: Scores by level.
        """
        entry = _make_entry(key, settings)
        known = self._scores.setdefault(entry, {})
        known |= {level: asdict(score) for level, score in scores.items()}
        if self.file:
            with self.file.open("a", encoding="utf-8") as file:
                file.write(json.dumps({entry: known}, allow_nan=False) + "\n")


def _make_entry(key: str, settings: Settings) -> str:
    """Compute the name of an entry, which does not depend on the threshold of the settings."""
    fields = replace(settings, threshold=0.0).to_dict()
    return sha256((key + json.dumps(fields, sort_keys=True)).encode()).hexdigest()
