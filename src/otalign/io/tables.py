"""Formats with a pair per line: MultiMWA's table, columns, JSON, `source ||| target`, and parallel files."""

import json
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from otalign.alignment import Alignment, Pairs, select_further_fields
from otalign.gold import Gold, WordlessLinks
from otalign.io.items import (
    Item,
    LineTally,
    TextPair,
    Unaligned,
    WordPair,
    add_fields,
    get_levels,
    get_links,
    get_texts,
    make_alignment,
    make_gold,
    make_links,
    record_duplicate,
)
from otalign.io.lines import BadLine, Line, split_words
from otalign.io.links import SURE_ONLY, check_phrases, split_phrases
from otalign.quantities import count_noun
from otalign.text.words import check_unicode

BARS = "|||"
OBJECT = (
    'a JSON object on one line, with "source" and "target", and perhaps with "links" or "sure" and "possible"'
)


def parse_multimwa(record: list[Line], merged: LineTally) -> Gold:
    """Parse a row of MultiMWA's table."""
    (line,) = record
    cells = line.text.split("\t")
    if len(cells) < 9:
        expected = "sentences in columns 1 and 3, sure and possible links in 7 and 8, counted from 0"
        raise BadLine(line, _describe_columns(cells), expected)
    sure, possible = (SURE_ONLY.parse(line, cell.split()) for cell in cells[7:9])
    return make_gold(
        line, (split_words(cells[1]), split_words(cells[3])), make_links(line, sure, possible, merged)
    )


def format_multimwa(item: Item, number: int) -> str:
    """Format a row of MultiMWA's table."""
    (source, target), (sure, possible) = get_texts(item), map(_format_links, get_levels(item))
    cells = (f"{number - 1}:0", source, "N/A", target, "N/A", "1", "1", sure, possible, "")
    return "\t".join(cells) + "\n"


def parse_columns(record: list[Line], merged: LineTally) -> Alignment:
    """Parse source, target, links, and weights if there are 4 or 6 columns before those of the phrases.

    Nulls and phrases follow from the links. Without links, columns of weights and phrases are blank.
    """
    (line,) = record
    cells, phrases = _split_at_phrases(line.text.split("\t"))
    linked = any(cells[2:3])
    if len(cells) not in ((3, 4, 5, 6) if linked else (3, 4, 5, 6, 8)):
        raise BadLine(
            line, _describe_columns(cells), "three: source, target, links; with a tab even before no links"
        )
    pairs = SURE_ONLY.parse(line, cells[2].split())
    check_phrases(line, phrases, pairs)
    weights = None
    if len(cells) == 4 or (linked and len(cells) == 6):
        weights = _parse_weights(line, cells[3], len(pairs))
    return make_alignment(line, (split_words(cells[0]), split_words(cells[1])), pairs, merged, weights)


def _split_at_phrases(cells: list[str]) -> tuple[list[str], list[str]]:
    """Return the columns before those of the phrases and their weights, and the phrases."""
    for place in range(3, len(cells)):
        if len(cells) <= place + 2 and (phrases := split_phrases(cells[place])):
            return cells[:place], phrases
    return cells, []


def _parse_weights(line: Line, cell: str, count: int) -> list[float]:
    try:
        weights = [float(weight) for weight in cell.split()]
    except ValueError:
        raise BadLine(line, repr(cell), "a weight for each link") from None
    if len(weights) != count:
        raise BadLine(
            line,
            f"{count_noun(len(weights), 'weight')} for {count_noun(count, 'link')}",
            "a weight for each link",
        )
    return weights


def format_columns(item: Item, number: int) -> str:
    """Format `source TAB target TAB links`."""
    return "\t".join((*get_texts(item), _format_links(get_links(item)))) + "\n"


def parse_tsv(record: list[Line], merged: LineTally) -> TextPair:
    """Parse `source TAB target`; a blank line is an empty pair, so that line numbers stay pair numbers."""
    (line,) = record
    cells = line.text.split("\t") if line.raw else ["", ""]
    if len(cells) != 2:
        raise BadLine(line, _describe_columns(cells), "two: source, target; the format with links is columns")
    return TextPair(*cells)


def format_tsv(item: Item, number: int) -> str:
    """Format `source TAB target`."""
    pair = get_texts(item)
    for text in pair:
        if "\t" in text:
            raise ValueError(f"the text {text!r} contains a tab; write two parallel files instead")
    return f"{pair.source}\t{pair.target}\n"


