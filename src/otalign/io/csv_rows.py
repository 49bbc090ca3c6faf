"""CSV: a header that names the columns source and target, then a pair per row.

    id,source,target
    7,"a small, old house",ein Haus

Commas, semicolons or tabs may separate the columns. Further columns become fields of the pairs.
"""

import csv
from collections.abc import Iterator
from io import StringIO

from otalign.io.items import Item, LineTally, TextPair, add_fields, get_texts
from otalign.io.lines import BadLine, FileSection, Line

COLUMNS = ("source", "target")
DELIMITERS = (",", ";", "\t")


def split_rows(lines: Iterator[Line]) -> Iterator[list[Line]]:
    """Group the lines of each row, with the header as the last; a quoted cell may contain line ends."""
    header, row = None, FileSection()
    for line in lines:
        if not row and not line.raw.strip():
            continue
        if header is None:
            header = line
        else:
            row.add(line)
            if row[-1].limit or sum(part.raw.count(b'"') for part in row) % 2 == 0:
                yield [*row, header]
                row = FileSection()
    if header and row:
        yield [*row, header]


def find_delimiter(header: str) -> str | None:
    """Return the delimiter of a header that names source and target; None if it is not such a header."""
    return next((mark for mark in DELIMITERS if set(COLUMNS) <= set(_parse_names(header, mark))), None)


def parse_csv(record: list[Line], merged: LineTally) -> TextPair:
    """Parse a row of a table with a header."""
    *lines, header = record
    delimiter = find_delimiter(header.text)
    if delimiter is None:
        raise BadLine(header, repr(header.text), "a header with the columns source and target")
    names = _parse_names(header.text, delimiter)
    try:
        (cells,) = csv.reader(["\n".join(line.text for line in lines)], delimiter=delimiter, strict=True)
    except (csv.Error, ValueError) as error:
        if isinstance(error, BadLine):
            raise
        raise BadLine(lines[0], repr(lines[0].text), f"a row of CSV ({error})") from None
    if len(cells) != len(names):
        raise BadLine(
            lines[0], f"{len(cells)} cell{'s' * (len(cells) != 1)}", f"{len(names)}, as in the header"
        )
    row = dict(zip(names, cells, strict=True))
    return add_fields(TextPair(row.pop("source"), row.pop("target")), row)


def format_csv(item: Item, number: int) -> str:
    """Format source and target, after a header if it is the first pair."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if number == 1:
        writer.writerow(COLUMNS)
    writer.writerow(get_texts(item))
    return text.getvalue()


def _parse_names(header: str, delimiter: str) -> list[str]:
    try:
        names = next(csv.reader([header], delimiter=delimiter), [])
    except csv.Error:  # such as a carriage return within it: it is not a header
        return []
    return [name.strip().lower() if name.strip().lower() in COLUMNS else name for name in names]
