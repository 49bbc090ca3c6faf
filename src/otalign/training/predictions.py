"""Teachers' link probabilities: predicted once, kept in a folder, and learned by a student.

A teacher knows how sure it is of a link, and tells both levels where gold may know only one. Its calibrated
probabilities are learned beside the gold, or, of unlabelled pairs, in its place. Of several teachers the mean
is taken.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import chain, tee
from pathlib import Path

import numpy as np

from otalign.aligner import Aligner
from otalign.alignment import LEVELS
from otalign.atomic import open_atomic
from otalign.encoders.embeddings import to_numpy
from otalign.ot import Problem
from otalign.progress import Progress, no_progress
from otalign.scoring import TransportHead, split_into_batches
from otalign.scoring.learned import BUDGET, compute_link_probabilities
from otalign.settings import Learned
from otalign.training.examples import Words
from otalign.training.store import PairTexts, Targets

CHUNK = 4096  # pairs in a file: what is lost at most where predicting is interrupted
STEPS = 255  # a probability is kept in a byte
FLOOR = 0.01  # below which it is kept as 0


def check_teachers(teachers: Sequence[Aligner], problem: Problem | Learned) -> None:
    """Raise ValueError unless all teachers give probabilities, and the problem is one that learns them."""
    for teacher in teachers:
        if not isinstance(teacher.head, TransportHead):
            raise ValueError(
                f"teacher must be an aligner that has learned its transport, got {teacher.signature}; "
                "only such gives probabilities"
            )
    if teachers and not isinstance(problem, Learned):
        raise ValueError(f"problem must be Learned() to learn from a teacher, got {problem!r}")


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
        folder: Where predictions are kept, a file for every few thousand pairs. What is there already, of
            the same teachers and pairs, is not predicted again, so several runs may share a folder.
        workers: Processes that prepare pairs ahead of the teachers, shared among them.
        progress: Called with what is done, how much of it, and of how much.

    Returns:
        Probabilities in steps of 1/255; below 0.01 they are 0.
    """
    bounds = range(0, len(texts), CHUNK)
    by_whom = "".join(map(teacher_digest, teachers))
    files = [folder / f"{_digest(by_whom, texts, k)}.npz" if folder else None for k in bounds]
    parts = {k: _read(file) for k, file in zip(bounds, files, strict=True) if file and file.is_file()}
    missing = [k for k in bounds if k not in parts]
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    progress("teachers", len(texts) - _count(missing, texts), len(texts))
    pairs = chain.from_iterable(_chunk(texts, k) for k in missing)
    found = _mean_probabilities(teachers, pairs, workers) if missing else iter(())
    for done, k in enumerate(missing, 1):
        stop = min(k + CHUNK, len(texts))
        parts[k] = Targets.build((next(found) for _ in range(k, stop)), np.uint8)
        if file := files[k // CHUNK]:
            with open_atomic(file) as out:
                part = parts[k]
                np.savez_compressed(out, starts=part.starts, cells=part.cells, values=part.values)
        progress("teachers", len(texts) - _count(missing[done:], texts), len(texts))
    whole = Targets.concatenate([parts[k] for k in bounds])
    return Targets(whole.starts, whole.cells, (whole.values / STEPS).astype(np.float32))


def teacher_digest(teacher: Aligner) -> str:
    """Names a teacher by what was trained: two runs with one signature have other weights."""
    assert teacher.head is not None
    digest = sha256(f"{teacher.settings.encoder} {teacher.settings.trained}".encode())
    for _, array in sorted(teacher.head.arrays().items()):
        digest.update(np.ascontiguousarray(to_numpy(array)).tobytes())
    return digest.hexdigest()


def _digest(by_whom: str, texts: PairTexts, start: int) -> str:
    """Names the predictions for the pairs of a chunk."""
    first, last = 2 * start, 2 * min(start + CHUNK, len(texts))
    digest = sha256(f"{by_whom} {FLOOR} {STEPS}".encode())
    digest.update(texts.text[texts.text_starts[first] : texts.text_starts[last]].tobytes())
    digest.update(texts.word_lengths[texts.word_starts[first] : texts.word_starts[last]].tobytes())
    digest.update(np.diff(texts.word_starts[first : last + 1]).tobytes())
    return digest.hexdigest()[:24]


def _count(starts: Sequence[int], texts: PairTexts) -> int:
    return sum(min(CHUNK, len(texts) - k) for k in starts)


def _chunk(texts: PairTexts, start: int) -> Iterator[tuple[Words, Words]]:
    return (texts[k] for k in range(start, min(start + CHUNK, len(texts))))


def _read(file: Path) -> Targets:
    with np.load(file, allow_pickle=False) as arrays:
        return Targets(arrays["starts"], arrays["cells"], arrays["values"])


def _mean_probabilities(
    teachers: Sequence[Aligner], pairs: Iterator[tuple[Words, Words]], workers: int
) -> Iterator[np.ndarray]:
    """The mean probability of each pair's links, in bytes, (levels, n, m), in the order of the pairs."""
    each = -(-workers // len(teachers)) if workers else 0
    streams = (
        _probabilities(teacher, of, each)
        for teacher, of in zip(teachers, tee(pairs, len(teachers)), strict=True)
    )
    for found in zip(*streams, strict=True):
        mean = sum(found) / len(found)
        yield np.where(mean < FLOOR, 0, np.rint(mean * STEPS)).astype(np.uint8)


def _probabilities(
    teacher: Aligner, pairs: Iterator[tuple[Words, Words]], workers: int
) -> Iterator[np.ndarray]:
    """One teacher's probabilities, (levels, n, m)."""
    for _, embeddings in teacher.embed(pairs, workers):
        assert isinstance(teacher.head, TransportHead)
        head = teacher.head.to_device(embeddings.vectors)
        shapes = embeddings.shapes.tolist()
        found = [np.zeros((len(LEVELS), *shape), dtype=np.float32) for shape in shapes]
        for indices, batch in split_into_batches(embeddings, BUDGET):
            logits = head.compute_logits(batch)
            for number, level in enumerate(LEVELS):
                links = compute_link_probabilities(logits, batch.cells, head.calibration, level)
                for k, pair in zip(indices, to_numpy(links), strict=True):
                    n, m = shapes[k]
                    found[k][number] = pair[:n, :m]
        yield from found
