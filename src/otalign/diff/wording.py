"""Comparison of words: punctuation, numbers and negation.

Words that differ in case or punctuation alone say the same. A number that changed, or a negation that was
added or removed, changes the meaning however small the edit is. Numbers are recognised by their digits in any
script; number words and negations are those of English.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple
from unicodedata import category

from otalign.text.words import Span

Flag = Literal["number", "negation"]

MEANINGFUL_SIGNS = frozenset("?%‰&@/\\")  # punctuation of Unicode that has a meaning
FORMATTING_SIGNS = frozenset("`")  # not punctuation of Unicode

UP_TO_TWENTY = re.findall(
    r"\w+",
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty",
)
TENS = ("thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMBER_WORDS = {
    **{word: str(value) for value, word in enumerate(UP_TO_TWENTY)},
    **{word: f"{value}0" for value, word in enumerate(TENS, 3)},
    **{"hundred": "100", "thousand": "1000", "million": "1000000", "billion": "1000000000"},
    **{"dozen": "12", "half": "1/2", "twice": "2", "thrice": "3"},
}
NEGATIONS = frozenset(("not", "n't", "no", "never", "none", "nobody", "nothing", "neither", "nowhere"))
NEGATIONS |= {"without", "cannot"}
MAX_WORDS_ALONE = 3  # words without a counterpart in which a negation counts
NEGATIVE_PREFIXES = ("un", "in", "im", "il", "ir", "non", "non-", "dis")
NO_ONE = re.compile(r"\bno[ -]one\b")  # its second word is not a number


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


def count_numbers(words: Iterable[SpannedWord]) -> Counter[str]:
    """Count the numbers in a text by value: 1,000 is 1000, and eight is 8."""
    return _count_numbers([word.text.casefold() for word in words])


def _is_punctuation_sign(letter: str) -> bool:
    return letter in FORMATTING_SIGNS or (category(letter)[0] == "P" and letter not in MEANINGFUL_SIGNS)


def _strip_form(words: Sequence[SpannedWord]) -> str:
    return "".join(map(_strip_word, (word.text.casefold() for word in words)))


def _strip_word(word: str) -> str:
    if any(map(str.isdigit, word)):  # -3 is not 3, and 2.5 is not 25
        return word
    return "".join(letter for letter in word if not _is_punctuation_sign(letter))


def _count_negations(words: Sequence[str]) -> int:
    return sum(word in NEGATIONS for word in words)


def _has_negative_prefix(old: Sequence[str], new: Sequence[str]) -> bool:
    """Return whether a word of one side is a word of the other with a prefix: possible, impossible."""
    for one, other in ((old, new), (new, old)):
        only = {word for word in one if len(word) > 4} - set(other)  # income has nothing to do with come
        if any(prefix + word in other for word in only for prefix in NEGATIVE_PREFIXES):
            return True
    return False


def _numbers_differ(old: Sequence[str], new: Sequence[str]) -> bool:
    first, second = _count_numbers(old), _count_numbers(new)
    if first == second:
        return False
    # "one" may be a pronoun or an article, so it must have become another number.
    return bool((first - second).keys() | (second - first).keys() != {"1"}) or (
        any(map(_has_digit, old)) or any(map(_has_digit, new))
    )


def _count_numbers(words: Sequence[str]) -> Counter[str]:
    pronouns = len(NO_ONE.findall(" ".join(words)))
    numbers = Counter(value for word in words if (value := _read_number(word)) is not None)
    numbers["1"] -= pronouns
    return +numbers


def _read_number(word: str) -> str | None:
    if _has_digit(word):
        value = re.sub(r"(?<=\d)[,\u00a0\u202f](?=\d{3}(?!\d))", "", word)
        return "".join(str(int(letter)) if letter.isdecimal() else letter for letter in value)
    return NUMBER_WORDS.get(word)


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))
