"""Teachers' link probabilities: predicted once, kept in a folder, and learned by a student.

A teacher predicts calibrated probabilities at both levels, where gold may have only one. They are learned
together with gold links, or alone where pairs are unlabelled. The mean is taken over several teachers.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain, tee
from pathlib import Path

import numpy as np

from otalign.aligner import Aligner
from otalign.alignment import LEVELS
from otalign.atomic import open_atomic
from otalign.encoders.embeddings import to_numpy
from otalign.progress import Progress, no_progress
from otalign.scoring import split_into_batches
from otalign.scoring.learned import BUDGET, compute_link_probabilities
from otalign.settings import LEARNED
from otalign.training.examples import Words
from otalign.training.store import PairTexts, Targets
from otalign.tuning.calibration import get_transport_head

CHUNK = 4096  # pairs of a file, and so the most that an interruption loses
STEPS = 255  # a probability is kept in a byte
FLOOR = 0.01  # smaller probabilities are kept as 0


def check_teachers(teachers: Sequence[Aligner]) -> None:
    """Raise ValueError unless all teachers have learned their transport, and so give probabilities."""
    for teacher in teachers:
        if teacher.settings.problem_name != LEARNED:
            raise ValueError(
                f"teacher must be an aligner that has learned its transport, got {teacher.signature}; "
                "others give no probabilities"
            )


def predict_targets(
    teachers: Sequence[Aligner],
    texts: PairTexts,
    folder: Path | None = None,
    *,
    workers: int = 0,
    progress: Progress = no_progress,
) -> Targets:
    """Predict the link probabilities of pairs, the mean over the teachers.

    Args:
        teachers: Aligners with a learned transport.
        texts: The pairs.
        folder: Folder that keeps predictions, a file for every few thousand pairs. Predictions of the same
            teachers and pairs that are there already are read, so several runs may share a folder.
        workers: Number of processes that prepare pairs for the teachers.
        progress: Function that is called with a description, the amount done, and the total.

    Returns:
        Probabilities in steps of 1/255; those below 0.01 are 0.

    Raises:
        TypeError: If a teacher has not learned its transport.

    Example:
        >>> from otalign import Aligner
        >>> from otalign.training import PairTexts, predict_targets
        >>> texts = PairTexts.build([(("he", "ran"), ("he", "was", "running"))])
        >>> sure, possible = predict_targets([Aligner.load()], texts).expand(0, (2, 3))
        >>> (sure > 0.5).astype(int).tolist()
        [[1, 0, 0], [0, 0, 1]]
    """
    files = _name_files(teachers, texts, folder)
    parts = {k: _read_targets(file) for k, file in files.items() if file and file.is_file()}
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    missing = [k for k in files if k not in parts]
    parts |= _predict_chunks(teachers, texts, missing, files, workers, progress)
    whole = Targets.concatenate([parts[k] for k in files])
    return Targets(whole.starts, whole.cells, (whole.values / STEPS).astype(np.float32))


def predict_part(
    teachers: Sequence[Aligner],
    texts: PairTexts,
    folder: Path,
    part: tuple[int, int],
    *,
    workers: int = 0,
    progress: Progress = no_progress,
) -> None:
    """Predict a part of the pairs into the folder of `predict_targets`, so that processes share the work.

    Args:
        teachers: Aligners with a learned transport.
        texts: All pairs.
        folder: Folder that keeps predictions.
        part: Number of the part, from 1, and the number of parts.
        workers: Number of processes that prepare pairs for the teachers.
        progress: Function that is called with a description, the amount done, and the total.

    Example:
        >>> from otalign import Aligner
        >>> from otalign.training import PairTexts
        >>> texts = PairTexts.build([(("he", "ran"), ("he", "was", "running"))])
        >>> predict_part([Aligner.load()], texts, Path("kept"), (1, 2))
        >>> len(list(Path("kept").iterdir()))
        1
    """
    files = _name_files(teachers, texts, folder)
    number, count = part
    folder.mkdir(parents=True, exist_ok=True)
    missing = [k for k, file in list(files.items())[number - 1 :: count] if file and not file.is_file()]
    _predict_chunks(teachers, texts, missing, files, workers, progress)


def _name_files(teachers: Sequence[Aligner], texts: PairTexts, folder: Path | None) -> dict[int, Path | None]:
    """Return the file that keeps the predictions of each chunk, by the number of its first pair."""
    digest = "".join(map(digest_teacher, teachers))
    starts = range(0, len(texts), CHUNK)
    return {k: folder / f"{_digest_chunk(digest, texts, k)}.npz" if folder else None for k in starts}


def _predict_chunks(
    teachers: Sequence[Aligner],
    texts: PairTexts,
    starts: Sequence[int],
    files: Mapping[int, Path | None],
    workers: int,
    progress: Progress,
) -> dict[int, Targets]:
    """Predict the chunks that start at some pairs, and write each to its file."""
    parts: dict[int, Targets] = {}
    progress("teachers", len(texts) - _count_pairs(starts, texts), len(texts))
    pairs = chain.from_iterable(_read_chunk(texts, k) for k in starts)
    means = _predict_mean(teachers, pairs, workers) if starts else iter(())
    for done, k in enumerate(starts, 1):
        stop = min(k + CHUNK, len(texts))
        parts[k] = Targets.build((next(means) for _ in range(k, stop)), np.uint8)
        if file := files[k]:
            with open_atomic(file) as out:
                part = parts[k]
                np.savez_compressed(out, starts=part.starts, cells=part.cells, values=part.values)
        progress("teachers", len(texts) - _count_pairs(starts[done:], texts), len(texts))
    return parts


def digest_teacher(teacher: Aligner) -> str:
    """Compute a digest of a teacher's weights: two trainings with one signature have other weights."""
    assert teacher.head is not None
    digest = sha256(f"{teacher.settings.encoder} {teacher.settings.trained}".encode())
    for _, array in sorted(teacher.head.arrays().items()):
        digest.update(np.ascontiguousarray(to_numpy(array)).tobytes())
    return digest.hexdigest()


