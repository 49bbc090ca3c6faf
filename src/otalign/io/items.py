"""What a line of a file can hold, and what a writer asks of it: words, text, links of one or two levels.

A format gives `Gold` if it has words and two levels of links, `Alignment` if it has words and one level,
`Links` if its words are elsewhere, and `TextPair` or `WordPair` if it has no links.
"""

from typing import NamedTuple

from otalign.alignment import Alignment, Gold, Link, Pairs, WordlessLinks
from otalign.io.lines import NO_LINE, BadLine, Line, join_words, split
from otalign.text.words import Sentence, tokenize
from otalign.text.words import join_words as sentence_of
from otalign.text.words import split as split_at_blanks


class TextPair(NamedTuple):
    """Two sentences as they were written, not yet aligned."""

    source: str
    target: str


class WordPair(NamedTuple):
    """Two sentences as words, not yet aligned."""

    source: tuple[str, ...]
    target: tuple[str, ...]


Item = Alignment | Gold | WordlessLinks | TextPair | WordPair
Unaligned = TextPair | WordPair
Words = tuple[str, ...]
Pair = tuple[int, int]


class LineTally:
    """How often something was met, and where it was met first."""

    def __init__(self):
        self.count = 0
        self.first: str | None = None

    def note(self, message: str) -> None:
        self.count += 1
        self.first = self.first or message


def words_of(item: Item) -> tuple[Words, Words]:
    match item:
        case TextPair(source, target):
            return split(source), split(target)
        case WordlessLinks():
            raise ValueError("these links have no words; give words= where they are read")
    return item.source, item.target


def sentences(item: Item, pretokenized: bool = False) -> tuple[Sentence, Sentence]:
    """Both sentences, to be aligned. Texts are split, if `pretokenized` at blanks alone; words stay words."""
    if isinstance(item, TextPair):
        made = split_at_blanks if pretokenized else tokenize
        return made(item.source), made(item.target)
    source, target = words_of(item)
    return sentence_of(source), sentence_of(target)


def text_of(item: Item) -> TextPair:
    """Both sentences as lines of text."""
    if not isinstance(item, TextPair):
        source, target = words_of(item)
        return TextPair(join_words(source), join_words(target))
    for text in item:
        if NO_LINE.search(text):
            raise ValueError(f"the text {text!r} holds a line end or byte order mark; replace it")
    return item


def levels_of(item: Item) -> tuple[Pairs, Pairs]:
    """The sure and the possible links; those of an `Alignment` are sure."""
    match item:
        case TextPair() | WordPair():
            raise ValueError("this is text without links; align it first")
        case Alignment():
            return item.pairs, frozenset()
    return item.sure, item.possible


def links_of(item: Item) -> Pairs:
    """The links of an item of one level, for formats that have no more."""
    sure, possible = levels_of(item)
    if possible:
        raise ValueError(
            "the format has no possible links; choose a level first, with alignment('sure') or "
            "alignment('possible')"
        )
    return sure


def gold(line: Line, words: tuple[Words, Words], links: WordlessLinks) -> Gold:
    """The links with their words; the line they came from is bad if they do not fit."""
    try:
        return Gold(*words, links.sure, links.possible)
    except ValueError as error:
        raise BadLine(line, str(error), "links between words of the two sentences") from None


def alignment(
    line: Line,
    words: tuple[Words, Words],
    pairs: list[Pair],
    merged: LineTally,
    weights: list[float] | None = None,
) -> Alignment:
    """The same for links of one level, which weigh 1 unless their weights are given."""
    try:
        weighted = zip(pairs, weights or [1.0] * len(pairs), strict=True)
        made = Alignment(*words, tuple(Link(*pair, weight) for pair, weight in weighted))
    except ValueError as error:
        raise BadLine(line, str(error), "links between words of the two sentences") from None
    if len(made.links) < len(pairs):
        record_duplicate(line, merged)
    return made


def make_links(line: Line, sure: list[Pair], possible: list[Pair], merged: LineTally) -> WordlessLinks:
    links = WordlessLinks(frozenset(sure), frozenset(possible))
    if len(links.sure) + len(links.possible) < len(sure) + len(possible):
        record_duplicate(line, merged)
    return links


def record_duplicate(line: Line, merged: LineTally) -> None:
    merged.note(f"{line.path}, line {line.number}: a link is given twice")
