"""Tokenization with character offsets: a word is an exact slice of its text.

`tokenize` takes raw text in any language, `split` text that is tokenized already, with spaces between words,
`join_words` words without a text. The words of `tokenize` are in order and do not overlap; outside of them
are only white space, control characters, zero width spaces, byte order marks and marks of writing direction.
Joined by spaces and tokenized again, they are the same words. The time is linear in the length of the text.

Words are roughly those of the Penn Treebank and Moses:
- English clitics: do|n't, he|'s, can|not. Elided articles and pronouns before a vowel: l'|homme, qu'|il, but
  not in names (L'Oréal, O'Neill). Other apostrophes between letters join: o'clock, rock'n'roll.
- Hyphens, slashes, periods, & and + join the words that they touch on both sides: second-hand, and/or, AT&T.
  A hyphen on one side is kept too (pre-, -ness, -3). Longer dashes are words, except in ranges of numbers:
  1990–95.
- Numbers, times and dates are whole; symbols before and after them are words, letters are not: $|1,234.56,
  50|%, 5th, but US$|5.
- URLs, e-mail addresses, @names and #tags are whole, without the punctuation that follows.
- A period stays with letters (U.S.), and before the end of the text with initials and common English
  abbreviations (Mr.); else it is a word.
- Repeated punctuation is one word (..., --, '', **), and so is a run of ! and ?. Brackets, quotation marks
  and commas are separate words.
- An emoji with its modifiers is a word, and combining marks stay with their letter.
- Scripts without spaces: a Han character or kana is a word, and in Thai, Lao, Khmer and Burmese a letter with
  its marks. That is finer than words, which only a dictionary could find; links can join the parts.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import ClassVar

from otalign.text.outline import CONSONANT, FLAG, JOINER, KEYCAP, LOWER, MARK, OUTLINE, SYMBOL, UPPER, WHOLE

Span = tuple[int, int]


@dataclass(frozen=True)
class SpannedText:
    """A text with the character offsets [start, end) of its parts, in order and without overlap."""

    text: str
    spans: tuple[Span, ...]

    makers: ClassVar[str]  # functions that create it, named in the error

    def __post_init__(self) -> None:
        check_unicode(self.text)
        bounds = [0, *chain.from_iterable(self.spans), len(self.text)]
        if bounds != sorted(bounds):
            raise ValueError(
                "spans must be (start, end), in order, without overlap and within the "
                f"{len(self.text)} characters of text, got {self.spans}; {self.makers} create them"
            )

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """Parts as strings."""
        text = self.text
        return tuple([text[start:end] for start, end in self.spans])  # faster than a generator


class Sentence(SpannedText):
    """A text split into words."""

    makers = "tokenize, split and join_words"

    @property
    def words(self) -> tuple[str, ...]:
        """Words as strings."""
        return self.parts


def tokenize(text: str) -> Sentence:
    """Split raw text into words.

    Example:
        >>> tokenize("He didn't.").words
        ('He', 'did', "n't", '.')
    """
    return Sentence(text, tuple(_find_spans(text.translate(OUTLINE))))


def split(text: str) -> Sentence:
    """Split a text at spaces and tabs; no other character separates words, not even a no-break space.

    Example:
        >>> split("He did n't .").words
        ('He', 'did', "n't", '.')
    """
    return Sentence(text, tuple(match.span() for match in BETWEEN_BLANKS.finditer(text)))


def join_words(words: Sequence[str]) -> Sentence:
    """Join words with a space between them. Words may contain spaces or be empty.

    Raises:
        TypeError: If they are not a sequence of str.

    Example:
        >>> join_words(["New York", "is"]).spans
        ((0, 8), (9, 11))
    """
    if isinstance(words, str) or not all(isinstance(word, str) for word in words):
        raise TypeError(
            f"words must be a sequence of str, got {words!r} ({type(words).__name__}); for a text use "
            "tokenize or split, for tokens of spaCy otalign.integrations.spacy"
        )
    return Sentence(" ".join(words), tuple(_compute_offsets(words)))


def check_unicode(text: str) -> None:
    """Check that a text is Unicode, without lone surrogates, which no file can store.

    Args:
        text: Any string. Python allows lone surrogates, and decodes bytes that are not UTF-8 to them.

    Raises:
        ValueError: If the text contains a lone surrogate.
    """
    if text.isascii():  # fast: CPython stores this flag
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"character {error.start + 1} is the lone surrogate U+{ord(text[error.start]):04X}, "
            "which is not Unicode text; remove or replace it"
        ) from None


Text = str | Sequence[str] | Sentence  # raw text, words, or words with offsets
Pair = tuple[Sentence, Sentence]


def to_sentence(text: Text) -> Sentence:
    """Return a text as words with offsets; words without a text are joined by spaces."""
    match text:
        case Sentence():
            return text
        case str():
            return tokenize(text)
    if not isinstance(text, Iterable):
        raise TypeError(f"a sentence must be a text, its words or a Sentence, got {text!r}")
    return join_words(text)


def to_pair(pair: tuple[Text, Text]) -> Pair:
    """Return a pair of texts as a pair of sentences."""
    try:
        source, target = [] if isinstance(pair, str | bytes | Mapping | Set) else list(pair)
    except (TypeError, ValueError):
        raise TypeError(f"a pair must be a source and a target, got {pair!r}") from None
    return to_sentence(source), to_sentence(target)


def _compute_offsets(words: Iterable[str]) -> Iterator[Span]:
    start = 0
    for word in words:
        yield start, start + len(word)
        start += len(word) + 1


BETWEEN_BLANKS = re.compile("[^ \t]+")


# Repetitions are possessive (++, *+): they never backtrack, so the time is linear.
A = f"[A-Za-z_{LOWER}{UPPER}]"
W = f"[A-Za-z0-9_{LOWER}{UPPER}{MARK}{JOINER}{KEYCAP}]"
MARKS = f"[{MARK}{JOINER}{KEYCAP}]*+"
VOWEL = f"(?:[aeiouhAEIOUH{LOWER}{UPPER}]|[yY](?!ou))"
ELIDED = "[ldjmtsnc]|(?:jus|lors|puis|quoi)?qu|(?:d|n)?ell|d?all|sull|un|quest|quell"

WORD = rf"""
    (?: (?<![^ (\["'{SYMBOL}])-           # -3, -ness, but 50|%|-|60|%
      | \+(?=[0-9])
      | [@\#](?={A})
      | \.(?=[0-9]) | (?<![^ ])\.(?={A})  # .5, and .net after a space
    )?+
    {W}++
    (?: (?: [-'./&·] | \.- | -' | \+\+? | (?<=[0-9])[,:–](?=[0-9]) ) {W}++ )*+
    (?: @{W}++ (?: [.-]{W}++ )++ )?+
    (?: \.(?!\.) | -(?!-) | \+\+?(?!\+) | \#(?!\#) )?+  # the period may be split off below; C++, C#
"""
TOKEN = re.compile(
    rf"""
    (?=[^ ])                                                                   # for speed, like
    (?: (?!(?i:cannot))[A-Za-z]++(?=[ ,;)"]) | [][,;:(){{}}"]                    # the plain words first
      | (?i:https?://|ftp://|www\.)
        (?: [.,;:!?']*+ (?: [^ .,;:!?'"()<>{SYMBOL}{WHOLE}{CONSONANT}…]++ | \([^ ()]*+\) ) )++
      | [0-9\#*]{MARK}?{KEYCAP}
      | [A-Za-z]{{1,2}}\$                                                      # US$|5
      | (?i:can)(?=(?i:not)(?![-./&·]?(?!n't){W}|@{W}++[.-]{W}))
      | (?: {ELIDED} )'(?={VOWEL}) | (?i: {ELIDED} )'(?=[aeiouh{LOWER}])
      | (?<!')(?i: {ELIDED} )'(?=[ ]{VOWEL})                                   # separated already
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
NUMBERED = re.compile("nos?|pp|vols?|figs?|eqs?|sec|ch|mar|jun|jul")  # abbreviations only before a number
NUMBER = re.compile(" *[0-9]")
CLITICS = frozenset(["'s", "'re", "'ve", "'ll", "'d", "'m"])


def _find_spans(outline: str) -> Iterator[Span]:
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
            yield from _split_clitics(outline, start, stop)
        if stop < end:
            yield stop, end


def _keeps_period(outline: str, start: int, end: int) -> bool:
    """Return whether the period at `end` belongs to the word before it; in doubt, the rarer error is made."""
    word = outline[start : end - 1].lower()
    last = re.split("[-/]", word)[-1]  # Sino-U.S.
    if LETTERS.fullmatch(last):
        return True
    if INITIAL.fullmatch(outline, start, end - 1):
        return GOES_ON.match(outline, end) is not None
    if NUMBERED.fullmatch(last):
        return NUMBER.match(outline, end) is not None
    return ABBREVIATION.fullmatch(last) is not None and ENDS.match(outline, end) is None


def _split_clitics(outline: str, start: int, end: int) -> list[Span]:
    """Split a word and the clitics at its end: should|n't|'ve."""
    clitics: list[Span] = []
    stop = end
    while (at := outline.rfind("'", start, stop)) > start:
        clitic = outline[at:stop].lower()
        if clitic == "'t" and at - 1 > start and outline[at - 1] in "nN" and outline[at - 2].isalpha():
            at -= 1
        elif clitic not in CLITICS:
            break
        clitics.append((at, stop))
        stop = at
    return [(start, stop), *reversed(clitics)]
