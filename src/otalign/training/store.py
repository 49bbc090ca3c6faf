"""Training pairs in a few flat arrays, which need little memory and can be mapped by workers."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np

from otalign.alignment import LEVELS
from otalign.gold import Gold
from otalign.training.examples import Example, Words


class _Arrays:
    """A dataclass of NumPy arrays that can be written to a folder and mapped from it."""

    def save(self, folder: Path) -> None:
        """Write the arrays to a folder."""
        for field in fields(self):  # pyright: ignore[reportArgumentType]
            np.save(folder / f"{field.name}.npy", getattr(self, field.name))

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Map the arrays of a folder."""
        names = [field.name for field in fields(cls)]  # pyright: ignore[reportArgumentType]
        return cls(*(np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in names))


@dataclass(frozen=True, eq=False)
class PairTexts(_Arrays):
    """The words of sentence pairs, in a few arrays.

    Attributes:
        text: All words of source, target, source, target, … without separators, in UTF-8.
        text_starts: First byte of each sentence, and the number of bytes, (2 P + 1,).
        word_lengths: Number of characters of each word.
        word_starts: Number of the first word of each sentence, and the number of words, (2 P + 1,).

    Example:
        >>> texts = PairTexts.build([(("he", "ran"), ("he", "was", "running"))])
        >>> texts[0]
        (('he', 'ran'), ('he', 'was', 'running'))
    """

    text: np.ndarray
    text_starts: np.ndarray
    word_lengths: np.ndarray
    word_starts: np.ndarray

    @classmethod
    def build(cls, pairs: Iterable[tuple[Words, Words]]) -> Self:
        """Read pairs one by one.

        Args:
            pairs: Words of source and target.

        Returns:
            The words of all pairs.
        """
        text, lengths = bytearray(), array("i")
        text_starts, word_starts = array("q", [0]), array("q", [0])
        for pair in pairs:
            for words in pair:
                text += "".join(words).encode("utf-8", "surrogatepass")
                lengths.extend(map(len, words))
                text_starts.append(len(text))
                word_starts.append(len(lengths))
        return cls(
            np.frombuffer(text, dtype=np.uint8),
            np.frombuffer(text_starts, dtype=np.int64),
            np.frombuffer(lengths, dtype=np.int32) if lengths else np.zeros(0, np.int32),
            np.frombuffer(word_starts, dtype=np.int64),
        )

    def __len__(self) -> int:
        return len(self.text_starts) // 2

    def __getitem__(self, pair: int) -> tuple[Words, Words]:
        if not 0 <= pair < len(self):
            raise IndexError(pair)
        return self._words(2 * pair), self._words(2 * pair + 1)

    def __iter__(self) -> Iterator[tuple[Words, Words]]:
        return map(self.__getitem__, range(len(self)))

    @property
    def lengths(self) -> np.ndarray:
        """Number of words of source and target, (P, 2)."""
        return np.diff(self.word_starts).reshape(-1, 2)

    def update_digest(self, digest: Any, start: int, stop: int) -> None:
        """Add the words of the pairs from `start` to `stop` to a digest.

        Args:
            digest: Digest of hashlib.
            start: Index of the first pair.
            stop: Index after the last pair.
        """
        first, last = 2 * start, 2 * stop
        digest.update(self.text[self.text_starts[first] : self.text_starts[last]].tobytes())
        digest.update(self.word_lengths[self.word_starts[first] : self.word_starts[last]].tobytes())
        digest.update(np.diff(self.word_starts[first : last + 1]).tobytes())

    def _words(self, sentence: int) -> Words:
        start, end = self.text_starts[sentence : sentence + 2]
        text = self.text[start:end].tobytes().decode("utf-8", "surrogatepass")
        lengths = self.word_lengths[self.word_starts[sentence] : self.word_starts[sentence + 1]]
        return tuple(text[a:b] for a, b in pairwise(accumulate(lengths.tolist(), initial=0)))


