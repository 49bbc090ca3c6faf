"""Numbers that scorers read from the letters of words, beside their embeddings: vectors of spelling, lengths.

Words that share most of their letter sequences have similar vectors of spelling. An encoder splits a
misspelled or rare word into arbitrary subwords. Its letters still identify the word.
"""

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

import numpy as np

from otalign.text.letters import make_plain

SIZE = 64  # dimension of a vector
NGRAMS = (2, 3)  # lengths of n-grams
MOST = 127  # largest count
MAX_WORDS = 1 << 15  # words whose vectors are cached; with more, the cache is emptied

_vectors: dict[str, bytes] = {}  # cached vectors; threads may share it


@dataclass(frozen=True)
class WordFeatures:
    """Functions that compute features of words, at once or in two steps, since counts are small to send.

    Attributes:
        embed: Function from words to features, float32 (words, C).
        count: Function from words to counts, int8 (words, C).
        scale: Function from counts to features.
    """

    embed: Callable[[Sequence[str]], np.ndarray]
    count: Callable[[Sequence[str]], np.ndarray]
    scale: Callable[[np.ndarray], np.ndarray]


def count_letters(words: Sequence[str]) -> np.ndarray:
    """Count the characters of words, up to 127, as int8 (words, 1)."""
    return np.array([min(len(word), MOST) for word in words], dtype=np.int8)[:, None]


def count_ngrams(words: Sequence[str]) -> np.ndarray:
    """Count the character n-grams of words, hashed into a few columns.

    Args:
        words: The words. Case, width and font of letters do not matter.

    Returns:
        Counts (words, SIZE) as int8. Half of the n-grams count negatively, so that those that share a column
        cancel out on average.
    """
    counts = b"".join(map(_count_word_ngrams, words))
    return np.frombuffer(counts, dtype=np.int8).reshape(len(words), SIZE)


def embed_spelling(words: Sequence[str]) -> np.ndarray:
    """Compute the vectors of the spelling of words.

    Args:
        words: The words. Case, width and font of letters do not matter.

    Returns:
        Vectors of length 1, (words, SIZE). The vector of an empty word is 0.

    Example:
        >>> one, other, typo = embed_spelling(["Smoking", "smoking", "smokign"])
        >>> bool(one @ other > 0.999), bool(one @ typo > 0.4)
        (True, True)
    """
    vectors = list(map(_vectors.get, words))
    if None in vectors:
        missing = [*{word for word, vector in zip(words, vectors, strict=True) if vector is None}]
        rows = normalize_counts(count_ngrams(missing))
        new = {word: row.tobytes() for word, row in zip(missing, rows, strict=True)}
        vectors = [new.get(word, vector) for word, vector in zip(words, vectors, strict=True)]
        if len(_vectors) > MAX_WORDS:
            _vectors.clear()
        _vectors.update(new)
    joined = bytearray().join(filter(None, vectors))  # of which the array is writable, as torch asks
    return np.frombuffer(joined, dtype=np.float32).reshape(len(words), SIZE)


def normalize_counts(counts: np.ndarray) -> np.ndarray:
    """Compute vectors of length 1 from counts of n-grams, (words, SIZE)."""
    counts = counts.astype(np.float32)
    norms = np.sqrt(np.sum(counts * counts, axis=1, keepdims=True))
    return counts / np.maximum(norms, 1)  # counts are integers: a norm is 0, or at least 1


def embed_lengths(words: Sequence[str]) -> np.ndarray:
    """Return the numbers of characters of words, up to 127, as float32 (words, 1)."""
    return _to_float(count_letters(words))


def _to_float(counts: np.ndarray) -> np.ndarray:
    return counts.astype(np.float32)


LENGTHS = WordFeatures(embed_lengths, count_letters, _to_float)
SPELLING = WordFeatures(embed_spelling, count_ngrams, normalize_counts)


@lru_cache(1 << 16)
def _count_word_ngrams(word: str) -> bytes:
    letters = f"\x02{make_plain(word).casefold()}\x03".encode("utf-32-le", "surrogatepass")  # 4 bytes each
    counts = [0] * SIZE
    for length in NGRAMS:
        for start in range(0, len(letters) - 4 * length + 1, 4):
            place, sign = divmod(crc32(letters[start : start + 4 * length]), 2)
            counts[place % SIZE] += 2 * sign - 1
    if len(letters) > 4 * MOST // len(NGRAMS):  # else no count can be larger
        counts = [max(-MOST, min(MOST, count)) for count in counts]
    return array("b", counts).tobytes()
