"""Comparison of words: punctuation, numbers and negation.

Words that differ in case or punctuation alone say the same. A number that changed, or a negation that was
added or removed, changes the meaning however small the edit is. Negations are those of English.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Literal, NamedTuple
from unicodedata import category

from otalign.diff.numbers import read_digits, read_numbers
from otalign.text.words import Span

Flag = Literal["number", "negation"]

MEANINGFUL_SIGNS = frozenset("?%‰&@/\\")  # punctuation of Unicode that has a meaning
FORMATTING_SIGNS = frozenset("`")  # not punctuation of Unicode

NEGATIONS = frozenset(("not", "n't", "no", "never", "none", "nobody", "nothing", "neither", "nowhere"))
NEGATIONS |= {"without", "cannot"}
MAX_WORDS_ALONE = 3  # words without a counterpart in which a negation counts
NEGATIVE_PREFIXES = ("un", "in", "im", "il", "ir", "non", "non-", "dis")
APOSTROPHE = "’"  # typographic, of n’t


class SpannedWord(NamedTuple):
    """A word with its span in its document."""

    text: str
    span: Span


def is_punctuation(word: str) -> bool:
    """Return whether a word consists of punctuation that does not change the meaning."""
    return all(map(_is_punctuation_sign, word))


def differ_in_form(old: Sequence[SpannedWord], new: Sequence[SpannedWord]) -> bool:
    """Return whether words differ in case and punctuation at most."""
    return _strip_form(old) == _strip_form(new)


def find_flag(old: Sequence[SpannedWord], new: Sequence[SpannedWord]) -> Flag | None:
    """Return how the meaning changes if the words `old` are replaced by the words `new`.

    Returns:
        "negation" if one side has more negations, "number" if the numbers differ, or else None. A clause
        that was added or removed with a negation or number in it changes nothing in the rest, so it has no
        flag; a few words do, such as "does not".
    """
    first, second = ([word.text.casefold() for word in side] for side in (old, new))
    if not (first and second) and len(first) + len(second) > MAX_WORDS_ALONE:
        return None
    if _count_negations(first) != _count_negations(second) or _has_negative_prefix(first, second):
        return "negation"
    return "number" if first and second and _numbers_differ(first, second) else None


def count_numbers(words: Iterable[SpannedWord]) -> Counter[Fraction | str]:
    """Count the numbers in a text by value: 1,000 is 1000, and eight is 8."""
    return Counter(number.value for number in read_numbers(word.text.casefold() for word in words))


def _is_punctuation_sign(letter: str) -> bool:
    return letter in FORMATTING_SIGNS or (category(letter)[0] == "P" and letter not in MEANINGFUL_SIGNS)


def _strip_form(words: Sequence[SpannedWord]) -> str:
    return "".join(map(_strip_word, (word.text.casefold() for word in words)))


def _strip_word(word: str) -> str:
    if (number := read_digits(word)) is not None:  # -3 is not 3, and 2.5 is not 25, but 1,000 is 1000
        return str(number)
    return "".join(letter for letter in word if not _is_punctuation_sign(letter))


def _count_negations(words: Sequence[str]) -> int:
    return sum(word.replace(APOSTROPHE, "'") in NEGATIONS for word in words)


def _has_negative_prefix(old: Sequence[str], new: Sequence[str]) -> bool:
    """Return whether a word of one side is a word of the other with a prefix: possible, impossible."""
    for one, other in ((old, new), (new, old)):
        only = {word for word in one if len(word) > 4} - set(other)  # income has nothing to do with come
        if any(prefix + word in other for word in only for prefix in NEGATIVE_PREFIXES):
            return True
    return False


def _numbers_differ(old: Sequence[str], new: Sequence[str]) -> bool:
    first, second = list(read_numbers(old)), list(read_numbers(new))
    lost, gained = (
        Counter(number.value for number in one) - Counter(number.value for number in other)
        for one, other in ((first, second), (second, first))
    )
    # "one" may be a pronoun or an article, so it must have become another number.
    certain = {number.value for number in first + second if not number.is_pronoun}
    return bool((lost and gained) or (lost + gained).keys() & certain)
