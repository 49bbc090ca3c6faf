"""The questions of span prediction: a word marked in its sentence, the other sentence to find it in.

Every word of either sentence is a question. Marks stand on both sides of its subwords. Where the two
sentences are too long for the encoder together, what is around the marked word is kept of the one, and of
the other there are overlapping windows, an input each.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from otalign.encoders.encoder import Encoder
from otalign.encoders.subwords import Frame, Subwords
from otalign.text.words import Sentence

MARK = "¶"
AT_ONCE = 32_768  # subwords of queries, padding included: those of a pair of about a hundred words a side


@dataclass(frozen=True, eq=False)
class Query:
    """An input, and where in it the words are that may be the answer."""

    pair: int
    side: int  # 0 where a source word is marked, 1 where a target word is
    word: int
    ids: list[int]
    types: list[int]
    first: int  # of the other sentence's words, the first whose places are here
    starts: np.ndarray  # of each word from there on, its first subword in the input, …
    ends: np.ndarray  # … and its last


@dataclass(frozen=True, eq=False)
class QueryBatch:
    """Queries padded to one size, those of all words of some pairs or any others."""

    ids: np.ndarray  # (Q, L), and
    mask: np.ndarray  # 1 where there is a subword, and
    types: np.ndarray
    starts: np.ndarray  # (Q, W): of the words that may be the answer; 0 where there is none
    ends: np.ndarray
    counts: np.ndarray  # (Q,): how many they are
    links: np.ndarray  # (Q, W), 1 where one is linked to the marked word
    places: np.ndarray  # (Q, 4): pair in the batch, side, marked word, first word that may be the answer
    lengths: np.ndarray  # (B, 2), in words
    pairs: np.ndarray  # (B,), their numbers

    def parts(self) -> Iterator["QueryBatch"]:
        """Its queries, so many at a time as memory has room for: mostly all. What is said of pairs stays."""
        size = max(1, AT_ONCE // self.ids.shape[1])
        for first in range(0, len(self.ids), size):
            here = {name: getattr(self, name)[first : first + size] for name in OF_QUERIES}
            yield replace(self, **here)


OF_QUERIES = ("ids", "mask", "types", "starts", "ends", "counts", "links", "places")


def queries(pairs: Sequence[tuple[Sentence, Sentence]], encoder: Encoder) -> Iterator[Query]:
    """Those of all words, source words first, pair by pair. A pair with an empty side has none."""
    mark = encoder.subworder.tokenizer.encode(MARK, add_special_tokens=False).ids
    subwords = encoder.subworder([sentence for pair in pairs for sentence in pair])
    for pair in range(len(pairs)):
        both = subwords[2 * pair : 2 * pair + 2]
        bounds = [_bounds(one) for one in both]
        if not all(len(starts) for starts, _ in bounds):
            continue
        for side in (0, 1):
            asked, other = both[side], both[1 - side]
            for word, (start, end) in enumerate(zip(*bounds[side], strict=True)):
                question = _mark(asked.ids, start, end, mark or [encoder.subworder.unknown])
                for window in _inputs(question, other.ids, bounds[1 - side], encoder):
                    yield Query(pair, side, word, *window)


def batch(of: Sequence[Query], lengths: np.ndarray, links: Sequence[np.ndarray], pad: int) -> QueryBatch:
    """These queries together; `lengths` (P, 2) and `links` (n, m) are those of all pairs, by number."""
    pairs = np.unique([query.pair for query in of])
    longest, words = max(len(query.ids) for query in of), max(len(query.starts) for query in of)
    ids = np.full((len(of), longest), pad, dtype=np.int64)
    mask, types = np.zeros_like(ids), np.zeros_like(ids)
    starts = np.zeros((len(of), words), dtype=np.int64)
    ends, answers = np.zeros_like(starts), np.zeros(starts.shape, dtype=np.float32)
    for k, query in enumerate(of):
        size, count = len(query.ids), len(query.starts)
        ids[k, :size], types[k, :size], mask[k, :size] = query.ids, query.types, 1
        starts[k, :count], ends[k, :count] = query.starts, query.ends
        linked = links[query.pair] if query.side == 0 else links[query.pair].T
        answers[k, :count] = linked[query.word, query.first : query.first + count]
    counts = np.array([len(query.starts) for query in of])
    numbers = np.searchsorted(pairs, [query.pair for query in of])
    places = np.array([(query.side, query.word, query.first) for query in of])
    places = np.concatenate([numbers[:, None], places], axis=1)
    return QueryBatch(ids, mask, types, starts, ends, counts, answers, places, lengths[pairs], pairs)


def by_pairs(of: Iterable[Query], subwords: int) -> Iterator[list[Query]]:
    """Queries, those of a pair together, the longest first: of so many pairs as have about so many subwords,
    padding included, or of one that has more."""
    whole: dict[int, list[Query]] = {}
    for query in of:
        whole.setdefault(query.pair, []).append(query)
    widths = {pair: max(len(query.ids) for query in asked) for pair, asked in whole.items()}
    together: list[Query] = []
    width = 0  # of the first, which is the longest
    for pair in sorted(whole, key=lambda pair: -widths[pair]):
        if together and (len(together) + len(whole[pair])) * width > subwords:
            yield together
            together = []
        width = width if together else widths[pair]
        together = together + whole[pair]
    if together:
        yield together


def _bounds(subwords: Subwords) -> tuple[list[int], list[int]]:
    """The places of the first and the last subword of each word."""
    size = int(subwords.word.max(initial=-1)) + 1
    starts, ends = np.full(size, len(subwords.ids)), np.full(size, -1)
    np.minimum.at(starts, subwords.word, subwords.at)
    np.maximum.at(ends, subwords.word, subwords.at)
    return starts.tolist(), ends.tolist()


@dataclass(frozen=True)
class _Marked:
    """A sentence with marks around a word, which stand from `start` to `end`."""

    ids: list[int]
    start: int
    end: int

    def within(self, size: int) -> list[int]:
        """So many subwords with the marked ones in the middle, as far as the sentence goes."""
        middle = (self.start + self.end - size) // 2
        first = max(0, min(middle, len(self.ids) - size))
        return self.ids[first : first + size]


def _mark(ids: list[int], start: int, end: int, mark: list[int]) -> _Marked:
    whole = [*ids[:start], *mark, *ids[start : end + 1], *mark, *ids[end + 1 :]]
    return _Marked(whole, start, end + 1 + 2 * len(mark))


def _inputs(
    question: _Marked, ids: list[int], bounds: tuple[list[int], list[int]], encoder: Encoder
) -> Iterator[tuple[list[int], list[int], int, np.ndarray, np.ndarray]]:
    """One for each window of the other sentence: ids, types, its first whole word, and the words' bounds."""
    frame, starts, ends = encoder.subworder.pair, np.array(bounds[0]), np.array(bounds[1])
    room = encoder.limit - frame.size
    asked = question.within(min(len(question.ids), max(room // 2, room - len(ids))))
    width = room - len(asked)
    for first in range(0, max(1, len(ids) - width // 2), max(1, width // 2)):
        whole = np.flatnonzero((starts >= first) & (ends < first + width))
        if not len(whole):
            continue
        made, types = _frame(asked, ids[first : first + width], frame)
        moved = len(frame.ids[0]) + len(asked) + len(frame.ids[1]) - first
        yield made, types, int(whole[0]), starts[whole] + moved, ends[whole] + moved
        if first + width >= len(ids):
            return


def _frame(one: list[int], other: list[int], frame: Frame) -> tuple[list[int], list[int]]:
    ids = list(chain(frame.ids[0], one, frame.ids[1], other, frame.ids[2]))
    parts = [(type_,) * len(side) for type_, side in zip(frame.sentence_types, (one, other), strict=True)]
    return ids, list(chain(frame.types[0], parts[0], frame.types[1], parts[1], frame.types[2]))
