"""Formats of three lines per pair, the last with positions in brackets: GIZA's A3 and that of MSR-RTE.

    # Sentence pair (1) source length 2 target length 3 alignment score : 1
    das kleine Haus
    NULL ({ 1 }) little ({ 2 }) house ({ 3 })

The last line holds the source in A3, but the target in MSR-RTE, where the brackets hold possible positions
too, `({ 2 p3 / / })`. Positions count from 1; those of NULL are ignored.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from otalign.alignment import Alignment, Pairs
from otalign.gold import Gold
from otalign.io.items import (
    Item,
    LineTally,
    get_levels,
    get_links,
    get_words,
    make_alignment,
    make_gold,
    make_links,
)
from otalign.io.lines import BadLine, FileSection, Line, join_words, split_words
from otalign.quantities import count_noun

HEADER = re.compile(rb"# *sentence pair\b", re.IGNORECASE)
A3_WORD = re.compile(r"([^ \t]+) \(\{ ((?:[0-9]{1,9} )*)\}\)[ \t]*")
# The published file of one annotator ends without its last parenthesis.
MSR_WORD = re.compile(r"([^ \t]+) \(\{ ((?:p?[0-9]{1,9} )*)/ / \}(?:\)[ \t]*|$)")
BOM = "\ufeff".encode()


def split_at_headers(lines: Iterator[Line]) -> Iterator[list[Line]]:
    """Group lines, from each header to the next."""
    group = FileSection()
    for line in lines:
        if HEADER.match(line.raw) and group:
            yield group
            group = FileSection()
        group.add(line)
    if group:
        yield group


def group_by_annotator(*files: Iterator[Line]) -> Iterator[tuple[list[Line], ...]]:
    """Group the lines of each pair by annotator. MSR-RTE has byte order marks anywhere; they are dropped."""
    clean = ((line._replace(raw=line.raw.replace(BOM, b"")) for line in file) for file in files)
    return zip_longest(*map(split_at_headers, clean), fillvalue=[])


def parse_a3(record: list[Line], merged: LineTally) -> Alignment:
    """Parse a pair in GIZA's A3 format."""
    target, words, positions = _parse_record(record, A3_WORD, "NULL ({ 2 }) word ({ 1 3 }) …")
    pairs = [(i, int(j) - 1) for i, tokens in enumerate(positions) for j in tokens]
    return make_alignment(record[2], (words, target), pairs, merged)


def format_a3(item: Item, number: int) -> str:
    """Format a pair in GIZA's A3 format."""
    (source, target), links = get_words(item), get_links(item)
    linked = {j for _, j in links}
    positions = [[j for j in range(len(target)) if j not in linked]]
    positions += [[j for j in range(len(target)) if (i, j) in links] for i in range(len(source))]
    header = f"# Sentence pair ({number}) source length {len(source)} target length {len(target)}"
    marked = [[str(j + 1) for j in places] for places in positions]
    return _format_record(f"{header} alignment score : 1", target, source, marked)


def parse_msr_rte(record: Sequence[list[Line]], merged: LineTally) -> Gold:
    """Merge the annotations of a pair: a link is gold if more than half of the annotators have it.

    It is sure if they agree that it is sure, and possible if they agree that it is sure or possible.
    """
    annotators = [_parse_annotator(lines, record, merged) for lines in record]
    # Spellings differ in the published files, so only headers and lengths show that a file is shifted.
    descriptions = [_describe_pair(*each) for each in zip(record, annotators, strict=True)]
    for lines, description in zip(record, descriptions, strict=True):
        if description != descriptions[0]:
            raise BadLine(lines[0], description, f"{descriptions[0]}, as in {record[0][0].path}")

    def majority(sets: Sequence[Pairs]) -> Pairs:
        votes = Counter(pair for pairs in sets for pair in pairs)
        return frozenset(pair for pair, count in votes.items() if 2 * count > len(sets))

    sure, linked = (majority([each.pairs(level) for each in annotators]) for level in ("sure", "possible"))
    return Gold(annotators[0].source, annotators[0].target, sure, linked)


def format_msr_rte(item: Item, number: int) -> str:
    """Format a pair as one annotator's part of an MSR-RTE file."""
    (source, target), (sure, possible) = get_words(item), get_levels(item)
    marked = [
        [str(i + 1) for i in range(len(source)) if (i, j) in sure]
        + [f"p{i + 1}" for i in range(len(source)) if (i, j) in possible]
        for j in range(len(target))
    ]
    ends = ["/", "/"]
    return _format_record(
        f"# sentence pair {number}", source, target, [ends, *(places + ends for places in marked)]
    )


def _parse_annotator(lines: list[Line], record: Sequence[list[Line]], merged: LineTally) -> Gold:
    if not lines:
        last = next(lines for lines in record if lines)[0]
        raise BadLine(last, "no such pair in another annotator's file", "the same pairs in every file")
    source, words, positions = _parse_record(lines, MSR_WORD, "NULL ({ / / }) word ({ 1 p3 / / }) …")
    levels: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
    for j, tokens in enumerate(positions):
        for token in tokens:
            levels[token[0] != "p"].append((int(token.lstrip("p")) - 1, j))
    return make_gold(lines[2], (source, words), make_links(lines[2], levels[True], levels[False], merged))


def _describe_pair(lines: list[Line], gold: Gold) -> str:
    n, m = gold.shape
    return f"{lines[0].text.strip()!r} of {n} and {m} words"


def _parse_record(
    record: list[Line], word: re.Pattern[str], expected: str
) -> tuple[tuple[str, ...], tuple[str, ...], list[list[str]]]:
    """Return the words of the text, the words of the last line, and the positions after each of these."""
    while len(record) > 3 and not record[-1].raw.strip():  # blank lines after a pair have no meaning
        record.pop()
    if not HEADER.match(record[0].raw):
        raise BadLine(record[0], repr(record[0].text), "a header such as # sentence pair 1")
    if len(record) != 3:
        raise BadLine(record[0], f"{count_noun(len(record), 'line')}, header included", "three")
    text = record[2].text
    words, positions, end = [], [], 0
    while end < len(text):
        match = word.match(text, end)
        if not match:
            raise BadLine(record[2], repr(text[end:]), expected)
        words.append(match[1])
        positions.append(match[2].split())
        end = match.end()
    if words[:1] != ["NULL"]:
        raise BadLine(record[2], repr(text), expected)
    return split_words(record[1].text), tuple(words[1:]), positions[1:]


def _format_record(header: str, text: Sequence[str], below: Sequence[str], positions: list[list[str]]) -> str:
    """Format the three lines of a pair; `positions` are those of NULL, then of each word below."""
    line = join_words(text)
    if HEADER.match(line.encode()):
        raise ValueError(f"the sentence {line!r} would be taken for a header; write jsonl")
    words = ("NULL", *join_words(below).split(" ")) if below else ("NULL",)
    bracketed = (" ".join((word, "({", *places, "})")) for word, places in zip(words, positions, strict=True))
    return f"{header}\n{line}\n{' '.join(bracketed)}\n"