@dataclass(frozen=True, eq=False)
class Targets(_Arrays):
    """The link probabilities to learn, as a sparse array: those that are 0 are left out.

    Attributes:
        starts: Number of the first entry of each pair, and the number of entries, (P + 1,).
        cells: Cell i · m + j of each entry.
        values: Probability of each entry at each level, (levels, entries).
    """

    starts: np.ndarray
    cells: np.ndarray
    values: np.ndarray

    @classmethod
    def build(cls, pairs: Iterable[np.ndarray], dtype: type = np.float32) -> Self:
        """Keep the entries of dense targets (levels, n, m) that are not 0."""
        counts, cells, values = [0], [], []
        for dense in pairs:
            flat = dense.reshape(len(LEVELS), -1)
            nonzero = np.flatnonzero(flat.any(axis=0))
            counts.append(len(nonzero))
            cells.append(nonzero.astype(np.uint32))
            values.append(flat[:, nonzero].astype(dtype))
        empty = np.zeros((len(LEVELS), 0), dtype=dtype)
        return cls(
            np.cumsum(counts),
            np.concatenate([np.zeros(0, np.uint32), *cells]),
            np.concatenate([empty, *values], axis=1),
        )

    @classmethod
    def concatenate(cls, parts: Sequence["Targets"]) -> Self:
        """Concatenate the targets of several parts."""
        before = np.cumsum([0, *(part.starts[-1] for part in parts)])
        starts = [part.starts[1:] + first for part, first in zip(parts, before, strict=False)]
        return cls(
            np.concatenate([[0], *starts]),
            np.concatenate([np.zeros(0, np.uint32), *(part.cells for part in parts)]),
            np.concatenate([np.zeros((len(LEVELS), 0), np.float32), *(p.values for p in parts)], axis=1),
        )

    def __len__(self) -> int:
        return len(self.starts) - 1

    def slice(self, start: int, stop: int) -> "Targets":
        """Return the targets of the pairs from `start` to `stop`."""
        entries = slice(self.starts[start], self.starts[stop])
        return Targets(
            self.starts[start : stop + 1] - self.starts[start], self.cells[entries], self.values[:, entries]
        )

    def expand(self, pair: int, shape: tuple[int, int]) -> np.ndarray:
        """Return the dense targets of a pair, (levels, n, m)."""
        entries = slice(self.starts[pair], self.starts[pair + 1])
        dense = np.zeros((len(LEVELS), shape[0] * shape[1]), dtype=np.float32)
        dense[:, self.cells[entries]] = self.values[:, entries]
        return dense.reshape(len(LEVELS), *shape)


@dataclass(frozen=True, eq=False)
class PairStore:
    """Sentence pairs with the links to learn.

    Attributes:
        texts: Words of the pairs.
        targets: Link probabilities of the pairs.
        weights: Weight of each level of a pair, (P, levels).
        gold: Number of pairs with gold links, which come first; the others have predictions alone.
    """

    texts: PairTexts
    targets: Targets
    weights: np.ndarray
    gold: int

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, pair: int) -> Example:
        source, target = self.texts[pair]
        targets = self.targets.expand(pair, (len(source), len(target)))
        return Example(source, target, targets, np.array(self.weights[pair]))

    def save(self, folder: Path) -> None:
        """Write the arrays to a folder."""
        self.texts.save(folder)
        self.targets.save(folder)
        np.save(folder / "weights.npy", self.weights)
        np.save(folder / "gold.npy", self.gold)

    @classmethod
    def open(cls, folder: Path) -> "PairStore":
        """Map the arrays of a folder."""
        return cls(
            PairTexts.open(folder),
            Targets.open(folder),
            np.load(folder / "weights.npy", mmap_mode="r", allow_pickle=False),
            int(np.load(folder / "gold.npy", allow_pickle=False)),
        )


def build_store(
    golds: Sequence[Gold],
    known: np.ndarray,
    texts: PairTexts,
    predictions: Targets | None = None,
    teacher_share: float = 0.0,
    unlabelled_weight: float = 1.0,
) -> PairStore:
    """Mix gold links and teachers' predictions into targets.

    Args:
        golds: Pairs with gold links.
        known: Whether the gold links of each pair are known at each level, (golds, levels).
        texts: Words of these pairs, followed by those of unlabelled pairs.
        predictions: Teachers' link probabilities of all pairs; None without a teacher.
        teacher_share: Share of the prediction in the target of a gold pair. It is also the weight of a level
            whose gold is unknown, where the target is the prediction alone.
        unlabelled_weight: Weight of the unlabelled pairs.

    Returns:
        All pairs with their targets and weights.
    """
    dense = (_make_gold_targets(gold) for gold in golds)
    if predictions is None:
        return PairStore(texts, Targets.build(dense), known.astype(np.float32), len(golds))
    shares = np.where(known, teacher_share, 1.0).astype(np.float32)[:, :, None, None]
    mixed = (
        (1 - share) * gold + share * predictions.expand(k, gold.shape[1:])
        for k, (gold, share) in enumerate(zip(dense, shares, strict=True))
    )
    weights = np.full((len(texts), len(LEVELS)), unlabelled_weight, dtype=np.float32)
    weights[: len(golds)] = np.where(known, 1.0, teacher_share)
    unlabelled = predictions.slice(len(golds), len(texts))
    return PairStore(texts, Targets.concatenate([Targets.build(mixed), unlabelled]), weights, len(golds))


def _make_gold_targets(gold: Gold) -> np.ndarray:
    """Return dense targets (levels, n, m) that are 1 where there is a link."""
    targets = np.zeros((len(LEVELS), *gold.shape), dtype=np.float32)
    for level, name in enumerate(LEVELS):
        for cell in gold.pairs(name):
            targets[level, *cell] = 1
    return targets
