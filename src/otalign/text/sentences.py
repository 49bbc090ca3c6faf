"""Text as sentences that know their places: each is an exact slice of its text, and no character changes.

`document` finds the sentences of running text, `lined` takes each line as one. The sentences are in order and
apart, and what is in none of them is white space.

What ends a sentence:
- . ! ? … and their like in other scripts, with the quotation marks, brackets and notes, such as [3], that
  follow, where a blank comes next and then not a lower-case letter. The full stops of scripts without
  blanks (。！？) need no blank.
- Not a period after what is written with one: titles (Dr.), initials, U.S., p.m. and abbreviations before a
  number (Fig. 3). Where it may be both, the next word decides: “the U.S.” ends a sentence before “The” and
  not before “Army”.
- A number alone is no sentence: “1. Open the box.” is one.
- An empty line, and a line that begins a heading or an item of a list, always begin another sentence. The end
  of any other line is a blank.
"""

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise

from otalign.text.words import Span, SpannedText


class Document(SpannedText):
    """A text in sentences."""

    makers = "document and lined"

    def __len__(self) -> int:
        return len(self.spans)

    @property
    def sentences(self) -> tuple[str, ...]:
        return self.parts

    @cached_property
    def paragraph_starts(self) -> frozenset[int]:
        """The sentences that begin a paragraph or an item of a list; in a text of a sentence a line, all."""
        if all("\n" in self.text[before[1] : after[0]] for before, after in pairwise(self.spans)):
            return frozenset(range(len(self)))
        breaks = (BREAK.search(self.text, before[1], after[1]) for before, after in pairwise(self.spans))
        begun = (
            found is not None and found.end() <= after[0]
            for found, after in zip(breaks, self.spans[1:], strict=True)
        )
        return frozenset({0} if self.spans else ()) | {k for k, new in enumerate(begun, 1) if new}


def document(text: str) -> Document:
    """The sentences of running text."""
    return Document(text, tuple(_spans(text)))


def split_lines(text: str) -> Document:
    """Each line that is not blank as a sentence."""
    bare = (_bare(text, *match.span()) for match in LINE.finditer(text))
    return Document(text, tuple(span for span in bare if span[0] < span[1]))


LINE = re.compile(r"[^\r\n]+")
ITEM = r"(?:[-*+•◦▪‣–—] | \(?(?:[0-9]{1,3}|[a-zA-Z])[.)] | \#{1,6} | >)[ \t]"
BREAK = re.compile(rf"\r?\n (?: [^\S\n]*(?:\r?\n\s*|$) | [ \t]*(?={ITEM}) )", re.VERBOSE)

CLOSING = "\"'”’»›)\\]}」』）】》〉＂＇*_"
OPENING = "\"'“‘«‹([{「『（【《〈¿¡*_"
NOTES = r"(?:\[[0-9,\s–-]{1,20}\]|[¹²³⁰⁴-⁹]++)*+"
SIGNS = ".!?…‽؟۔।॥።။។։"
CANDIDATE = re.compile(
    rf"""
    (?<![{SIGNS}])(?P<sign> [{SIGNS}]++ ) [{CLOSING}]*+ {NOTES} (?=\s)     # a blank must follow
  | (?P<wide> [。！？｡．]++ ) [{CLOSING}]*+ (?![とっ、，,])                 # or a quotation that is over
    """,
    re.VERBOSE,
)
NEXT = re.compile(rf"\s*[{OPENING}—–-]*\s*(?P<word>[^\W_]*(?:['’][^\W_]+)?)(?P<sign>[,;:.!?…]?)")
LAST = re.compile(rf"(?:^|[\s{OPENING}—–/-])(?P<word>[^\s{OPENING}—–/-]+)$")
NUMBER_ALONE = re.compile(r"[\s(\[]*(?:[0-9]{1,3}|[ivxIVX]{1,4}|[a-zA-Z])(?:\.[0-9]{1,3})*\.\s*")

TITLES = re.compile(  # written with a period, and never the last word of a sentence
    "mr|mrs|ms|mx|messrs|mme|mlle|dr|prof|st|rev|hon|gen|col|maj|capt|cmdr|cpl|lt|sgt|adm|gov|sen|rep|supt|"
    "fr|sr|br|herr|hr|bzw|vs|viz|cf|e\\.g|i\\.e|eg|ie|ca|approx"
)
NUMBERED = re.compile(  # before a number alone
    "nos?|nr|pp?|vols?|figs?|eqs?|sec|ch|art|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
)
SHORT = re.compile(  # these may end a sentence or stand within it, and so may letters: J., U.S., p.m.
    r"inc|corp|co|ltd|llc|bros|jr|dept|univ|ave|blvd|rd|mt|ft|al|ph\.d|(?!i$)[^\W\d_](?:\.[^\W\d_])*"
)
STARTERS = re.compile(  # words that begin an English sentence, and in its midst have no capital
    "the|this|that|these|those|it|he|she|they|we|you|an?|his|her|their|our|my|its|your|there|here|in|on|at|"
    "by|for|from|with|to|of|as|if|when|while|where|after|before|since|because|although|though|but|and|or|so|"
    "yet|however|then|now|no|not|yes|what|who|why|how|which|some|many|most|all|both|each|every|one|two|once"
)
LONGEST = 20  # letters of a word that are looked at: more than any of these has


def _spans(text: str) -> Iterator[Span]:
    start = 0
    for found in [*BREAK.finditer(text), None]:
        end = found.start() if found else len(text)
        yield from _within(text, start, end)
        start = found.end() if found else end


def _within(text: str, start: int, end: int) -> Iterator[Span]:
    """The sentences between two breaks."""
    for found in CANDIDATE.finditer(text, start, end):
        if found["wide"] or _ends(text, start, found, end):
            yield from _written(text, start, found.end())
            start = found.end()
    yield from _written(text, start, end)


def _written(text: str, start: int, end: int) -> Iterator[Span]:
    span = _bare(text, start, end)
    if span[0] < span[1]:
        yield span


def _bare(text: str, start: int, end: int) -> Span:
    """The slice without the blanks at its ends."""
    kept = text[start:end].strip().strip("\ufeff")
    if not kept:
        return end, end
    first = text.index(kept, start)
    return first, first + len(kept)


def _ends(text: str, start: int, found: re.Match, end: int) -> bool:
    after = NEXT.match(text, found.end(), end)
    assert after is not None  # all of it is optional
    word = after["word"]
    if word[:1].islower() or (not word and after["sign"]):  # “Why?” he asked; . . .
        return False
    if found["sign"] != ".":
        return True
    if NUMBER_ALONE.fullmatch(text, start, found.end()):
        return False
    last = LAST.search(text[max(start, found.start() - LONGEST) : found.start()])
    return not (last and _goes_on(last["word"], word))


def _goes_on(last: str, following: str) -> bool:
    """Whether the period after a word is its own, and the sentence goes on."""
    last, following = last.lower(), following.lower()
    if TITLES.fullmatch(last):
        return True
    if NUMBERED.fullmatch(last):
        return following[:1].isdigit()
    return SHORT.fullmatch(last) is not None and STARTERS.fullmatch(following) is None