def _digest_chunk(teachers_digest: str, texts: PairTexts, start: int) -> str:
    """Compute the name of the file that keeps the predictions for a chunk."""
    digest = sha256(f"{teachers_digest} {FLOOR} {STEPS}".encode())
    texts.update_digest(digest, start, min(start + CHUNK, len(texts)))
    return digest.hexdigest()[:24]


def _count_pairs(starts: Sequence[int], texts: PairTexts) -> int:
    return sum(min(CHUNK, len(texts) - k) for k in starts)


def _read_chunk(texts: PairTexts, start: int) -> Iterator[tuple[Words, Words]]:
    return (texts[k] for k in range(start, min(start + CHUNK, len(texts))))


def _read_targets(file: Path) -> Targets:
    with np.load(file, allow_pickle=False) as arrays:
        return Targets(arrays["starts"], arrays["cells"], arrays["values"])


def _predict_mean(
    teachers: Sequence[Aligner], pairs: Iterator[tuple[Words, Words]], workers: int
) -> Iterator[np.ndarray]:
    """Predict the mean probabilities of each pair's links, in bytes, (levels, n, m)."""
    each = -(-workers // len(teachers)) if workers else 0
    streams = (
        _predict(teacher, copy, each)
        for teacher, copy in zip(teachers, tee(pairs, len(teachers)), strict=True)
    )
    for predictions in zip(*streams, strict=True):
        mean = sum(predictions) / len(predictions)
        yield np.where(mean < FLOOR, 0, np.rint(mean * STEPS)).astype(np.uint8)


def _predict(teacher: Aligner, pairs: Iterator[tuple[Words, Words]], workers: int) -> Iterator[np.ndarray]:
    """Predict the probabilities of one teacher, (levels, n, m)."""
    for _, embeddings in teacher.embed(pairs, workers):
        head = get_transport_head(teacher).to_device(embeddings.vectors)
        shapes = embeddings.shapes.tolist()
        probabilities = [np.zeros((len(LEVELS), *shape), dtype=np.float32) for shape in shapes]
        for indices, batch in split_into_batches(embeddings, BUDGET):
            logits = head.compute_logits(batch)
            for number, level in enumerate(LEVELS):
                links = compute_link_probabilities(logits, batch.cells, head.calibration, level)
                for k, pair in zip(indices, to_numpy(links), strict=True):
                    n, m = shapes[k]
                    probabilities[k][number] = pair[:n, :m]
        yield from probabilities