def parse_jsonl(record: list[Line], merged: LineTally) -> Alignment | Gold | Unaligned:
    """Parse a JSON object: gold, an alignment, or a pair without links."""
    (line,) = record
    data = parse_json(line)
    if not isinstance(data, dict):
        raise BadLine(line, repr(line.text), OBJECT)
    try:
        item = build_item(data)
    except KeyError as error:
        raise BadLine(line, f"no field {error}", OBJECT) from None
    except ITEM_ERRORS as error:
        raise BadLine(line, describe_item_error(error)) from None
    match item:
        case Alignment():
            given, kept = len(data["links"]), len(item.links)
        case Gold():
            given, kept = len(data["sure"]) + len(data["possible"]), len(item.sure | item.possible)
        case _:
            return item
    if kept < given:
        record_duplicate(line, merged)
    return item


ITEM_ERRORS = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)


def build_item(data: dict[str, Any]) -> Alignment | Gold | Unaligned:
    """Return the item that a dictionary describes; it raises one of `ITEM_ERRORS` if there is none."""
    if not data.keys() & {"links", "sure"}:
        return _parse_pair(data)
    return Gold.from_dict(data) if "sure" in data else Alignment.from_dict(data)


def describe_item_error(error: Exception) -> str:
    """Return what is wrong with a dictionary that `build_item` refused."""
    match error:
        case KeyError():
            return f"no field {error}"
        case OverflowError():
            return f"a number that is too large ({error})"
    return str(error)


def parse_json(line: Line, expected: str = OBJECT) -> Any:
    """Parse a line of JSON.

    Args:
        line: The line.
        expected: What it should hold, for the message.

    Returns:
        Its value.

    Raises:
        BadLine: If the line is not JSON, is nested too deeply, or holds a lone surrogate or NaN.
    """
    text = line.text
    try:
        value = DECODER.decode(text)
        if "\\ud" in text.lower():  # the only way to write a surrogate
            check_unicode(json.dumps(value, ensure_ascii=False))
    except RecursionError:
        raise BadLine(line, "JSON that is nested too deeply", expected) from None
    except json.JSONDecodeError:
        raise BadLine(line, repr(text), expected) from None
    except ValueError as error:
        raise BadLine(line, str(error), expected) from None
    return value


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name}, which is not JSON; a number must be finite")


DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _parse_pair(data: dict[str, Any]) -> Unaligned:
    source, target, fields = data["source"], data["target"], select_further_fields(data)
    match source, target:
        case str(), str():
            return add_fields(TextPair(source, target), fields)
        case [*_], [*_]:
            checked = Alignment(tuple(source), tuple(target), ())  # checks the words
            return add_fields(WordPair(checked.source, checked.target), fields)
    raise TypeError(
        f"source and target must be two texts or two lists of words, got {source!r:.40} and {target!r:.40}"
    )


def format_jsonl(item: Item, number: int, *, phrases: bool = False) -> str:
    """Format an item as a JSON object, an alignment perhaps with its phrases."""
    if isinstance(item, WordlessLinks):
        raise ValueError("jsonl holds sentences, but these links have no words; give them with words=")
    match item:
        case Alignment():
            data = item.to_dict(phrases=phrases)
        case Gold():
            data = item.to_dict()
        case _:
            data = item._asdict() | dict(item.fields or {})
    return json.dumps(data, ensure_ascii=False, allow_nan=False, default=str) + "\n"


def parse_bars(record: list[Line], merged: LineTally) -> TextPair:
    """Parse `source ||| target`; a blank line is an empty pair, so that line numbers stay pair numbers."""
    (line,) = record
    parts = line.text.split(BARS) if line.text.strip(" \t") else ["", ""]
    if len(parts) != 2:
        raise BadLine(line, f"{len(parts) - 1} times {BARS}", f"one {BARS} between source and target")
    return TextPair(*(part.strip(" \t") for part in parts))


def format_bars(item: Item, number: int) -> str:
    """Format `source ||| target`."""
    pair = get_texts(item)
    for text in pair:
        if BARS in text:
            raise ValueError(f"the text {text!r} contains {BARS}; write two parallel files instead")
    return f"{pair.source} {BARS} {pair.target}\n"


def zip_lines(source: Iterator[Line], target: Iterator[Line]) -> Iterator[list[Line | None]]:
    """Combine the lines of two files into records."""
    return (list(pair) for pair in zip_longest(source, target))


def parse_parallel(record: list[Line | None], merged: LineTally) -> TextPair:
    """Parse a line of each of two parallel files."""
    source, target = record
    line = source or target
    if not source or not target:
        assert line
        raise BadLine(line, "no corresponding line in the other file", "as many lines in one as in the other")
    return TextPair(source.text, target.text)


def format_source(item: Item, number: int) -> str:
    """Format the source of a pair."""
    return get_texts(item).source + "\n"


def format_target(item: Item, number: int) -> str:
    """Format the target of a pair."""
    return get_texts(item).target + "\n"


def _format_links(pairs: Pairs) -> str:
    return " ".join(f"{i}-{j}" for i, j in sorted(pairs))


def _describe_columns(cells: list[str]) -> str:
    if not any(cells):
        return "a blank line"
    return f"{count_noun(len(cells), 'column')} between tabs"
