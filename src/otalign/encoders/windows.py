"""Inputs of the length that a model takes: a sentence or two in one, or in several that overlap.

Where the sentences are too long together, windows of both move along them side by side, each over half
of the one before, so that a window holds what stands at the same share of either text. A sentence that
fits into half a window is in all of them. A subword seen more than once is a mean of what was seen,
weighted by how far it stood from the nearest cut, since context is missing there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from otalign.encoders.subwords import Frame, Subwords


@dataclass(frozen=True)
class InputPiece:
    """Subwords of one sentence in an input, as parts of its words."""

    sentence: int  # its number among all sentences
    places: np.ndarray  # in the input, and for each …
    words: np.ndarray  # … the word of the sentence that it is part of …
    weights: np.ndarray  # … and its share in that word's embedding


@dataclass(frozen=True)
class Input:
    """What the model reads at once, and what it tells of."""

    ids: list[int]
    types: list[int]
    pieces: tuple[InputPiece, ...]


def inputs(sentences: Sequence[Subwords], first: int, frame: Frame, limit: int) -> Iterator[Input]:
    """One input for sentences that fit into `limit` with their frame, else several; `first` is the number
    of the first sentence. The weights of a word, over all its pieces, add up to one."""
    lengths = [len(sentence.ids) for sentence in sentences]
    cuts = windows(lengths, limit - frame.size)
    several = len(cuts) > 1
    shares = [_shares(length, [window[k] for window in cuts]) for k, length in enumerate(lengths) if several]
    for number, window in enumerate(cuts):
        ids, types, pieces = list(frame.ids[0]), list(frame.types[0]), []
        for k, (sentence, part) in enumerate(zip(sentences, window, strict=True)):
            share = shares[k][number] if several else None
            pieces.append(_piece(first + k, sentence, part, len(ids), share))
            ids += chain(sentence.ids[part.start : part.stop], frame.ids[k + 1])
            types += [frame.sentence_types[k]] * len(part)
            types += frame.types[k + 1]
        yield Input(ids, types, tuple(pieces))


def windows(lengths: Sequence[int], room: int) -> list[tuple[range, ...]]:
    """Ranges over each of the lengths, together `room` at a time, that overlap and leave nothing out."""
    if sum(lengths) <= room:
        return [tuple(map(range, lengths))]
    if room < 2 * len(lengths):
        raise ValueError(f"a model that takes {room} subwords beside the special ones is too small for this")
    sizes = [min(length, room // len(lengths)) for length in lengths]
    longest = lengths.index(max(lengths))
    sizes[longest] = min(lengths[longest], room - sum(sizes) + sizes[longest])
    steps = max(-(-(length - size) // max(1, size // 2)) for length, size in zip(lengths, sizes, strict=True))
    return [
        tuple(_shift_window(length, size, k / steps) for length, size in zip(lengths, sizes, strict=True))
        for k in range(steps + 1)
    ]


def _shift_window(length: int, size: int, share: float) -> range:
    start = round((length - size) * share)
    return range(start, start + size)


def _shares(length: int, parts: Sequence[range]) -> list[np.ndarray]:
    """For each part, the share of its subwords in the mean over all parts."""
    weights = [_distance_from_cuts(length, part) for part in parts]
    total = np.zeros(length)
    for part, weight in zip(parts, weights, strict=True):
        total[part.start : part.stop] += weight
    return [weight / total[part.start : part.stop] for part, weight in zip(parts, weights, strict=True)]


def _distance_from_cuts(length: int, part: range) -> np.ndarray:
    """1 beside a cut and one more with each step; the ends of the text are no cuts."""
    steps = np.arange(1, len(part) + 1)
    left = steps if part.start > 0 else np.full(len(part), len(part))
    right = steps[::-1] if part.stop < length else np.full(len(part), len(part))
    return np.minimum(left, right).astype(float)


def _piece(
    number: int, sentence: Subwords, part: range, before: int, of_window: np.ndarray | None
) -> InputPiece:
    at, word, share = sentence.at, sentence.word, sentence.share
    if of_window is not None:
        inside = (at >= part.start) & (at < part.stop)
        at, word = at[inside] - part.start, word[inside]
        share = share[inside] * of_window[at]
    return InputPiece(number, at + before, word, share)
