"""Distillation: teachers, and unlabelled pairs that they annotate for a student."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from pathlib import Path

from otalign.aligner import Aligner
from otalign.gold import Gold
from otalign.progress import Progress
from otalign.training.examples import Words
from otalign.training.predictions import digest_teacher, predict_targets
from otalign.training.store import PairTexts, Targets


@dataclass(frozen=True, eq=False)
class Distillation:
    """Teachers that a student learns from, together with gold links.

    Attributes:
        teachers: Aligners that have learned their transport, with any encoder. The mean of their
            probabilities is learned.
        unlabelled: Pairs of words without links, to be learned from the teachers alone. They are read once
            for each training.
        folder: Folder that keeps the teachers' predictions; without one they are made for each training.

    Example:
        >>> from otalign import Aligner
        >>> from otalign.training import Distillation
        >>> distillation = Distillation([Aligner.load()], [(("he", "ran"), ("he", "was", "running"))])
        >>> len(distillation.collect_texts(golds=[]))
        1
    """

    teachers: Sequence[Aligner] = ()
    unlabelled: Iterable[tuple[Words, Words]] = ()
    folder: Path | None = None

    def collect_texts(self, golds: Sequence[Gold]) -> PairTexts:
        """Collect the words of gold pairs, then those of the unlabelled pairs.

        Args:
            golds: The gold pairs.

        Returns:
            The words of all pairs.

        Raises:
            ValueError: If there are unlabelled pairs, but no teacher.
        """
        texts = PairTexts.build(chain(((gold.source, gold.target) for gold in golds), self.unlabelled))
        if len(texts) > len(golds) and not self.teachers:
            raise ValueError("unlabelled pairs are learned from a teacher; give at least one")
        return texts

    def compute_digest(self, texts: PairTexts, golds: int) -> str:
        """Compute a digest of the teachers and of the unlabelled pairs, which follow the gold pairs.

        Args:
            texts: The words of all pairs, gold pairs first.
            golds: Number of gold pairs.

        Returns:
            The digest, in hexadecimal digits.
        """
        digest = sha256()
        texts.update_digest(digest, golds, len(texts))
        for teacher in self.teachers:
            digest.update(digest_teacher(teacher).encode())
        return digest.hexdigest()

    def predict(self, texts: PairTexts, workers: int, progress: Progress) -> Targets | None:
        """Predict the link probabilities of all pairs; None without a teacher.

        Args:
            texts: The words of all pairs.
            workers: Number of processes that prepare pairs for the teachers.
            progress: Function that is called with a description, the amount done, and the total.

        Returns:
            The probabilities, or None.
        """
        if not self.teachers:
            return None
        return predict_targets(self.teachers, texts, self.folder, workers=workers, progress=progress)


NO_TEACHER = Distillation()
