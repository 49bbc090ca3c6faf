"""Words as they may be drawn: whatever they hold, they stay in their line and leave the drawing alone.

Words are data and may hold anything. What would move a cursor, end a line, turn the direction of the text or
have no place in XML is shown by a sign for it, and no word is invisible.
"""

from collections.abc import Sequence
from unicodedata import category

from otalign.alignment import Alignment

CIRCLE = "◌"  # what Unicode shows a lone mark on
UNKNOWN = "\N{REPLACEMENT CHARACTER}"
JOINER = "\N{ZERO WIDTH JOINER}"
# Embeddings, overrides and isolates reach beyond their word; the last two are not characters in XML.
STRAY = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufffe\uffff")


def shown(word: str) -> str:
    """The word with signs for what cannot be drawn: a blank is ␣, an escape ␛, a lone accent sits on ◌."""
    text = "".join(map(_sign, word))
    if not text or category(text[0]) in (
        "Mn",
        "Mc",
        "Me",
        "Cf",
    ):  # nothing to see, or joined to what is before
        text = CIRCLE + text
    return text + CIRCLE if text.endswith(JOINER) else text


def _sign(letter: str) -> str:
    if letter < " ":
        return chr(0x2400 + ord(letter))
    if letter == "\x7f":
        return "␡"
    if letter.isspace():
        return "␣"
    return UNKNOWN if letter in STRAY or category(letter) in ("Cc", "Cs") else letter


def join_words(words: Sequence[str]) -> str:
    """The words as one line of text."""
    return " ".join(map(shown, words))


def strengths(alignment: Alignment) -> dict[tuple[int, int], float]:
    """The weight of each pair from 0 to 1: as it is, or in parts of the largest where that is above 1."""
    largest = max((weight for _, _, weight in alignment.links), default=1.0)
    return {(i, j): max(weight / max(largest, 1.0), 0.0) for i, j, weight in alignment.links}
