"""What a search has found so far, line by line in a file, so that an interrupted one goes on from there.

A line belongs to the work that wrote it: gold, levels, thresholds, settings, and what the caller says of the
embeddings. Lines of other work, or half a line at the end, are passed over.
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
from otalign.metrics.counts import harmonic_mean
from otalign.settings import Settings


@dataclass(frozen=True)
class ThresholdScore:
    """The best that settings reach on a dev set, and at what threshold."""

    threshold: float
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        return float(harmonic_mean(self.precision, self.recall))


Scores = dict[Level, ThresholdScore]


class Journal:
    """Scores by settings; in memory, or also in a file. `about` names the embeddings that they come from."""

    def __init__(self, file: Path | None = None, about: str = ""):
        self.file = file
        self.about = about
        self._scores: dict[str, dict[str, Any]] = {}
        if file is None:
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
        whole, _, half = text.rpartition("\n")
        if half:  # what follows must start on a line of its own
            write_atomic(file, whole and whole + "\n")
        for line in whole.splitlines():
            self._scores |= json.loads(line)

    def work(self, golds: Sequence[Gold], thresholds: Iterable[float]) -> str:
        """A name for what the scores of one search are of."""
        digest = sha256(json.dumps([self.about, otalign.__version__, *thresholds]).encode())
        for gold in golds:
            digest.update(json.dumps(gold.to_dict()).encode())
        return digest.hexdigest()

    def get(self, work: str, settings: Settings, levels: Iterable[Level]) -> Scores | None:
        """The scores at all of these levels, if they have been found."""
        known = self._scores.get(_key(work, settings), {})
        if not all(level in known for level in levels):
            return None
        return {level: ThresholdScore(**known[level]) for level in levels}

    def record(self, work: str, settings: Settings, scores: Scores) -> None:
        key = _key(work, settings)
        known = self._scores.setdefault(key, {})
        known |= {level: asdict(score) for level, score in scores.items()}
        if self.file:
            with self.file.open("a", encoding="utf-8") as file:
                file.write(json.dumps({key: known}, allow_nan=False) + "\n")


def _key(work: str, settings: Settings) -> str:
    """Whatever threshold the settings have: it is what was searched."""
    said = replace(settings, threshold=0.0).to_dict()
    return sha256((work + json.dumps(said, sort_keys=True)).encode()).hexdigest()
