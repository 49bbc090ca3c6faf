"""What every row of the study can do: be tuned on a dev set, and link the words of a test set."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from experiments.material import Material
from otalign.alignment import Alignment, Level, Link, Pairs
from otalign.gold import Gold
from otalign.metrics.counts import harmonic_mean
from otalign.tuning import EncoderChoice


@dataclass(frozen=True)
class Figures:
    """Precision and recall on so many pairs, and the F1 of the two."""

    precision: float
    recall: float
    pairs: int

    @property
    def f1(self) -> float:
        return float(harmonic_mean(self.precision, self.recall))

    def to_dict(self) -> dict[str, Any]:
        return {"f1": self.f1, "precision": self.precision, "recall": self.recall, "pairs": self.pairs}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Figures":
        return cls(data["precision"], data["recall"], data["pairs"])


@dataclass(frozen=True)
class Tuning:
    """What was found for a level, as JSON holds it and as a signature tells it; what it reaches on dev."""

    settings: dict[str, Any]
    fields: dict[str, object]
    dev: Figures | None  # None where nothing was tuned


class System(Protocol):
    """A row. A frozen value: its repr, part of a cell's key, says all that decides its figures."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def embeds(self) -> bool:
        """Whether its figures depend on the encoder."""
        ...

    def tune(
        self, material: Material, corpus: str, choice: EncoderChoice, levels: tuple[Level, ...]
    ) -> dict[Level, Tuning]:
        """The best on the dev set of a corpus, at each level."""
        ...

    def align(self, material: Material, corpus: str, tuning: Tuning) -> Iterable[Alignment]:
        """The test set of a corpus, as tuned."""
        ...


def of_pairs(golds: Iterable[Gold], links: Iterable[Pairs]) -> Iterator[Alignment]:
    """Links with the words of the gold that they are for."""
    for gold, pairs in zip(golds, links, strict=True):
        yield Alignment(gold.source, gold.target, tuple(Link(*pair) for pair in pairs))
