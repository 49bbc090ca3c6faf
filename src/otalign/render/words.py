"""Words in a form that is safe to draw.

Words are data and may contain anything. Characters that would move a cursor, end a line, change the direction
of the text or be invalid in XML are replaced by a visible sign, and no word is invisible.
"""

from collections.abc import Sequence
from unicodedata import category, east_asian_width

from otalign.alignment import Alignment

CIRCLE = "◌"  # the base on which Unicode shows a lone combining mark
COMBINING = ("Mn", "Mc", "Me", "Cf")  # invisible, or combined with the character before
UNKNOWN = "\N{REPLACEMENT CHARACTER}"
JOINER = "\N{ZERO WIDTH JOINER}"
# Bidirectional embeddings, overrides and isolates affect other words; the last two are not valid in XML.
STRAY = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufffe\uffff")


def shown(word: str) -> str:
    """Return a word with signs for characters that cannot be drawn: ␣ for a space, ␛ for an escape."""
    text = "".join(map(_replace_unsafe, word))
    if not text or category(text[0]) in COMBINING:
        text = CIRCLE + text
    return text + CIRCLE if text.endswith(JOINER) else text


def _replace_unsafe(letter: str) -> str:
    if letter < " ":
        return chr(0x2400 + ord(letter))
    if letter == "\x7f":
        return "␡"
    if letter.isspace():
        return "␣"
    return UNKNOWN if letter in STRAY or category(letter) in ("Cc", "Cs") else letter


def join_words(words: Sequence[str]) -> str:
    """Return the words as one line of text."""
    return " ".join(map(shown, words))


def stands_upright(word: str) -> bool:
    """Return whether the letters of a word may stand below each other: whether some are East Asian."""
    return any(east_asian_width(letter) in ("W", "F") for letter in word)


def strengths(alignment: Alignment) -> dict[tuple[int, int], float]:
    """Return the weight of each pair from 0 to 1; weights are divided by the largest if it is above 1."""
    largest = max((weight for _, _, weight in alignment.links), default=1.0)
    return {(i, j): max(weight / max(largest, 1.0), 0.0) for i, j, weight in alignment.links}
