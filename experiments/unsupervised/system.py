"""The interface of a row: tuning on a dev set, and alignment of a test set."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from experiments.study_data import StudyData
from otalign.alignment import Alignment, Level, Link, Pairs
from otalign.gold import Gold
from otalign.metrics.counts import compute_f1
from otalign.tuning import EncoderChoice


@dataclass(frozen=True)
class Figures:
    """Precision, recall and F1 on a number of pairs."""

    precision: float
    recall: float
    pairs: int

    @property
    def f1(self) -> float:
        return float(compute_f1(self.precision, self.recall))

    def to_dict(self) -> dict[str, Any]:
        return {"f1": self.f1, "precision": self.precision, "recall": self.recall, "pairs": self.pairs}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Figures":
        return cls(data["precision"], data["recall"], data["pairs"])


@dataclass(frozen=True)
class Tuning:
    """The result of tuning for a level: settings for JSON, fields of a signature, and dev figures."""

    settings: dict[str, Any]
    fields: dict[str, object]
    dev: Figures | None  # None where nothing was tuned


class System(Protocol):
    """A row: a frozen value whose fields decide its figures and are part of the key of a cell."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def embeds(self) -> bool:
        """True if the figures depend on the encoder."""
        ...

    def tune(
        self, data: StudyData, corpus: str, choice: EncoderChoice, levels: tuple[Level, ...]
    ) -> dict[Level, Tuning]:
        """Tune on the dev set of a corpus, for each level."""
        ...

    def align(self, data: StudyData, corpus: str, tuning: Tuning) -> Iterable[Alignment]:
        """Align the test set of a corpus with tuned settings."""
        ...


def make_alignments(golds: Iterable[Gold], links: Iterable[Pairs]) -> Iterator[Alignment]:
    """Yield links as alignments with the words of their gold."""
    for gold, pairs in zip(golds, links, strict=True):
        yield Alignment(gold.source, gold.target, tuple(Link(*pair) for pair in pairs))
