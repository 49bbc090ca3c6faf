"""Vectors of the spelling of words: words that share most of their letter sequences have similar vectors.

An encoder splits a misspelled or rare word into arbitrary subwords. Its letters still identify the word.
"""

from array import array
from collections.abc import Sequence
from functools import lru_cache
from zlib import crc32

import numpy as np

from otalign.text.letters import make_plain

SIZE = 64  # dimension of a vector
LENGTHS = (2, 3)  # lengths of n-grams
MOST = 127  # largest count


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
    return normalize_counts(count_ngrams(words))


def normalize_counts(counts: np.ndarray) -> np.ndarray:
    """Compute vectors of length 1 from counts of n-grams, (words, SIZE)."""
    counts = counts.astype(np.float32)
    norms = np.sqrt(np.sum(counts * counts, axis=1, keepdims=True))
    return counts / np.maximum(norms, 1)  # counts are integers: a norm is 0, or at least 1


@lru_cache(1 << 16)
def _count_word_ngrams(word: str) -> bytes:
    letters = f"\x02{make_plain(word).casefold()}\x03".encode("utf-32-le", "surrogatepass")  # 4 bytes each
    counts = [0] * SIZE
    for length in LENGTHS:
        for start in range(0, len(letters) - 4 * length + 1, 4):
            place, sign = divmod(crc32(letters[start : start + 4 * length]), 2)
            counts[place % SIZE] += 2 * sign - 1
    if len(letters) > 4 * MOST // len(LENGTHS):  # else no count can be larger
        counts = [max(-MOST, min(MOST, count)) for count in counts]
    return array("b", counts).tobytes()
