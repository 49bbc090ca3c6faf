"""Inputs of the length that a model takes: one for a sentence or pair, or several that overlap.

If the sentences are too long together, windows over both move along in parallel, each by half its length, so
that a window holds the corresponding parts of the two texts. A sentence that fits into half a window is in
all of them. The embedding of a subword in several windows is the mean over them, weighted by the distance to
the nearest cut, where context is missing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from otalign.encoders.subwords import Frame, Subwords


@dataclass(frozen=True)
class InputPiece:
    """The subwords of one sentence in an input.

    Attributes:
        sentence: Number of the sentence.
        places: Indices into the input.
        words: Word of the sentence that each of these belongs to.
        weights: Weight of each of these in the word's embedding.
    """

    sentence: int
    places: np.ndarray
    words: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class Input:
    """An input of the model.

    Attributes:
        ids: Ids of subwords.
        types: Token types.
        pieces: The sentences in it.
    """

    ids: list[int]
    types: list[int]
    pieces: tuple[InputPiece, ...]


def make_inputs(
    sentences: Sequence[Subwords], numbers: Sequence[int], frame: Frame, limit: int
) -> Iterator[Input]:
    """Make one input of sentences that fit the model, or several.

    Args:
        sentences: One or two sentences.
        numbers: Their numbers.
        frame: Special tokens.
        limit: Maximum number of subwords per input, special ones included.

    Yields:
        Inputs. The weights of a word, over all of them, add up to one.
    """
    lengths = [len(sentence.ids) for sentence in sentences]
    cuts = make_windows(lengths, limit - frame.size)
    several = len(cuts) > 1
    shares = [
        _compute_shares(length, [window[k] for window in cuts]) for k, length in enumerate(lengths) if several
    ]
    for number, window in enumerate(cuts):
        ids, types, pieces = list(frame.ids[0]), list(frame.types[0]), []
        for k, (sentence, part) in enumerate(zip(sentences, window, strict=True)):
            share = shares[k][number] if several else None
            pieces.append(_make_piece(numbers[k], sentence, part, len(ids), share))
            ids += chain(sentence.ids[part.start : part.stop], frame.ids[k + 1])
            types += [frame.sentence_types[k]] * len(part)
            types += frame.types[k + 1]
        yield Input(ids, types, tuple(pieces))


def make_windows(lengths: Sequence[int], room: int) -> list[tuple[range, ...]]:
    """Divide texts into overlapping windows that cover everything.

    Args:
        lengths: Lengths of the texts.
        room: Maximum length of a window over all texts.

    Returns:
        For each window, a range of each text.

    Raises:
        ValueError: If there is too little room.
    """
    if sum(lengths) <= room:
        return [tuple(map(range, lengths))]
    if room < 2 * len(lengths):
        raise ValueError(f"the model is too small: it takes only {room} subwords besides the special ones")
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


def _compute_shares(length: int, parts: Sequence[range]) -> list[np.ndarray]:
    """Return the weights of each part's subwords in the mean over all parts."""
    weights = [_compute_cut_distance(length, part) for part in parts]
    total = np.zeros(length)
    for part, weight in zip(parts, weights, strict=True):
        total[part.start : part.stop] += weight
    return [weight / total[part.start : part.stop] for part, weight in zip(parts, weights, strict=True)]


def _compute_cut_distance(length: int, part: range) -> np.ndarray:
    """Return distances to the nearest cut, from 1; the ends of the text are no cuts."""
    steps = np.arange(1, len(part) + 1)
    left = steps if part.start > 0 else np.full(len(part), len(part))
    right = steps[::-1] if part.stop < length else np.full(len(part), len(part))
    return np.minimum(left, right).astype(float)


def _make_piece(
    number: int, sentence: Subwords, part: range, offset: int, window_share: np.ndarray | None
) -> InputPiece:
    at, word, share = sentence.at, sentence.word, sentence.share
    if window_share is not None:
        inside = (at >= part.start) & (at < part.stop)
        at, word = at[inside] - part.start, word[inside]
        share = share[inside] * window_share[at]
    return InputPiece(number, at + offset, word, share)
