"""SemEval's interpretable similarity (`.wa`): aligned chunks, read as all links between their words.

    <sentence id="1" status="">
    // He bought a car
    // He purchased one
    <source>
    1 He :
    …
    <alignment>
    3 4 <==> 3 // EQUI // 5 // a car <==> one
    </alignment>
    </sentence>

Types and scores of chunks are ignored; chunks aligned with 0 have no counterpart.
"""

import re
from collections.abc import Iterator
from itertools import product

from otalign.alignment import Alignment, Link, Phrase
from otalign.io.items import Item, LineTally, get_links, get_texts, get_words, make_alignment
from otalign.io.lines import BadLine, FileSection, Line

WORD = re.compile(r"([0-9]{1,9})[ \t]+([^ \t]+)[ \t]*:[ \t]*")
CHUNKS = re.compile(r"((?:[0-9]{1,9}[ \t]+)+)<==>((?:[ \t]+[0-9]{1,9})+)[ \t]*(?://.*)?")
MAX_LINKS = 1_000_000  # per pair: two short lists of words stand for all links between them
SECTIONS = ("source", "translation", "alignment")


def split_at_sentences(lines: Iterator[Line]) -> Iterator[list[Line]]:
    """Group the lines from each <sentence …> to the next, without blank lines."""
    group = FileSection()
    for line in lines:
        if line.raw.startswith(b"<sentence") and group:
            yield group
            group = FileSection()
        if line.raw.strip():
            group.add(line)
    if group:
        yield group


def parse_ists(record: list[Line], merged: LineTally) -> Alignment:
    """Parse a pair."""
    sections = _split_sections(record)
    source, target = (_parse_words(sections[name]) for name in SECTIONS[:2])
    pairs = []
    for line in sections["alignment"]:
        match = CHUNKS.fullmatch(line.text.strip(" \t"))
        if not match:
            raise BadLine(line, repr(line.text), "chunks such as 3 4 <==> 3 // EQUI // 5 // a car <==> one")
        left, right = ([int(place) for place in side.split()] for side in match.groups())
        if max(left) > len(source) or max(right) > len(target):
            raise BadLine(line, repr(line.text), f"places up to {len(source)} and {len(target)}")
        if len(pairs) + len(left) * len(right) > MAX_LINKS:
            raise BadLine(line, "more links", f"at most {MAX_LINKS:,} in a pair")
        pairs += [(i - 1, j - 1) for i, j in product(left, right) if i and j]
    return make_alignment(record[0], (source, target), pairs, merged)


def format_ists(item: Item, number: int) -> str:
    """Format a pair."""
    (source, target), text = get_words(item), get_texts(item)
    links = tuple(Link(*pair) for pair in get_links(item))
    lines = [f'<sentence id="{number}" status="">', f"// {text.source}", f"// {text.target}"]
    for name, words in zip(SECTIONS, (source, target), strict=False):
        lines += [f"<{name}>", *(f"{k} {word} : " for k, word in enumerate(words, 1)), f"</{name}>"]
    lines += [
        "<alignment>",
        *_format_chunks(Alignment(source, target, links)),
        "</alignment>",
        "</sentence>",
        "",
    ]
    return "\n".join(lines)


def _format_chunks(alignment: Alignment) -> Iterator[str]:
    """Format a phrase as one chunk if all of its words are linked, else each of its links."""
    for phrase in alignment.phrases:
        pairs = sorted(alignment.pairs & set(product(*phrase)))
        complete = len(pairs) == len(phrase.source) * len(phrase.target)
        for chunk in [phrase] if complete else [Phrase((i,), (j,)) for i, j in pairs]:
            yield _format_chunk(alignment, chunk, "EQUI // 5")
    for i in alignment.source_nulls:
        yield _format_chunk(alignment, Phrase((i,), ()), "NOALI // NIL")
    for j in alignment.target_nulls:
        yield _format_chunk(alignment, Phrase((), (j,)), "NOALI // NIL")


def _format_chunk(alignment: Alignment, chunk: Phrase, kind: str) -> str:
    places = (" ".join(str(k + 1) for k in side) or "0" for side in chunk)
    words = (
        " ".join(sentence[k] for k in side) or "-not aligned-"
        for sentence, side in zip((alignment.source, alignment.target), chunk, strict=True)
    )
    return f"{' <==> '.join(places)} // {kind} // {' <==> '.join(words)}"


def _split_sections(record: list[Line]) -> dict[str, list[Line]]:
    """Return the lines between each <name> and </name>."""
    sections: dict[str, list[Line]] = {}
    current = None
    for line in record:
        text = line.text.strip(" \t")
        if current and text == f"</{current}>":
            current = None
        elif current:
            sections[current].append(line)
        elif text[1:-1] in SECTIONS and text == f"<{text[1:-1]}>":
            current = text[1:-1]
            sections[current] = []
        elif not text.startswith(("<sentence", "//", "</sentence>")):
            raise BadLine(line, repr(text), "<source>, <translation>, <alignment> or a line after //")
    missing = [name for name in SECTIONS if name not in sections or name == current]
    if missing or not record[0].raw.startswith(b"<sentence"):
        actual = f"no whole <{missing[0]}>" if missing else repr(record[0].text)
        raise BadLine(record[0], actual, "<sentence …> with <source>, <translation> and <alignment>")
    return sections


def _parse_words(lines: list[Line]) -> tuple[str, ...]:
    words = []
    for line in lines:
        match = WORD.fullmatch(line.text.strip(" \t"))
        if not match or int(match[1]) != len(words) + 1:
            raise BadLine(line, repr(line.text), f"word {len(words) + 1}, as in {len(words) + 1} word :")
        words.append(match[2])
    return tuple(words)
