"""The content of a line or record of a file, and what writers need from it: words, text and links.

A format gives `Gold` if it has words and two levels of links, `Alignment` if it has words and one level,
`WordlessLinks` if it has links without words, and `TextPair` or `WordPair` if it has no links. Further fields
of a record, such as an id, stay with the item.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

from otalign.alignment import Alignment, Link, Pairs
from otalign.gold import Gold, WordlessLinks
from otalign.io.lines import NO_LINE, BadLine, Line, join_words, split_words
from otalign.text.words import Sentence, tokenize
from otalign.text.words import join_words as sentence_of
from otalign.text.words import split as split_at_blanks


class _Texts(NamedTuple):
    source: str
    target: str


class _Words(NamedTuple):
    source: tuple[str, ...]
    target: tuple[str, ...]


class TextPair(_Texts):
    """Two sentences as text, not yet aligned.

    Attributes:
        source: Source sentence.
        target: Target sentence.
        fields: Further fields of the record that it was read from, which do not count in comparisons.

    Example:
        >>> from otalign.io import TextPair
        >>> TextPair("He ran.", "He was running.").target
        'He was running.'
    """

    fields: Mapping[str, Any] | None = None


class WordPair(_Words):
    """Two sentences as words, not yet aligned.

    Attributes:
        source: Words of the source sentence.
        target: Words of the target sentence.
        fields: Further fields of the record that it was read from, which do not count in comparisons.

    Example:
        >>> from otalign.io import WordPair
        >>> WordPair(("He", "ran"), ("He", "was", "running")).source
        ('He', 'ran')
    """

    fields: Mapping[str, Any] | None = None


Item = Alignment | Gold | WordlessLinks | TextPair | WordPair
Unaligned = TextPair | WordPair
Words = tuple[str, ...]
Pair = tuple[int, int]
UnalignedItem = TypeVar("UnalignedItem", TextPair, WordPair)
TEXTS = ("source_text", "target_text")  # fields for the texts of sentences that are given as words
PHRASES = "phrase_links"  # the field for the phrases of the links that the item came with


class LineTally:
    """A count of lines, with a message about the first of them.

    Attributes:
        count: Number of lines.
        first: Message about the first line; None without lines.

    Example:
        >>> from otalign.io import LineTally
        >>> tally = LineTally()
        >>> tally.note("links.txt, line 3: a link is given twice")
        >>> tally.note("links.txt, line 8: a link is given twice")
        >>> tally.count, tally.first
        (2, 'links.txt, line 3: a link is given twice')
    """

    def __init__(self) -> None:
        self.count = 0
        self.first: str | None = None

    def note(self, message: str) -> None:
        """Count a line.

        Args:
            message: Message about the line; only the first one is kept.
        """
        self.count += 1
        self.first = self.first or message


def get_words(item: Item) -> tuple[Words, Words]:
    """Return the words of both sentences; texts are split at spaces."""
    match item:
        case TextPair(source, target):
            return split_words(source), split_words(target)
        case WordlessLinks():
            raise ValueError("these links have no words; give them with words=")
    return item.source, item.target


def add_fields(pair: UnalignedItem, fields: Mapping[str, Any]) -> UnalignedItem:
    """Add the further fields of its record to a pair that was just made, and return it."""
    if fields:
        pair.fields = fields
    return pair


def get_fields(item: Item) -> Mapping[str, Any] | None:
    """Return the further fields of an item, for its alignment.

    The alignment has words in place of texts, so the texts become fields too: spans may count characters.
    """
    if isinstance(item, WordlessLinks) or not item.fields:
        return None
    fields = {name: value for name, value in item.fields.items() if name not in (*TEXTS, PHRASES)}
    return fields | dict(zip(TEXTS, item, strict=True)) if isinstance(item, TextPair) else fields


def make_sentences(item: Item, pretokenized: bool = False) -> tuple[Sentence, Sentence]:
    """Convert an item into the two sentences to align.

    Args:
        item: The item.
        pretokenized: Whether the words of a text are separated by spaces; else texts are tokenized.

    Returns:
        Source and target.
    """
    if isinstance(item, TextPair):
        split = split_at_blanks if pretokenized else tokenize
        return split(item.source), split(item.target)
    source, target = get_words(item)
    return sentence_of(source), sentence_of(target)


def get_texts(item: Item) -> TextPair:
    """Return both sentences as text of one line each."""
    if not isinstance(item, TextPair):
        source, target = get_words(item)
        return TextPair(join_words(source), join_words(target))
    for text in item:
        if NO_LINE.search(text):
            raise ValueError(f"the text {text!r} contains a line end or byte order mark; replace it")
    return item


def get_levels(item: Item) -> tuple[Pairs, Pairs]:
    """Return the sure and the possible links; those of an `Alignment` are sure."""
    match item:
        case TextPair() | WordPair():
            raise ValueError("this is text without links; align it first")
        case Alignment():
            return item.pairs, frozenset()
    return item.sure, item.possible


def get_links(item: Item) -> Pairs:
    """Return the links of an item that has no possible links, for formats of one level."""
    sure, possible = get_levels(item)
    if possible:
        raise ValueError(
            "the format has no possible links; choose those of one level first, sure or possible (level); in "
            "Python with Gold.alignment"
        )
    return sure


def make_gold(line: Line, words: tuple[Words, Words], links: WordlessLinks, first: int = 0) -> Gold:
    """Combine links with their words, counted from `first` in the file; raise BadLine if they do not fit."""
    try:
        return Gold(*words, links.sure, links.possible)
    except ValueError as error:
        hint = "" if first else " (a file that counts from 1 is talp)"
        expected = f"links between words of the two sentences, counted from {first}{hint}"
        raise BadLine(line, str(error), expected) from None


def make_alignment(
    line: Line,
    words: tuple[Words, Words],
    pairs: list[Pair],
    merged: LineTally,
    weights: list[float] | None = None,
) -> Alignment:
    """Combine links of one level with their words, and perhaps weights; raise BadLine if they do not fit."""
    try:
        weighted = zip(pairs, weights or [1.0] * len(pairs), strict=True)
        result = Alignment(*words, tuple(Link(*pair, weight) for pair, weight in weighted))
    except ValueError as error:
        raise BadLine(line, str(error), "links between words of the two sentences") from None
    if len(result.links) < len(pairs):
        record_duplicate(line, merged)
    return result


def make_links(line: Line, sure: list[Pair], possible: list[Pair], merged: LineTally) -> WordlessLinks:
    """Combine links of two levels, counting the line if it gives a link twice."""
    links = WordlessLinks(frozenset(sure), frozenset(possible))
    if len(links.sure) + len(links.possible) < len(sure) + len(possible):
        record_duplicate(line, merged)
    return links


def record_duplicate(line: Line, merged: LineTally) -> None:
    """Count a line that gives a link twice."""
    merged.note(f"{line.path}, line {line.number}: a link is given twice")
