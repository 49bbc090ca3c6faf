"""Sentences → subwords with the words that they belong to, for the tokenizer of any encoder.

A subword belongs to every word that it shares a letter with, by the offsets of the tokenizer. This one rule
covers pieces that include the space before a word, several pieces for one letter, and one piece for two
words. A word without any piece is represented by the unknown token, so that every word has at least one
subword. Letters of other widths and fonts, which most tokenizers do not know, are read as plain ones. Nothing
is truncated; `windows` deals with length.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np

from otalign.encoders.piece_table import PieceTable, divides_at_spaces, encode_texts, find_offsets
from otalign.failures import describe
from otalign.text.letters import make_plain
from otalign.text.words import Sentence

if TYPE_CHECKING:
    from tokenizers import Tokenizer

UNKNOWN = ("[UNK]", "<unk>", "[MASK]", "<mask>")  # tokens for a word without subwords


@dataclass(frozen=True, eq=False)
class Subwords:
    """The subwords of a sentence, and which of them belong to which words.

    Attributes:
        ids: Ids of the subwords.
        at: Indices into `ids`, one for each pair of a subword and a word that it belongs to.
        word: Word of each of these pairs; every word occurs.
        share: Weight of the subword of each pair in the embedding of the word.
    """

    ids: list[int]
    at: np.ndarray
    word: np.ndarray
    share: np.ndarray


@dataclass(frozen=True)
class Frame:
    """The special tokens of an input.

    Attributes:
        ids: Ids before, between and after the sentences.
        types: Token types of these.
        sentence_types: Token type of each sentence.
    """

    ids: tuple[tuple[int, ...], ...]
    types: tuple[tuple[int, ...], ...]
    sentence_types: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of special tokens."""
        return sum(map(len, self.ids))


class SubwordTokenizer:
    """A `tokenizers.Tokenizer` without truncation and padding, for which `[SEP]` in a text is plain text."""

    def __init__(self, tokenizer: "Tokenizer") -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self.single = _read_frame(tokenizer, 1)
        self.pair = _read_frame(tokenizer, 2)
        known = (tokenizer.token_to_id(token) for token in UNKNOWN)
        # A tokenizer without an unknown token may have special tokens; else the first id is used.
        special = [id for ids in self.single.ids for id in ids]
        self.unknown = next((id for id in known if id is not None), special[-1] if special else 0)
        tokenizer.encode_special_tokens = True
        self.tokenizer = tokenizer
        by_part = divides_at_spaces(tokenizer)
        self.encode = PieceTable(tokenizer).encode if by_part else partial(encode_texts, tokenizer)

    def __reduce__(self) -> tuple[type["SubwordTokenizer"], tuple["Tokenizer"]]:
        """Support pickling: a tokenizer does not pickle all of the options set above."""
        return SubwordTokenizer, (self.tokenizer,)

    def __call__(self, sentences: Sequence[Sentence]) -> list[Subwords]:
        """Tokenize sentences."""
        texts = [make_plain(sentence.text) for sentence in sentences]  # of the same length
        ids, pieces, piece_starts = self.encode(texts)
        spans = [sentence.spans for sentence in sentences]
        words, word_starts = _concatenate_spans(spans, find_offsets(texts))
        at, word = _match_pieces(pieces, words)
        ends = np.searchsorted(at, piece_starts)
        counts = np.bincount(word, minlength=len(words))
        incomplete = set(np.searchsorted(word_starts, np.flatnonzero(counts == 0), side="right") - 1)
        share, entries = 1 / counts[word], np.diff(ends)
        at, word = at - np.repeat(piece_starts[:-1], entries), word - np.repeat(word_starts[:-1], entries)
        all_ids, result = ids.tolist(), []
        for k, (first, end) in enumerate(pairwise(piece_starts.tolist())):
            part = slice(ends[k], ends[k + 1])
            subwords = Subwords(all_ids[first:end], at[part], word[part], share[part])
            if k in incomplete:
                subwords = self._add_unknown(subwords, len(sentences[k].spans))
            result.append(subwords)
        return result

    def _add_unknown(self, subwords: Subwords, words: int) -> Subwords:
        """Insert the unknown token for each word without subwords, before the subwords of the next word."""
        ids, known = subwords.ids, list(zip(subwords.at.tolist(), subwords.word.tolist(), strict=True))
        positions: dict[int, list[int]] = {k: [] for k in range(words)}
        for position, k in known:
            positions[k].append(position)
        before: dict[int, list[int]] = {}  # position → missing words to insert before it
        after = len(ids)
        for k in reversed(range(words)):
            if positions[k]:
                after = min(after, positions[k][0])
            else:
                before.setdefault(after, []).insert(0, k)
        new_ids, new_positions, entries = [], {}, []
        for position in range(len(ids) + 1):
            for k in before.get(position, ()):
                entries.append((len(new_ids), k))
                new_ids.append(self.unknown)
            if position < len(ids):
                new_positions[position] = len(new_ids)
                new_ids.append(ids[position])
        entries += [(new_positions[position], k) for position, k in known]
        at, word = np.array(sorted(entries)).T
        return Subwords(new_ids, at, word, 1 / np.bincount(word)[word])


def _concatenate_spans(
    spans: Sequence[Sequence[tuple[int, int]]], texts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the spans (n, 2) of all texts at the given offsets, and the index of each text's first span."""
    counts = [len(part) for part in spans]
    bounds = chain.from_iterable(chain.from_iterable(spans))
    all_spans = np.fromiter(bounds, np.intp, 2 * sum(counts)).reshape(-1, 2)
    return all_spans + np.repeat(texts, counts)[:, None], np.cumsum([0, *counts])


def _match_pieces(pieces: np.ndarray, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of all pieces and words that share a letter; empty ones share none."""
    full = np.flatnonzero(words[:, 0] < words[:, 1])
    starts, ends = words[full].T
    first = np.searchsorted(
        ends, pieces[:, 0], side="right"
    )  # the first word that ends after the piece starts
    beyond = np.searchsorted(starts, pieces[:, 1], side="left")
    counts = np.where(pieces[:, 0] < pieces[:, 1], np.maximum(beyond - first, 0), 0)
    at = np.repeat(np.arange(len(pieces)), counts)
    rank = np.arange(len(at)) - np.repeat(np.cumsum(counts) - counts, counts)
    return at, full[first[at] + rank]


def _read_frame(tokenizer: "Tokenizer", sentences: int) -> Frame:
    """Read the special tokens from an encoded example, since tokenizers define them in different ways."""
    try:
        example = tokenizer.encode("a", "a" if sentences == 2 else None)
    except BaseException as error:  # Rust panics, which are no Exception, if a special token is missing
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        raise ValueError(
            f"the tokenizer cannot encode the letter a: {describe(error, brief=True)}"
        ) from error
    special: list[list[tuple[int, int]]] = [[]]
    sentence_types: list[int] = []
    for id, type_id, sequence in zip(example.ids, example.type_ids, example.sequence_ids, strict=True):
        if sequence is None:
            special[-1].append((id, type_id))
        elif sequence == len(sentence_types):
            sentence_types.append(type_id)
            special.append([])
    if len(sentence_types) < sentences:
        raise ValueError("the tokenizer returns nothing for the letter a; does it belong to an encoder?")
    ids, types = (tuple(tuple(both[k] for both in part) for part in special) for k in (0, 1))
    return Frame(ids, types, tuple(sentence_types))
