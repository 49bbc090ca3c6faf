"""Sentence splitting with character offsets: each sentence is an exact slice of its text.

`document` finds the sentences of running text; `split_lines` takes each line as a sentence. Sentences are in
order and do not overlap, and only white space is outside of them.

Rules:
- A sentence ends after . ! ? … and the like in other scripts, with the quotation marks, brackets and notes,
  such as [3], that follow, if a space comes next and then not a lower-case letter. The full stops of
  scripts without spaces (。！？) need no space. In a text without capitals, a lower-case letter may follow:
  after punctuation that is a separate word, as in corpora, or after any . ! ? if there is none of that kind.
- A period of an abbreviation does not end a sentence: titles (Dr.), initials, U.S., p.m. and abbreviations
  before a number (Fig. 3). In doubt, the next word decides: “the U.S.” ends a sentence before “The” and not
  before “Army”.
- A number alone is not a sentence: “1. Open the box.” is a single one.
- An empty line, and a line that begins a heading or an item of a list, always start a sentence. Any other
  line break counts as a space.
"""

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Literal

from otalign.text.words import Span, SpannedText


class Document(SpannedText):
    """A text split into sentences."""

    makers = "document and split_lines"

    def __len__(self) -> int:
        return len(self.spans)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentences as strings."""
        return self.parts

    @cached_property
    def paragraph_starts(self) -> frozenset[int]:
        """Indices of sentences that start a paragraph or a list item; all, if each has its own line."""
        if all("\n" in self.text[before[1] : after[0]] for before, after in pairwise(self.spans)):
            return frozenset(range(len(self)))
        breaks = (BREAK.search(self.text, before[1], after[1]) for before, after in pairwise(self.spans))
        starts = (
            match is not None and match.end() <= after[0]
            for match, after in zip(breaks, self.spans[1:], strict=True)
        )
        return frozenset({0} if self.spans else ()) | {k for k, start in enumerate(starts, 1) if start}


def document(text: str) -> Document:
    """Split running text into sentences.

    Example:
        >>> document("It rained. Dr. Lee stayed at home.").sentences
        ('It rained.', 'Dr. Lee stayed at home.')
    """
    return Document(text, tuple(_find_spans(text)))


def split_lines(text: str) -> Document:
    r"""Split a text into lines, each a sentence; blank lines are skipped.

    Example:
        >>> split_lines("one line\n\nanother").sentences
        ('one line', 'another')
    """
    stripped = (_strip(text, *match.span()) for match in LINE.finditer(text))
    return Document(text, tuple(span for span in stripped if span[0] < span[1]))


LINE = re.compile(r"[^\r\n]+")
ITEM = r"(?:[-*+•◦▪‣–—] | \(?(?:[0-9]{1,3}|[a-zA-Z])[.)] | \#{1,6} | >)[ \t]"
BREAK = re.compile(rf"\r?\n (?: [^\S\n]*(?:\r?\n\s*|$) | [ \t]*(?={ITEM}) )", re.VERBOSE)

CLOSING = "\"'”’»›)\\]}」』）】》〉＂＇*_"
OPENING = "\"'“‘«‹([{「『（【《〈¿¡*_"
NOTES = r"(?:\[[0-9,\s–-]{1,20}\]|[¹²³⁰⁴-⁹]++)*+"
SIGNS = ".!?…‽؟۔।॥።။។։"
CANDIDATE = re.compile(
    rf"""
    (?<![{SIGNS}])(?P<sign> [{SIGNS}]++ ) [{CLOSING}]*+ {NOTES} (?=\s)     # a space must follow
  | (?P<wide> [。！？｡．]++ ) [{CLOSING}]*+ (?![とっ、，,])                 # or the end of a quotation
    """,
    re.VERBOSE,
)
NEXT = re.compile(rf"\s*[{OPENING}—–-]*\s*(?P<word>[^\W_]*(?:['’][^\W_]+)?)(?P<sign>[,;:.!?…]?)")
LAST = re.compile(rf"(?:^|[\s{OPENING}—–/-])(?P<word>[^\s{OPENING}—–/-]+)$")
NUMBER_ALONE = re.compile(r"[\s(\[]*(?:[0-9]{1,3}|[ivxIVX]{1,4}|[a-zA-Z])(?:\.[0-9]{1,3})*\.\s*")

TITLES = re.compile(  # abbreviations that never end a sentence
    "mr|mrs|ms|mx|messrs|mme|mlle|dr|prof|st|rev|hon|gen|col|maj|capt|cmdr|cpl|lt|sgt|adm|gov|sen|rep|supt|"
    "fr|sr|br|herr|hr|bzw|vs|viz|cf|e\\.g|i\\.e|eg|ie|ca|approx"
)
NUMBERED = re.compile(  # abbreviations only before a number
    "nos?|nr|pp?|vols?|figs?|eqs?|sec|ch|art|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
)
SHORT = re.compile(  # may end a sentence or not, like letters: J., U.S., p.m.
    r"inc|corp|co|ltd|llc|bros|jr|dept|univ|ave|blvd|rd|mt|ft|al|ph\.d|(?!i$)[^\W\d_](?:\.[^\W\d_])*"
)
STARTERS = re.compile(  # words with a capital only at the start of an English sentence
    "the|this|that|these|those|it|he|she|they|we|you|an?|his|her|their|our|my|its|your|there|here|in|on|at|"
    "by|for|from|with|to|of|as|if|when|while|where|after|before|since|because|although|though|but|and|or|so|"
    "yet|however|then|now|no|not|yes|what|who|why|how|which|some|many|most|all|both|each|every|one|two|once"
)
APART = re.compile(rf"\s[{SIGNS}]")
SINGLE = frozenset(".!?")
# A text without capitals has punctuation that is a separate word, as in corpora, or attached to words.
Uncased = Literal["apart", "attached"] | None
MAX_LENGTH = 20  # letters of the last word that are read: more than in any abbreviation


def _find_spans(text: str) -> Iterator[Span]:
    start = 0
    uncased: Uncased = ("apart" if APART.search(text) else "attached") if text.islower() else None
    for match in [*BREAK.finditer(text), None]:
        end = match.start() if match else len(text)
        yield from _split_block(text, start, end, uncased)
        start = match.end() if match else end


def _split_block(text: str, start: int, end: int, uncased: Uncased) -> Iterator[Span]:
    """Yield the sentences between two breaks."""
    for match in CANDIDATE.finditer(text, start, end):
        if match["wide"] or _ends_sentence(text, start, match, end, uncased):
            yield from _skip_blank(text, start, match.end())
            start = match.end()
    yield from _skip_blank(text, start, end)


def _skip_blank(text: str, start: int, end: int) -> Iterator[Span]:
    span = _strip(text, start, end)
    if span[0] < span[1]:
        yield span


def _strip(text: str, start: int, end: int) -> Span:
    """Return the slice without white space at its ends."""
    stripped = text[start:end].strip().strip("\ufeff")
    if not stripped:
        return end, end
    first = text.index(stripped, start)
    return first, first + len(stripped)


def _ends_sentence(text: str, start: int, match: re.Match, end: int, uncased: Uncased) -> bool:
    after = NEXT.match(text, match.end(), end)
    assert after is not None  # every part of NEXT is optional
    word = after["word"]
    if uncased and text[match.start() - 1 : match.start()].isspace():
        return bool(word) or not after["sign"]
    may_begin_lower = uncased == "attached" and match[0] in SINGLE  # not “why?” he asked, nor well... yes
    if (word[:1].islower() and not may_begin_lower) or (not word and after["sign"]):  # “Why?” he asked; . . .
        return False
    if match["sign"] != ".":
        return True
    if NUMBER_ALONE.fullmatch(text, start, match.end()):
        return False
    last = LAST.search(text[max(start, match.start() - MAX_LENGTH) : match.start()])
    return not (last and _is_abbreviation(last["word"], word))


def _is_abbreviation(last: str, following: str) -> bool:
    """Return whether the period after a word belongs to an abbreviation within a sentence."""
    last, following = last.lower(), following.lower()
    if TITLES.fullmatch(last):
        return True
    if NUMBERED.fullmatch(last):
        return following[:1].isdigit()
    return SHORT.fullmatch(last) is not None and STARTERS.fullmatch(following) is None
