"""The queries of span prediction: a word marked in its sentence, with the other sentence as context.

Every word of either sentence is a query, with marks on both sides of its subwords. If the two sentences are
too long for the encoder, the query is cut to the words around the marked one, and the context is split into
overlapping windows, each an input.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from otalign.encoders.encoder import Encoder
from otalign.encoders.subwords import Frame, Subwords
from otalign.text.words import Sentence

MARK = "¶"
MAX_SUBWORDS = 32_768  # batch size with padding: a pair with about a hundred words on each side


@dataclass(frozen=True, eq=False)
class Query:
    """An input with the positions of the candidate words."""

    pair: int
    side: int  # 0 where a source word is marked, 1 where a target word is
    word: int
    ids: list[int]
    types: list[int]
    first: int  # first candidate word of the other sentence
    starts: np.ndarray  # first subword of each candidate in the input
    ends: np.ndarray  # last subword of each candidate


@dataclass(frozen=True, eq=False)
class QueryBatch:
    """Queries padded to one size."""

    ids: np.ndarray  # (Q, L)
    mask: np.ndarray  # 1 where there is a subword
    types: np.ndarray
    starts: np.ndarray  # (Q, W): candidates; 0 where there is none
    ends: np.ndarray
    counts: np.ndarray  # (Q,): number of candidates
    links: np.ndarray  # (Q, W): 1 where a candidate is linked to the marked word
    positions: np.ndarray  # (Q, 4): pair in the batch, side, marked word, first candidate
    lengths: np.ndarray  # (B, 2), in words
    pairs: np.ndarray  # (B,), indices of the pairs

    def split(self) -> Iterator["QueryBatch"]:
        """Split the queries into parts that fit into memory; fields of pairs are unchanged."""
        size = max(1, MAX_SUBWORDS // self.ids.shape[1])
        for first in range(0, len(self.ids), size):
            part = {name: getattr(self, name)[first : first + size] for name in QUERY_FIELDS}
            yield replace(self, **part)


QUERY_FIELDS = ("ids", "mask", "types", "starts", "ends", "counts", "links", "positions")


def make_queries(pairs: Sequence[tuple[Sentence, Sentence]], encoder: Encoder) -> Iterator[Query]:
    """Yield the queries of all words, source words first, pair by pair; none if a side is empty."""
    mark = encoder.subword_tokenizer.tokenizer.encode(MARK, add_special_tokens=False).ids
    subwords = encoder.subword_tokenizer([sentence for pair in pairs for sentence in pair])
    for pair in range(len(pairs)):
        both = subwords[2 * pair : 2 * pair + 2]
        bounds = [_find_bounds(side) for side in both]
        if not all(len(starts) for starts, _ in bounds):
            continue
        for side in (0, 1):
            query, context = both[side], both[1 - side]
            for word, (start, end) in enumerate(zip(*bounds[side], strict=True)):
                question = _mark(query.ids, start, end, mark or [encoder.subword_tokenizer.unknown])
                for window in _make_inputs(question, context.ids, bounds[1 - side], encoder):
                    yield Query(pair, side, word, *window)


def make_batch(
    selected: Sequence[Query], lengths: np.ndarray, links: Sequence[np.ndarray], pad: int
) -> QueryBatch:
    """Pad queries to a batch; `lengths` (P, 2) and `links` (n, m) are those of all pairs, by index."""
    pairs = np.unique([query.pair for query in selected])
    longest, words = max(len(query.ids) for query in selected), max(len(query.starts) for query in selected)
    ids = np.full((len(selected), longest), pad, dtype=np.int64)
    mask, types = np.zeros_like(ids), np.zeros_like(ids)
    starts = np.zeros((len(selected), words), dtype=np.int64)
    ends, answers = np.zeros_like(starts), np.zeros(starts.shape, dtype=np.float32)
    for k, query in enumerate(selected):
        size, count = len(query.ids), len(query.starts)
        ids[k, :size], types[k, :size], mask[k, :size] = query.ids, query.types, 1
        starts[k, :count], ends[k, :count] = query.starts, query.ends
        linked = links[query.pair] if query.side == 0 else links[query.pair].T
        answers[k, :count] = linked[query.word, query.first : query.first + count]
    counts = np.array([len(query.starts) for query in selected])
    numbers = np.searchsorted(pairs, [query.pair for query in selected])
    positions = np.array([(query.side, query.word, query.first) for query in selected])
    positions = np.concatenate([numbers[:, None], positions], axis=1)
    return QueryBatch(ids, mask, types, starts, ends, counts, answers, positions, lengths[pairs], pairs)


def group_by_pairs(queries: Iterable[Query], subwords: int) -> Iterator[list[Query]]:
    """Yield the queries of as many pairs as fit into a number of subwords with padding, the longest first.

    The queries of a pair stay together, even if they have more subwords.
    """
    groups: dict[int, list[Query]] = {}
    for query in queries:
        groups.setdefault(query.pair, []).append(query)
    widths = {pair: max(len(query.ids) for query in group) for pair, group in groups.items()}
    together: list[Query] = []
    width = 0  # padded length: that of the first, which is the longest
    for pair in sorted(groups, key=lambda pair: -widths[pair]):
        if together and (len(together) + len(groups[pair])) * width > subwords:
            yield together
            together = []
        width = width if together else widths[pair]
        together = together + groups[pair]
    if together:
        yield together


def _find_bounds(subwords: Subwords) -> tuple[list[int], list[int]]:
    """Return the positions of the first and the last subword of each word."""
    size = int(subwords.word.max(initial=-1)) + 1
    starts, ends = np.full(size, len(subwords.ids)), np.full(size, -1)
    np.minimum.at(starts, subwords.word, subwords.at)
    np.maximum.at(ends, subwords.word, subwords.at)
    return starts.tolist(), ends.tolist()


@dataclass(frozen=True)
class _MarkedSentence:
    """A sentence with marks around a word; the marked part is from `start` to `end`."""

    ids: list[int]
    start: int
    end: int

    def cut(self, size: int) -> list[int]:
        """Return a window of subwords with the marked part in the middle, as far as the sentence allows."""
        middle = (self.start + self.end - size) // 2
        first = max(0, min(middle, len(self.ids) - size))
        return self.ids[first : first + size]


def _mark(ids: list[int], start: int, end: int, mark: list[int]) -> _MarkedSentence:
    marked = [*ids[:start], *mark, *ids[start : end + 1], *mark, *ids[end + 1 :]]
    return _MarkedSentence(marked, start, end + 1 + 2 * len(mark))


def _make_inputs(
    question: _MarkedSentence, ids: list[int], bounds: tuple[list[int], list[int]], encoder: Encoder
) -> Iterator[tuple[list[int], list[int], int, np.ndarray, np.ndarray]]:
    """Yield ids, types, the first complete word and the bounds of words for each window of the context."""
    frame, starts, ends = encoder.subword_tokenizer.pair, np.array(bounds[0]), np.array(bounds[1])
    room = encoder.limit - frame.size
    question_ids = question.cut(min(len(question.ids), max(room // 2, room - len(ids))))
    width = room - len(question_ids)
    for first in range(0, max(1, len(ids) - width // 2), max(1, width // 2)):
        words = np.flatnonzero((starts >= first) & (ends < first + width))
        if not len(words):
            continue
        framed, types = _frame(question_ids, ids[first : first + width], frame)
        shift = len(frame.ids[0]) + len(question_ids) + len(frame.ids[1]) - first
        yield framed, types, int(words[0]), starts[words] + shift, ends[words] + shift
        if first + width >= len(ids):
            return


def _frame(first: list[int], second: list[int], frame: Frame) -> tuple[list[int], list[int]]:
    ids = list(chain(frame.ids[0], first, frame.ids[1], second, frame.ids[2]))
    parts = [(type_,) * len(side) for type_, side in zip(frame.sentence_types, (first, second), strict=True)]
    return ids, list(chain(frame.types[0], parts[0], frame.types[1], parts[1], frame.types[2]))
