"""Sentences → subwords that know their words, with the tokeniser of any encoder.

A subword belongs to every word that it shares a letter with, by the offsets that the tokeniser gives:
pieces that carry the blank before a word, several pieces for one letter, and one piece over two words
are all met by this one rule. A word that the tokeniser passes over in silence stands as the unknown
word, so every word has at least one subword. Nothing is cut: length is the business of `windows`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from otalign.failures import describe
from otalign.text.words import Sentence

if TYPE_CHECKING:
    from tokenizers import Tokenizer

UNKNOWN = ("[UNK]", "<unk>", "[MASK]", "<mask>")  # what may stand for a word without subwords


@dataclass(frozen=True, eq=False)
class Subwords:
    """The subwords of a sentence, and for each time that one is part of a word, which of which."""

    ids: list[int]
    at: np.ndarray  # a place in `ids`, and for each …
    word: np.ndarray  # … a word that it is part of; each word comes at least once
    share: np.ndarray  # … and its share in the mean that is the word's embedding


@dataclass(frozen=True)
class Frame:
    """What a model wants around the sentences of an input: special subwords, and a type for each."""

    ids: tuple[tuple[int, ...], ...]  # before, between and after the sentences
    types: tuple[tuple[int, ...], ...]  # of these
    sentence_types: tuple[int, ...]

    @property
    def size(self) -> int:
        return sum(map(len, self.ids))


class Subworder:
    """A `tokenizers.Tokenizer` that neither cuts nor pads, and takes `[SEP]` in a text as letters."""

    def __init__(self, tokenizer: "Tokenizer"):
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self.single = _frame(tokenizer, 1)
        self.pair = _frame(tokenizer, 2)
        known = (tokenizer.token_to_id(token) for token in UNKNOWN)
        # A tokeniser without an unknown word has special ids at least, or else takes its first piece.
        special = [id for ids in self.single.ids for id in ids]
        self.unknown = next((id for id in known if id is not None), special[-1] if special else 0)
        tokenizer.encode_special_tokens = True
        self.tokenizer = tokenizer

    def __reduce__(self):
        """For another process. What is set above is not all in what a tokeniser writes of itself."""
        return Subworder, (self.tokenizer,)

    def __call__(self, sentences: Sequence[Sentence]) -> list[Subwords]:
        encodings = self.tokenizer.encode_batch([s.text for s in sentences], add_special_tokens=False)
        texts = np.cumsum([0, *(len(s.text) + 1 for s in sentences)])[:-1]  # laid end to end, and apart
        pieces, piece_starts = _laid_out([encoding.offsets for encoding in encodings], texts)
        words, word_starts = _laid_out([sentence.spans for sentence in sentences], texts)
        at, word = _shared(pieces, words)
        ends = np.searchsorted(at, piece_starts)
        counts = np.bincount(word, minlength=len(words))
        incomplete = set(np.searchsorted(word_starts, np.flatnonzero(counts == 0), side="right") - 1)
        share, entries = 1 / counts[word], np.diff(ends)
        at, word = at - np.repeat(piece_starts[:-1], entries), word - np.repeat(word_starts[:-1], entries)
        made = []
        for k, encoding in enumerate(encodings):
            here = slice(ends[k], ends[k + 1])
            of = Subwords(encoding.ids, at[here], word[here], share[here])
            made.append(self._with_unknown(of, len(sentences[k].spans)) if k in incomplete else of)
        return made

    def _with_unknown(self, of: Subwords, words: int) -> Subwords:
        """The same with the unknown word put in, before the next word's subwords, where one has none."""
        ids, known = of.ids, list(zip(of.at.tolist(), of.word.tolist(), strict=True))
        places: dict[int, list[int]] = {k: [] for k in range(words)}
        for place, k in known:
            places[k].append(place)
        before: dict[int, list[int]] = {}  # place → the missing words to stand before it
        after = len(ids)
        for k in reversed(range(words)):
            if places[k]:
                after = min(after, places[k][0])
            else:
                before.setdefault(after, []).insert(0, k)
        whole, moved, entries = [], {}, []
        for place in range(len(ids) + 1):
            for k in before.get(place, ()):
                entries.append((len(whole), k))
                whole.append(self.unknown)
            if place < len(ids):
                moved[place] = len(whole)
                whole.append(ids[place])
        entries += [(moved[place], k) for place, k in known]
        at, word = np.array(sorted(entries)).T
        return Subwords(whole, at, word, 1 / np.bincount(word)[word])


def _laid_out(spans: Sequence[Sequence[tuple[int, int]]], texts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The spans (n, 2) of all texts, each text where it is said to begin, and the number of its first."""
    counts = [len(of) for of in spans]
    bounds = chain.from_iterable(chain.from_iterable(spans))
    all_spans = np.fromiter(bounds, np.intp, 2 * sum(counts)).reshape(-1, 2)
    return all_spans + np.repeat(texts, counts)[:, None], np.cumsum([0, *counts])


def _shared(pieces: np.ndarray, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each piece with each word that it shares a letter with, by their numbers; what is empty shares none."""
    full = np.flatnonzero(words[:, 0] < words[:, 1])
    starts, ends = words[full].T
    first = np.searchsorted(ends, pieces[:, 0], side="right")  # that ends after the piece starts
    beyond = np.searchsorted(starts, pieces[:, 1], side="left")
    counts = np.where(pieces[:, 0] < pieces[:, 1], np.maximum(beyond - first, 0), 0)
    at = np.repeat(np.arange(len(pieces)), counts)
    rank = np.arange(len(at)) - np.repeat(np.cumsum(counts) - counts, counts)
    return at, full[first[at] + rank]


def _frame(tokenizer: "Tokenizer", sentences: int) -> Frame:
    """Read off an encoded example, since every tokeniser says it in its own way."""
    try:
        example = tokenizer.encode("a", "a" if sentences == 2 else None)
    except BaseException as error:  # Rust panics if a special subword is missing, and that is no Exception
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
        raise ValueError("the tokenizer makes nothing of the letter a; is it that of an encoder?")
    ids, types = (tuple(tuple(both[k] for both in part) for part in special) for k in (0, 1))
    return Frame(ids, types, tuple(sentence_types))
