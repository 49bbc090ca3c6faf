"""Text as words that know their places: a word is an exact slice of its text, and no character changes.

`tokenized` takes raw text in any language, `split` text whose words stand between blanks already, `joined`
words without a text. The words of `tokenized` are in order and apart, and what is in none of them is white
space, control characters, the zero width space, the byte order mark or a mark of writing direction. Joined
by blanks and tokenised again they are the same words. The time grows with the length of the text.

What is a word, roughly as in the Penn Treebank and with Moses:
- English clitics: do|n't, he|'s, can|not. Elided articles and pronouns before a vowel: l'|homme, qu'|il, but
  not in names (L'Oréal, O'Neill). Other apostrophes between letters join: o'clock, rock'n'roll.
- Hyphens, slashes, periods, & and + join what they touch on both sides: second-hand, and/or, AT&T. A hyphen
  at one side stays too (pre-, -ness, -3). Longer dashes are words, but in ranges of numbers: 1990–95.
- Numbers, times and dates are whole; signs before and after them are words, letters are not: $|1,234.56,
  50|%, 5th, but US$|5.
- URLs, e-mail addresses, @names and #tags are whole, without the punctuation that follows.
- A period stays with letters (U.S.), and before the end of the text with initials and common English
  abbreviations (Mr.); else it is a word.
- Of punctuation, what repeats is one word (..., --, '', **), and so is a run of ! and ?. Brackets, quotation
  marks, commas stand alone.
- An emoji with all that belongs to it is a word, and marks stay with what they stand on.
- Scripts without blanks: a Han character or kana is a word, and in Thai, Lao, Khmer and Burmese a letter with
  its marks. That is finer than words, but finding those needs a dictionary, and links can join what was cut.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import ClassVar

Span = tuple[int, int]


@dataclass(frozen=True)
class SpannedText:
    """A text and the places [start, end) of its parts, in order and apart."""

    text: str
    spans: tuple[Span, ...]

    makers: ClassVar[str]  # the functions that make it

    def __post_init__(self):
        check_unicode(self.text)
        bounds = [0, *chain.from_iterable(self.spans), len(self.text)]
        if bounds != sorted(bounds):
            raise ValueError(
                f"spans must be (start, end), in order, apart and within the {len(self.text)} characters "
                f"of text, got {self.spans}; {self.makers} make them"
            )

    @cached_property
    def parts(self) -> tuple[str, ...]:
        return tuple(self.text[start:end] for start, end in self.spans)


class Sentence(SpannedText):
    """A text in words."""

    makers = "tokenized, split and joined"

    @property
    def words(self) -> tuple[str, ...]:
        return self.parts


def tokenize(text: str) -> Sentence:
    """The words of raw text."""
    return Sentence(text, tuple(_spans(text.translate(OUTLINE))))


def split(text: str) -> Sentence:
    """What stands between spaces and tabs; anything else, even a no-break space, is a letter."""
    return Sentence(text, tuple(match.span() for match in BETWEEN_BLANKS.finditer(text)))


def join_words(words: Sequence[str]) -> Sentence:
    """The words with one blank between them. They may hold any character, even blanks, or none."""
    if isinstance(words, str) or not all(isinstance(word, str) for word in words):
        raise TypeError(f"words must be a sequence of str, got {words!r}; for a text use tokenized or split")
    return Sentence(" ".join(words), tuple(_places(words)))


def check_unicode(text: str) -> None:
    """Refuse a text that is not Unicode: half of a surrogate pair, which no file can hold.

    Args:
        text: Any string. Python allows lone surrogates in it, and makes them of bytes that are not UTF-8.

    Raises:
        ValueError: The text holds a lone surrogate.
    """
    if text.isascii():  # which a string knows of itself
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"character {error.start + 1} is the lone surrogate U+{ord(text[error.start]):04X}, "
            "which is not Unicode text; remove or replace it"
        ) from None


Text = str | Sequence[str] | Sentence  # raw text, words, or words with their places in a text
Pair = tuple[Sentence, Sentence]


def to_sentence(text: Text) -> Sentence:
    """Return a text as words with their places in it; words are joined by blanks."""
    match text:
        case Sentence():
            return text
        case str():
            return tokenize(text)
    return join_words(text)


def _places(words: Iterable[str]) -> Iterator[Span]:
    start = 0
    for word in words:
        yield start, start + len(word)
        start += len(word) + 1


BETWEEN_BLANKS = re.compile("[^ \t]+")


# The rules look at the outline of a text: ASCII as it is, and of every other kind of character one that
# stands for its kind. An outline is as long as its text, so that a place in the one is a place in the other.
LOWER, UPPER, DIGIT = "ä", "Ä", "0"
MARK, JOINER, KEYCAP = "\u0301", "\u200d", "\u20e3"  # a joiner binds the emoji or consonants at its sides
WHOLE, CONSONANT = "字", "ก"  # scripts without blanks: a character is a word, or a consonant with its marks
FLAG, SYMBOL = "🇦", "☺"  # half of a flag; whatever stands alone: symbols, emoji, other punctuation
BLANK = " "

ALIKE = {
    "'": "‘’´＇",
    "-": "\u2010\u2011−－﹣\u058a\u05be",  # hyphens, minus, Armenian hyphen, Hebrew maqaf
    "–": "‒",
    "—": "―⸺⸻",
    "…": "",
    "!": "！",
    "?": "？",
    ".": "٫",
    ",": "٬",
    "·": "‧\u05f3\u05f4",  # between letters in Catalan; Hebrew geresh and gershayim
    JOINER: "\u17d2\u1039",  # what stacks consonants in Khmer and Burmese
    KEYCAP: "",
    MARK: "ーｰﾞﾟำຳ🏻🏼🏽🏾🏿",  # letters and symbols by category that only add to the one before
    BLANK: "\u200b\ufeff\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
}
# Scripts by the names of their characters, so that there is no table that grows old.
WHOLE_NAMES = ("CJK ", "IDEOGRAPHIC ", "HIRAGANA ", "KATAKANA ", "HALFWIDTH KATAKANA ", "HENTAIGANA ")
CONSONANT_NAMES = ("THAI ", "LAO ", "KHMER ", "MYANMAR ")


class _Outline(dict[int, str]):
    """code point → the character that stands for its kind, found when it is first met."""

    def __missing__(self, code: int) -> str:
        kind = self[code] = _kind(chr(code))
        return kind


def _kind(char: str) -> str:
    category = unicodedata.category(char)
    if category[0] == "Z" or category == "Cc":
        return BLANK
    if char.isascii():
        return char
    if category[0] == "M" or category == "Cf":
        return MARK
    if "🇦" <= char <= "🇿":
        return FLAG
    if category == "Nd":
        return DIGIT
    if category[0] not in "LN":
        return SYMBOL
    name = unicodedata.name(char, "")
    if name.startswith(WHOLE_NAMES):
        return WHOLE
    if name.startswith(CONSONANT_NAMES):
        return CONSONANT
    return UPPER if category in ("Lu", "Lt") else LOWER


OUTLINE = _Outline({ord(char): kind for kind, alike in ALIKE.items() for char in kind + alike})


# What repeats in the rules is possessive (++, *+): it gives back nothing it took, so the time is linear.
A = f"[A-Za-z_{LOWER}{UPPER}]"
W = f"[A-Za-z0-9_{LOWER}{UPPER}{MARK}{JOINER}{KEYCAP}]"
MARKS = f"[{MARK}{JOINER}{KEYCAP}]*+"
VOWEL = f"(?:[aeiouhAEIOUH{LOWER}{UPPER}]|[yY](?!ou))"
ELIDED = "[ldjmtsnc]|(?:jus|lors|puis|quoi)?qu|(?:d|n)?ell|d?all|sull|un|quest|quell"

WORD = rf"""
    (?: (?<![^ (\["'{SYMBOL}])-           # -3, -ness, but 50|%|-|60|%
      | \+(?=[0-9])
      | [@\#](?={A})
      | \.(?=[0-9]) | (?<![^ ])\.(?={A})  # .5, and .net after a blank
    )?+
    {W}++
    (?: (?: [-'./&·] | \.- | -' | \+\+? | (?<=[0-9])[,:–](?=[0-9]) ) {W}++ )*+
    (?: @{W}++ (?: [.-]{W}++ )++ )?+
    (?: \.(?!\.) | -(?!-) | \+\+?(?!\+) | \#(?!\#) )?+  # the period may be cut off again; C++, C#
"""
TOKEN = re.compile(
    rf"""
    (?=[^ ])                                                                   # for speed, as are
    (?: (?!(?i:cannot))[A-Za-z]++(?=[ ,;)"]) | [][,;:(){{}}"]                    # the plain ones first
      | (?i:https?://|ftp://|www\.)
        (?: [.,;:!?']*+ (?: [^ .,;:!?'"()<>{SYMBOL}{WHOLE}{CONSONANT}…]++ | \([^ ()]*+\) ) )++
      | [0-9\#*]{MARK}?{KEYCAP}
      | [A-Za-z]{{1,2}}\$                                                      # US$|5
      | (?i:can)(?=(?i:not)(?![-./&·]?(?!n't){W}|@{W}++[.-]{W}))
      | (?: {ELIDED} )'(?={VOWEL}) | (?i: {ELIDED} )'(?=[aeiouh{LOWER}])
      | (?<!')(?i: {ELIDED} )'(?=[ ]{VOWEL})                                   # cut off already
      | '(?i: s|re|ve|ll|d|m|em|tis|twas|til|[0-9][0-9]s? )(?!{W}) | '[nN]'(?!{W})
      | (?P<word> {WORD} )
      | [!?]++ | \.++ | -++ | –++ | —++ | …++ | '++ | `++
      | \*++ | =++ | ~++ | \#++ | <++ | >++ | \|++ | /++ | \+++
      | {FLAG}{FLAG}
      | {SYMBOL}{MARKS} (?: (?<={JOINER}){SYMBOL}{MARKS} )*+
      | {CONSONANT}{MARKS} (?: (?<={JOINER}){CONSONANT}{MARKS} )*+
      | [^ ]
    ) {MARKS}
    """,
    re.VERBOSE,
)

LETTERS = re.compile(rf"(?:[A-Za-z{LOWER}{UPPER}]\.)+[A-Za-z{LOWER}{UPPER}]")  # U.S
INITIAL = re.compile(rf"[A-Za-z{UPPER}]")
GOES_ON = re.compile(rf" *[A-Za-z0-9{LOWER}{UPPER},;:&(]")
ENDS = re.compile(rf"[] )}}\"'{SYMBOL}]*+$")
ABBREVIATION = re.compile(
    "mr|mrs|ms|mx|messrs|dr|prof|st|sr|jr|rev|hon|gen|col|maj|capt|cmdr|cpl|lt|sgt|adm|gov|sen|rep|supt|ph\\.d|"
    "inc|corp|co|ltd|llc|bros|assn|dept|univ|ave|blvd|rd|mt|ft|vs|viz|etc|al|cf|approx|eds|"
    "jan|feb|apr|aug|sept?|oct|nov|dec|calif|conn|fla|tenn"
)
NUMBERED = re.compile("nos?|pp|vols?|figs?|eqs?|sec|ch|mar|jun|jul")  # abbreviations before a number alone
NUMBER = re.compile(" *[0-9]")
CLITICS = frozenset(["'s", "'re", "'ve", "'ll", "'d", "'m"])


def _spans(outline: str) -> Iterator[Span]:
    for match in TOKEN.finditer(outline):
        start, end = match.span()
        if match.lastgroup is None:
            yield start, end
            continue
        stop = end
        if outline[end - 1] == "." and not _keeps_period(outline, start, end):
            stop -= 1
        if outline.find("'", start, stop) < 0:
            yield start, stop
        else:
            yield from _without_clitics(outline, start, stop)
        if stop < end:
            yield stop, end


def _keeps_period(outline: str, start: int, end: int) -> bool:
    """Whether the period at `end` belongs to the word before it: of two errors, the rarer."""
    word = outline[start : end - 1].lower()
    last = re.split("[-/]", word)[-1]  # Sino-U.S.
    if LETTERS.fullmatch(last):
        return True
    if INITIAL.fullmatch(outline, start, end - 1):
        return GOES_ON.match(outline, end) is not None
    if NUMBERED.fullmatch(last):
        return NUMBER.match(outline, end) is not None
    return ABBREVIATION.fullmatch(last) is not None and ENDS.match(outline, end) is None


def _without_clitics(outline: str, start: int, end: int) -> list[Span]:
    """The word and the clitics at its end, each on its own: should|n't|'ve."""
    cut: list[Span] = []
    stop = end
    while (at := outline.rfind("'", start, stop)) > start:
        clitic = outline[at:stop].lower()
        if clitic == "'t" and at - 1 > start and outline[at - 1] in "nN" and outline[at - 2].isalpha():
            at -= 1
        elif clitic not in CLITICS:
            break
        cut.append((at, stop))
        stop = at
    return [(start, stop), *reversed(cut)]
