"""The subwords of texts, looked up part by part if the tokenizer treats the parts between spaces separately.

Most parts of a text have occurred before, and looking them up is many times as fast as tokenizing them.
"""

from collections.abc import Sequence
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MAX_PARTS = 1 << 17  # then the table is emptied
MAX_CHARACTERS = 64  # length of the longest part that is kept
GET_IDS, GET_BOUNDS = itemgetter(0), itemgetter(1)  # fields of `PartPieces`


class Pieces(NamedTuple):
    """The subwords of several texts.

    Attributes:
        ids: Ids of all subwords.
        spans: Character offsets of each in all texts, joined with a character between them, (pieces, 2).
        starts: Index of the first subword of each text, and the number of subwords, (texts + 1,).
    """

    ids: np.ndarray
    spans: np.ndarray
    starts: np.ndarray


class PartPieces(NamedTuple):
    """Ids of the subwords of a part, and the offsets of each, as start, end, start, end, and so on.

    They are the bytes of arrays, which are joined many times as fast as lists are converted.
    """

    ids: bytes
    bounds: bytes


def divides_at_spaces(tokenizer: "Tokenizer") -> bool:
    """Return whether a tokenizer certainly splits each part of a text between spaces independently."""
    from tokenizers import models, normalizers, pre_tokenizers

    return (
        isinstance(tokenizer.normalizer, normalizers.BertNormalizer)
        and isinstance(tokenizer.pre_tokenizer, pre_tokenizers.BertPreTokenizer)
        and isinstance(tokenizer.model, models.WordPiece)
        and all(token.special for token in tokenizer.get_added_tokens_decoder().values())
    )


def encode_texts(tokenizer: "Tokenizer", texts: Sequence[str]) -> Pieces:
    """Tokenize whole texts, without a table."""
    encodings = tokenizer.encode_batch(list(texts), add_special_tokens=False)
    counts = [len(encoding.ids) for encoding in encodings]
    ids = np.fromiter(chain.from_iterable(encoding.ids for encoding in encodings), np.intp, sum(counts))
    bounds = chain.from_iterable(chain.from_iterable(encoding.offsets for encoding in encodings))
    spans = np.fromiter(bounds, np.intp, 2 * sum(counts)).reshape(-1, 2)
    spans += np.repeat(find_offsets(texts), counts)[:, None]
    return Pieces(ids, spans, np.cumsum([0, *counts]))


def find_offsets(texts: Sequence[str]) -> np.ndarray:
    """Return the offset of each text in all of them, joined with a character between them."""
    sizes = np.fromiter(map(len, texts), np.intp, len(texts)) + 1
    return np.cumsum(sizes) - sizes


class PieceTable:
    """The subwords of the parts between spaces that have occurred. Threads may share it.

    Args:
        tokenizer: A tokenizer that divides texts at spaces, perhaps among other places.
    """

    def __init__(self, tokenizer: "Tokenizer") -> None:
        self.tokenizer = tokenizer
        self.parts: dict[str, PartPieces] = {}  # only grows, or is replaced, while a thread reads it

    def encode(self, texts: Sequence[str]) -> Pieces:
        """Return the subwords of texts."""
        if len(self.parts) > MAX_PARTS:
            self.parts = {}
        known, parts = self.parts, " ".join(texts).split(" ") if texts else []
        pieces_by_part: list[Any] = list(map(known.get, parts))
        if None in pieces_by_part:
            missing = {part for part, pieces in zip(parts, pieces_by_part, strict=True) if pieces is None}
            new = self._encode_parts(list(missing))
            pieces_by_part = [pieces or new[part] for part, pieces in zip(parts, pieces_by_part, strict=True)]
            known.update((part, pieces) for part, pieces in new.items() if len(part) <= MAX_CHARACTERS)
        sizes = np.fromiter(map(len, map(GET_IDS, pieces_by_part)), np.intp, len(pieces_by_part))
        counts = sizes // np.dtype(np.intp).itemsize
        ends = np.concatenate([[0], np.cumsum(counts)])
        ids, bounds = (
            np.frombuffer(b"".join(map(get, pieces_by_part)), np.intp) for get in (GET_IDS, GET_BOUNDS)
        )
        spans = bounds.reshape(-1, 2) + np.repeat(find_offsets(parts), counts)[:, None]
        first = np.cumsum([0, *(text.count(" ") + 1 for text in texts)])  # part of each text
        return Pieces(ids, spans, ends[first])

    def _encode_parts(self, parts: list[str]) -> dict[str, "PartPieces"]:
        encodings = self.tokenizer.encode_batch(parts, add_special_tokens=False)
        return {
            part: PartPieces(*(np.array(x, np.intp).tobytes() for x in (encoding.ids, encoding.offsets)))
            for part, encoding in zip(parts, encodings, strict=True)
        }
