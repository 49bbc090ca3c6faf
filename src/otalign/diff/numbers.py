"""Numbers in a text: digits of any script, and English number words with their scales, by value.

"1,000", "one thousand" and "1 thousand" are one number; so are "twenty-five" and "25", "fifth" and "5th".
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

UNITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
TEENS = (
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
# Without the first and the second, which are more often words than numbers.
ORDINALS = ("third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth")
NUMBER_WORDS = {
    **{word: Fraction(value) for value, word in enumerate(UNITS + TEENS)},
    **{word: Fraction(10 * value) for value, word in enumerate(TENS, 2)},
    **{word: Fraction(value) for value, word in enumerate(ORDINALS, 3)},
    **{"half": Fraction(1, 2), "twice": Fraction(2), "thrice": Fraction(3)},
}
SCALES = {"dozen": 12, "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}
PRONOUN = "one"  # unless another number stands in its place
SEPARATOR = re.compile(r"(?<=\d)[,\u00a0\u202f](?=\d{3}(?!\d))")  # of thousands
ORDINAL = re.compile(r"(?<=\d)(st|nd|rd|th)$")
VALUE = re.compile(r"[-+]?\d{1,30}([./]\d{1,30})?")


class Number(NamedTuple):
    """A number of a text: its value, or its letters if it is 10:30 or 1a; and whether it may be a pronoun."""

    value: Fraction | str
    is_pronoun: bool = False


def read_digits(word: str) -> Fraction | str | None:
    """Return the value of a word with digits, its plain form if that is no value, and None without digits."""
    if not any(map(str.isdigit, word)):
        return None
    plain = "".join(str(int(letter)) if letter.isdecimal() else letter for letter in word)
    plain = ORDINAL.sub("", SEPARATOR.sub("", plain))
    numerator, _, denominator = plain.partition("/")
    if not VALUE.fullmatch(plain) or (denominator and not int(denominator)):
        return plain
    return Fraction(numerator) / int(denominator or 1)


def read_numbers(words: Iterable[str]) -> Iterator[Number]:
    """Yield the numbers of words in lower case."""
    run: list[str] = []  # the words of a number, so far
    before = ""
    for word in _split_compounds(words):
        if before == "no" and word == "one":
            word = "no-one"
        if run and not _continues(run, word):
            yield _read_run(run)
            run = []
        value = _read_word(word)
        if run or word in SCALES or isinstance(value, Fraction):
            run.append(word)
        elif value is not None:
            yield Number(value)
        before = word
    if run:
        yield _read_run(run)


def _split_compounds(words: Iterable[str]) -> Iterator[str]:
    """Split twenty-five."""
    for word in words:
        parts = word.split("-")
        yield from parts if all(part in NUMBER_WORDS for part in parts) else [word]


def _read_word(word: str) -> Fraction | str | None:
    return NUMBER_WORDS[word] if word in NUMBER_WORDS else read_digits(word)


def _continues(run: Sequence[str], word: str) -> bool:
    """Return whether a word belongs to the number before it: a scale, or what one or a ten leaves open."""
    last = run[-1]
    if word in SCALES:
        return last != "and"
    if word == "and":
        return last in SCALES
    if word not in NUMBER_WORDS:
        return False
    return last in SCALES or last == "and" or (last in TENS and 0 < NUMBER_WORDS[word] < 10)


def _read_run(run: Sequence[str]) -> Number:
    if list(run) == [PRONOUN]:
        return Number(Fraction(1), is_pronoun=True)
    total, current = Fraction(0), Fraction(0)
    for word in run:
        scale = SCALES.get(word, 1)
        if scale > 1:
            current = (current or 1) * scale
        elif word != "and":
            value = _read_word(word)
            current += value if isinstance(value, Fraction) else 0
        if scale >= SCALES["thousand"]:
            total, current = total + current, Fraction(0)
    return Number(total + current)
