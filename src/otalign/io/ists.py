"""SemEval's interpretable similarity, `.wa`: chunks that correspond, read as all links between their words.

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

The types and scores of the chunks are not kept; chunks beside 0 have no counterpart.
"""

import re
from collections.abc import Iterator
from itertools import product

from otalign.alignment import Alignment, Link, Phrase
from otalign.io.items import Item, LineTally, alignment, links_of, text_of, words_of
from otalign.io.lines import BadLine, FileSection, Line

WORD = re.compile(r"([0-9]{1,9})[ \t]+([^ \t]+)[ \t]*:[ \t]*")
CHUNKS = re.compile(r"((?:[0-9]{1,9}[ \t]+)+)<==>((?:[ \t]+[0-9]{1,9})+)[ \t]*(?://.*)?")
MAX_LINKS = 1_000_000  # of a pair: two short lists of words stand for all links between them
SECTIONS = ("source", "translation", "alignment")


def by_sentence(lines: Iterator[Line]) -> Iterator[list[Line]]:
    """The lines from each <sentence …> to the next; blank ones mean nothing."""
    group = FileSection()
    for line in lines:
        if line.raw.startswith(b"<sentence") and group:
            yield group
            group = FileSection()
        if line.raw.strip():
            group.add(line)
    if group:
        yield group


def ists(record: list[Line], merged: LineTally) -> Alignment:
    sections = _sections(record)
    source, target = (_words(sections[name]) for name in SECTIONS[:2])
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
    return alignment(record[0], (source, target), pairs, merged)


def ists_lines(item: Item, number: int) -> str:
    (source, target), text = words_of(item), text_of(item)
    links = tuple(Link(*pair) for pair in links_of(item))
    out = [f'<sentence id="{number}" status="">', f"// {text.source}", f"// {text.target}"]
    for name, words in zip(SECTIONS, (source, target), strict=False):
        out += [f"<{name}>", *(f"{k} {word} : " for k, word in enumerate(words, 1)), f"</{name}>"]
    out += ["<alignment>", *_chunk_lines(Alignment(source, target, links)), "</alignment>", "</sentence>", ""]
    return "\n".join(out)


def _chunk_lines(alignment: Alignment) -> Iterator[str]:
    """A phrase whose words are all linked is a chunk; of any other each link is one, lest links be added."""
    for phrase in alignment.phrases:
        pairs = sorted(alignment.pairs & set(product(*phrase)))
        whole = len(pairs) == len(phrase.source) * len(phrase.target)
        for chunk in [phrase] if whole else [Phrase((i,), (j,)) for i, j in pairs]:
            yield _chunk_line(alignment, chunk, "EQUI // 5")
    for i in alignment.source_nulls:
        yield _chunk_line(alignment, Phrase((i,), ()), "NOALI // NIL")
    for j in alignment.target_nulls:
        yield _chunk_line(alignment, Phrase((), (j,)), "NOALI // NIL")


def _chunk_line(alignment: Alignment, chunk: Phrase, kind: str) -> str:
    places = (" ".join(str(k + 1) for k in side) or "0" for side in chunk)
    words = (
        " ".join(sentence[k] for k in side) or "-not aligned-"
        for sentence, side in zip((alignment.source, alignment.target), chunk, strict=True)
    )
    return f"{' <==> '.join(places)} // {kind} // {' <==> '.join(words)}"


def _sections(record: list[Line]) -> dict[str, list[Line]]:
    """The lines between each <name> and </name>."""
    sections: dict[str, list[Line]] = {}
    inside = None
    for line in record:
        text = line.text.strip(" \t")
        if inside and text == f"</{inside}>":
            inside = None
        elif inside:
            sections[inside].append(line)
        elif text[1:-1] in SECTIONS and text == f"<{text[1:-1]}>":
            inside = text[1:-1]
            sections[inside] = []
        elif not text.startswith(("<sentence", "//", "</sentence>")):
            raise BadLine(line, repr(text), "<source>, <translation>, <alignment> or a line after //")
    missing = [name for name in SECTIONS if name not in sections or name == inside]
    if missing or not record[0].raw.startswith(b"<sentence"):
        found = f"no whole <{missing[0]}>" if missing else repr(record[0].text)
        raise BadLine(record[0], found, "<sentence …> with <source>, <translation> and <alignment>")
    return sections


def _words(lines: list[Line]) -> tuple[str, ...]:
    words = []
    for line in lines:
        match = WORD.fullmatch(line.text.strip(" \t"))
        if not match or int(match[1]) != len(words) + 1:
            raise BadLine(line, repr(line.text), f"word {len(words) + 1}, as in {len(words) + 1} word :")
        words.append(match[2])
    return tuple(words)
