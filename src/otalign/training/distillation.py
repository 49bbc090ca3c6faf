"""Distillation: teachers, and unlabelled pairs that they annotate for a student."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from pathlib import Path

from otalign.aligner import Aligner
from otalign.alignment import Gold
from otalign.ot import Problem
from otalign.progress import Progress
from otalign.settings import Learned
from otalign.training.examples import Words
from otalign.training.predictions import check_teachers, predict_targets, teacher_digest
from otalign.training.store import PairTexts, Targets


@dataclass(frozen=True, eq=False)
class Distillation:
    """Sources that a student learns from beside gold links.

    Attributes:
        teachers: Aligners that have learned their transport, of any encoder; their mean is learned.
        unlabelled: Pairs of words without links, to be learned from the teachers alone. They are read
            once for each training.
        folder: Where the teachers' predictions are kept; without one they are made for each training.
    """

    teachers: Sequence[Aligner] = ()
    unlabelled: Iterable[tuple[Words, Words]] = ()
    folder: Path | None = None

    def check(self, problem: Problem | Learned) -> None:
        """Raise ValueError where the teachers cannot teach, or the problem cannot be learned from them."""
        check_teachers(self.teachers, problem)

    def texts(self, golds: Sequence[Gold]) -> PairTexts:
        """The words of gold pairs, then those of the unlabelled pairs."""
        texts = PairTexts.build(chain(((gold.source, gold.target) for gold in golds), self.unlabelled))
        if len(texts) > len(golds) and not self.teachers:
            raise ValueError("unlabelled pairs are learned from a teacher; give at least one")
        return texts

    def digest(self, texts: PairTexts) -> str:
        """Names the teachers and all pairs."""
        digest = sha256(texts.text.tobytes() + texts.word_lengths.tobytes() + texts.word_starts.tobytes())
        for teacher in self.teachers:
            digest.update(teacher_digest(teacher).encode())
        return digest.hexdigest()

    def predict(self, texts: PairTexts, workers: int, progress: Progress) -> Targets | None:
        """The teachers' link probabilities of all pairs; None without a teacher."""
        if not self.teachers:
            return None
        return predict_targets(self.teachers, texts, self.folder, workers=workers, progress=progress)


NO_TEACHER = Distillation()
