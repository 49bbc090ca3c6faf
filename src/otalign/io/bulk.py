"""Output lines formatted from arrays of links, without an `Alignment` for each pair; the bytes are the same.

Most of the output is small numbers, whose texts are looked up in tables.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from otalign.alignment import select_further_fields
from otalign.text.words import Sentence, Span

if TYPE_CHECKING:
    from otalign.link_arrays import LinkedPairs

Fields = Mapping[str, Any] | None
ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=str)
ESCAPED = re.compile(r'[\x00-\x1f"\\]')  # characters that JSON must escape
NO_BREAK = str.maketrans(dict.fromkeys(" \t\n\r", "\u00a0"))  # a space inside a word must not split it
MAX_SPANS = 1 << 16


class _SpanTexts(dict[Span, str]):
    """The texts of spans, created on first use."""

    def __missing__(self, span: Span) -> str:
        if len(self) >= MAX_SPANS:
            self.clear()
        text = self[span] = f"[{span[0]}, {span[1]}]"
        return text


def format_json_lines(linked: "LinkedPairs", fields: Iterable[Fields], first: int = 1) -> Iterator[str]:
    """Yield a JSON object for each pair, as `Alignment.to_dict` describes it.

    Args:
        linked: Pairs with their links.
        fields: Further fields of each pair.
        first: Number of the first pair in the file, for errors.

    Raises:
        ValueError: If a field cannot be written.
    """
    links, spans, shares = linked.links, _SpanTexts(), _format_shares("r")
    cells = [
        f"[{i}, {j}, {shares[weight]}]"
        for i, j, weight in zip(
            links.source.tolist(), links.target.tolist(), links.weights.tolist(), strict=True
        )
    ]
    nulls = list(map(shares.__getitem__, links.nulls.tolist()))
    unlinked = [list(map(str, words)) for words in links.find_nulls()]
    words, starts = links.word_starts.tolist(), links.starts.tolist()
    for k, ((source, target), more) in enumerate(zip(linked.pairs, fields, strict=True)):
        a, b, c = words[2 * k : 2 * k + 3]
        yield (
            f'{{"source": {_format_words(source)}, "target": {_format_words(target)}, '
            f'"links": [{", ".join(cells[starts[k] : starts[k + 1]])}], '
            f'"source_nulls": [{", ".join(unlinked[2 * k])}], '
            f'"target_nulls": [{", ".join(unlinked[2 * k + 1])}], '
            f'"source_spans": [{", ".join(map(spans.__getitem__, source.spans))}], '
            f'"target_spans": [{", ".join(map(spans.__getitem__, target.spans))}], '
            f'"source_null_confidence": [{", ".join(nulls[a:b])}], '
            f'"target_null_confidence": [{", ".join(nulls[b:c])}]{_format_fields(more, first + k)}}}\n'
        )


def format_column_lines(
    linked: "LinkedPairs", *, wordless: bool, weights: bool, nulls: bool
) -> Iterator[str]:
    """Yield a line for each pair: its words, links, weights and null words, with tabs between them.

    Args:
        linked: Pairs with their links.
        wordless: Whether to leave the words out.
        weights: Whether to write the weights of links.
        nulls: Whether to write null words.
    """
    links, columns = linked.links, list[Iterable[str]]()
    if not wordless:
        columns += (map(_join_words, side) for side in zip(*linked.pairs, strict=True))
    pairs = [f"{i}-{j}" for i, j in zip(links.source.tolist(), links.target.tolist(), strict=True)]
    columns.append(_join_links(pairs, links.starts))
    if weights:
        shares = _format_shares("g")
        columns.append(_join_links(list(map(shares.__getitem__, links.weights.tolist())), links.starts))
    if nulls:
        unlinked = [" ".join(map(str, words)) for words in links.find_nulls()]
        columns += [unlinked[::2], unlinked[1::2]]
    return ("\t".join(cells) + "\n" for cells in zip(*columns, strict=True))


@cache
def _format_shares(kind: str) -> list[str]:
    """Return the texts of all shares that links have, as `repr` or the format `g` writes them."""
    from otalign.link_arrays import SHARES

    return [repr(share) if kind == "r" else f"{share:g}" for share in SHARES]


def _join_words(sentence: Sentence) -> str:
    return " ".join(word.translate(NO_BREAK) for word in sentence.words)


def _join_links(texts: list[str], starts: Any) -> Iterator[str]:
    return (" ".join(texts[first:end]) for first, end in pairwise(starts.tolist()))


def _format_words(sentence: Sentence) -> str:
    if not sentence.spans:
        return "[]"
    if ESCAPED.search(sentence.text):
        return ENCODER.encode(sentence.words)
    return '["' + '", "'.join(sentence.words) + '"]'


def _format_fields(fields: Fields, number: int) -> str:
    further = select_further_fields(fields) if fields else {}
    try:
        return ", " + ENCODER.encode(further)[1:-1] if further else ""
    except ValueError as error:
        raise ValueError(f"pair {number} cannot be written as jsonl: {error}") from error
