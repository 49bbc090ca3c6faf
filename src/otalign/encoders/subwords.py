"""Sentences → subwords that know their words, with the tokeniser of any encoder.

A subword belongs to every word that it shares a letter with, by the offsets that the tokeniser gives:
pieces that carry the blank before a word, several pieces for one letter, and one piece over two words
are all met by this one rule. A word that the tokeniser passes over in silence stands as the unknown
word, so every word has at least one subword. Nothing is cut: length is the business of `windows`.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from otalign.words import Sentence

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

UNKNOWN = ("[UNK]", "<unk>", "[MASK]", "<mask>")  # what may stand for a word without subwords


@dataclass(frozen=True)
class Subwords:
    """The subwords of a sentence, and for each time that one is part of a word, which of which."""

    ids: list[int]
    at: list[int]  # a place in `ids` …
    word: list[int]  # … and a word that it is part of; each word comes at least once


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
        return [
            self._subwords(encoding, sentence.spans)
            for encoding, sentence in zip(encodings, sentences, strict=True)
        ]

    def _subwords(self, encoding: "Encoding", spans: Sequence[tuple[int, int]]) -> Subwords:
        at, word = [], []
        ends = [end for _, end in spans]
        for place, (start, end) in enumerate(encoding.offsets):
            k = bisect_right(ends, start)  # the first word that ends after the piece starts
            while k < len(spans) and spans[k][0] < end:
                if start < end and spans[k][0] < ends[k]:  # what is empty shares no letter
                    at.append(place)
                    word.append(k)
                k += 1
        if len(set(word)) < len(spans):
            return self._with_unknown(encoding.ids, at, word, len(spans))
        return Subwords(encoding.ids, at, word)

    def _with_unknown(self, ids: list[int], at: list[int], word: list[int], words: int) -> Subwords:
        """The same with the unknown word put in, before the next word's subwords, where one has none."""
        places: dict[int, list[int]] = {k: [] for k in range(words)}
        for place, k in zip(at, word, strict=True):
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
        entries += [(moved[place], k) for place, k in zip(at, word, strict=True)]
        entries.sort()
        return Subwords(whole, [place for place, _ in entries], [k for _, k in entries])


def _frame(tokenizer: "Tokenizer", sentences: int) -> Frame:
    """Read off an encoded example, since every tokeniser says it in its own way."""
    example = tokenizer.encode("a", "a" if sentences == 2 else None)
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
