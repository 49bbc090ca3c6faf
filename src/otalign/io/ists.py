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

Chunks aligned with 0 have no counterpart. The type and the score of each chunk are kept in the field `chunks`
of the alignment, where JSON keeps them too; links without them are written as EQUI // 5.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from otalign.alignment import Alignment, Link, Phrase
from otalign.gold import Gold
from otalign.io.items import Item, LineTally, get_links, get_texts, get_words, make_alignment
from otalign.io.lines import BadLine, FileSection, Line

WORD = re.compile(r"([0-9]{1,9})[ \t]+([^ \t]+)[ \t]*:[ \t]*")
CHUNKS = re.compile(r"((?:[0-9]{1,9}[ \t]+)+)<==>((?:[ \t]+[0-9]{1,9})+)[ \t]*(?://(.*))?")
TYPE, SCORE = re.compile("[A-Z0-9_]{1,40}"), re.compile(r"NIL|[0-9]{1,9}(\.[0-9]{1,9})?")
MAX_LINKS = 1_000_000  # per pair: two short lists of words represent all links between them
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
    pairs, chunks = [], []
    for line in sections["alignment"]:
        match = CHUNKS.fullmatch(line.text.strip(" \t"))
        if not match:
            raise BadLine(line, repr(line.text), "chunks such as 3 4 <==> 3 // EQUI // 5 // a car <==> one")
        left, right = ([int(place) for place in side.split()] for side in match.groups()[:2])
        if max(left) > len(source) or max(right) > len(target):
            raise BadLine(line, repr(line.text), f"places up to {len(source)} and {len(target)}")
        if len(pairs) + len(left) * len(right) > MAX_LINKS:
            raise BadLine(line, "more links", f"at most {MAX_LINKS:,} in a pair")
        pairs += [(i - 1, j - 1) for i, j in product(left, right) if i and j]
        chunks.append(_parse_annotation(left, right, match[3] or ""))
    alignment = make_alignment(record[0], (source, target), pairs, merged)
    return alignment.with_fields({"chunks": chunks} if any("type" in chunk for chunk in chunks) else None)


def _parse_annotation(left: list[int], right: list[int], text: str) -> dict[str, Any]:
    """Return a chunk as JSON-serializable values: words from 0, and type and score if the line has them."""
    places = {name: [k - 1 for k in side if k] for name, side in (("source", left), ("target", right))}
    kind, score, *_ = (*(part.strip() for part in text.split("//")), "", "")
    if not TYPE.fullmatch(kind) or not SCORE.fullmatch(score):
        return places
    return {**places, "type": kind, "score": None if score == "NIL" else float(score)}


def format_ists(item: Item, number: int) -> str:
    """Format a pair."""
    (source, target), text = get_words(item), get_texts(item)
    links = tuple(Link(*pair) for pair in get_links(item))
    lines = [f'<sentence id="{number}" status="">', f"// {text.source}", f"// {text.target}"]
    for name, words in zip(SECTIONS, (source, target), strict=False):
        lines += [f"<{name}>", *(f"{k} {word} : " for k, word in enumerate(words, 1)), f"</{name}>"]
    alignment = Alignment(source, target, links)
    given = _read_chunks(item.fields, alignment) if isinstance(item, Alignment | Gold) else None
    lines += [
        "<alignment>",
        *(_format_chunk(alignment, *chunk) for chunk in given or _derive_chunks(alignment)),
        "</alignment>",
        "</sentence>",
        "",
    ]
    return "\n".join(lines)


def _read_chunks(fields: Mapping[str, Any] | None, alignment: Alignment) -> list[tuple[Phrase, str]] | None:
    """Return the chunks that were read with an alignment; None unless they represent its links and nulls."""
    try:
        chunks = [
            (Phrase(tuple(one["source"]), tuple(one["target"])), _format_annotation(one))
            for one in (fields or {})["chunks"]
        ]
        pairs = {pair for phrase, _ in chunks for pair in product(*phrase)}
        words = [{k for phrase, _ in chunks for k in phrase[side]} for side in (0, 1)]
        ranges = [set(range(count)) for count in alignment.shape]
    except (KeyError, TypeError, ValueError):  # the field of another program
        return None
    return chunks if pairs == alignment.pairs and words == ranges else None


def _format_annotation(chunk: Mapping[str, Any]) -> str:
    score = "NIL" if chunk["score"] is None else f"{chunk['score']:g}"
    if not TYPE.fullmatch(chunk["type"]) or not SCORE.fullmatch(score):
        raise ValueError(f"a chunk must have a type and a score, got {chunk}")
    return f"{chunk['type']} // {score}"


def _derive_chunks(alignment: Alignment) -> Iterator[tuple[Phrase, str]]:
    """Yield a phrase as one chunk if all of its words are linked, else each of its links."""
    for phrase in alignment.phrases:
        pairs = sorted(alignment.pairs & set(product(*phrase)))
        complete = len(pairs) == len(phrase.source) * len(phrase.target)
        for chunk in [phrase] if complete else [Phrase((i,), (j,)) for i, j in pairs]:
            yield chunk, "EQUI // 5"
    yield from ((Phrase((i,), ()), "NOALI // NIL") for i in alignment.source_nulls)
    yield from ((Phrase((), (j,)), "NOALI // NIL") for j in alignment.target_nulls)


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
        actual = f"no complete <{missing[0]}>" if missing else repr(record[0].text)
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
