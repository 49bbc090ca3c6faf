"""Parquet: a row per pair, with the fields of a JSON object as columns.

Links and spans are lists of structs, and further columns become fields. Files are read and written some rows
at a time. It needs pyarrow, the extra `parquet`.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from itertools import chain, islice
from pathlib import Path as FilePath
from typing import Any, BinaryIO

from otalign.alignment import Alignment
from otalign.gold import WordlessLinks
from otalign.io.items import PHRASES, Item, LineTally, Unaligned
from otalign.io.limits import DEFAULT_LIMITS, ReaderLimits
from otalign.io.lines import STDIN, Path, name_input
from otalign.io.tables import ITEM_ERRORS, build_item, describe_item_error

PARQUET = "parquet"
ROWS = 1024  # rows in memory at a time
COLUMNS = ("source", "target")
STRUCTS = {  # columns of structs, with the fields that JSON has as lists
    "links": ("source", "target", "weight"),
    **{f"{side}_spans": ("start", "end") for side in COLUMNS},
    "spans": ("start", "end", "label"),  # a further field, which `otalign project` reads
}


@dataclass(frozen=True)
class Rows:
    """The items of a file, with or without links. Each iteration reads the file again.

    Attributes:
        path: The file.
        limits: The largest sentence to accept.
        pretokenized: Whether the words of a text are separated by spaces.
        skipped: Bad rows of the last iteration: none, since a bad row is an error.
        merged: Rows that give a link twice: none are counted.
    """

    path: Path
    limits: ReaderLimits = DEFAULT_LIMITS
    pretokenized: bool = False
    skipped: LineTally = field(default_factory=LineTally, init=False, compare=False)
    merged: LineTally = field(default_factory=LineTally, init=False, compare=False)

    def __iter__(self) -> Iterator[Any]:
        for number, data in enumerate(read_rows(self.path), 1):
            yield self._parse_row(number, data)

    def _parse_row(self, number: int, data: dict[str, Any]) -> Item:
        place = f"{self.path}, row {number}"
        try:
            item = build_item(data)
        except ITEM_ERRORS as error:
            pair = tuple(data.get(name) for name in COLUMNS)
            found = f"{pair[0]!r:.100} and {pair[1]!r:.100}" if None in pair else describe_item_error(error)
            raise ValueError(
                f"{place}: found {found}, expected two texts or two lists of words, perhaps with links"
            ) from None
        if excess := self.limits.find_excess(item, self.pretokenized):
            raise ValueError(f"{place}: found {excess[0]}, expected {excess[1]}")
        return item


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file as `to_dict` of an item would write them, without values that are null.

    Args:
        path: The file.

    Raises:
        ValueError: If it is not Parquet, or has no columns source and target.
        OSError: If it cannot be opened.
    """
    if str(path) == STDIN or (FilePath(path).exists() and not FilePath(path).is_file()):
        raise ValueError(f"Parquet cannot be read from a pipe, got {name_input(path)}; give a file")
    arrow = import_pyarrow("lib", path)
    try:
        with import_pyarrow("parquet", path).ParquetFile(path) as file:
            names = file.schema_arrow.names
            if not set(COLUMNS) <= set(names):
                raise ValueError(f"{path} must have columns source and target, got {', '.join(names)}")
            for batch in file.iter_batches(ROWS):
                yield from map(_to_lists, batch.to_pylist())
    except (arrow.ArrowException, KeyError, UnicodeDecodeError, OSError) as error:
        if isinstance(error, OSError) and error.errno:  # about the file, not its content
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
        raise ValueError(f"{path} is not valid Parquet: {error}") from error


def _to_lists(row: dict[str, Any]) -> dict[str, Any]:
    """Replace structs by the lists that JSON has, and drop values that are null or NaN."""
    present = {name: value for name, value in row.items() if value is not None and value == value}
    for name in STRUCTS.keys() & present.keys():
        if isinstance(present[name], list):
            present[name] = [[*one.values()] if isinstance(one, dict) else one for one in present[name]]
    return present


def write(items: Iterable[Item], file: BinaryIO, *, phrases: bool = False) -> None:
    """Write items as rows. The same items give the same bytes.

    The types of further fields are those of the first 1,024 rows.

    Args:
        items: Alignments, or any other items with words.
        file: Binary file to write to.
        phrases: Whether to add the phrases of alignments.

    Raises:
        ValueError: If a field of a later row is of another type.
    """
    arrow, parquet = import_pyarrow(), import_pyarrow("parquet")
    rows = (_to_row(item, phrases) for item in items)
    first = list(islice(rows, ROWS))
    schema = _make_schema(arrow, first)
    rows = chain(first, rows)
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        while batch := list(islice(rows, ROWS)):
            try:
                for row in batch:
                    if unknown := row.keys() - set(schema.names):
                        raise ValueError(f"the field {min(unknown)!r} is not in the first rows")
                writer.write_table(arrow.Table.from_pylist(batch, schema))
            except (arrow.ArrowException, ValueError) as error:
                raise ValueError(
                    f"further fields must have the same types in all rows: {error}; write jsonl"
                ) from None


def _to_row(item: Item, phrases: bool) -> dict[str, Any]:
    if isinstance(item, WordlessLinks):
        raise ValueError("parquet holds sentences, but these links have no words; give them with words=")
    if isinstance(item, Unaligned):
        return _to_structs(item._asdict() | dict(item.fields or {}))
    return _to_structs(item.to_dict(phrases=phrases) if isinstance(item, Alignment) else item.to_dict())


def _to_structs(data: dict[str, Any]) -> dict[str, Any]:
    """Replace the lists that JSON has by structs with named fields, where they have as many values."""
    for column in STRUCTS.keys() & data.keys():
        names, values = STRUCTS[column], data[column]
        if isinstance(values, list) and all(isinstance(v, list) and len(v) == len(names) for v in values):
            data[column] = [dict(zip(names, value, strict=True)) for value in values]
    return data


def _make_schema(arrow: Any, rows: list[dict[str, Any]]) -> Any:
    """Return the columns of alignments, or of the other content of the rows, and of their further fields."""
    words, index, weight = arrow.list_(arrow.string()), arrow.int32(), arrow.float64()
    link = arrow.struct([("source", index), ("target", index), ("weight", weight)])
    span = arrow.struct([("start", index), ("end", index)])
    known = {
        **dict.fromkeys(COLUMNS, words),
        "links": arrow.list_(link),
        **{f"{side}_nulls": arrow.list_(index) for side in COLUMNS},
        **{f"{side}_spans": arrow.list_(span) for side in COLUMNS},
        **{f"{side}_null_confidence": arrow.list_(weight) for side in COLUMNS},
    }
    names = dict.fromkeys(name for row in rows for name in row)
    if PHRASES in names:
        sides = [(side, arrow.list_(index)) for side in COLUMNS]
        known[PHRASES] = arrow.list_(arrow.struct([*sides, ("weight", weight), ("type", arrow.string())]))
    if rows and "links" not in names:  # sentences, or gold
        texts = isinstance(rows[0]["source"], str)
        pairs = arrow.list_(arrow.list_(index))
        known = dict.fromkeys(COLUMNS, arrow.string() if texts else words)
        known |= {level: pairs for level in ("sure", "possible") if level in names}
    return arrow.schema(
        [*known.items(), *((name, _infer(arrow, name, rows)) for name in names if name not in known)]
    )


def _infer(arrow: Any, name: str, rows: Iterable[Mapping[str, Any]]) -> Any:
    """Return the type of a further field; text, if it is null in all rows."""
    try:
        type_ = arrow.array([row.get(name) for row in rows]).type
    except (arrow.ArrowException, OverflowError) as error:
        raise ValueError(f"the field {name!r} cannot be written as parquet: {error}; write jsonl") from None
    return arrow.string() if type_ == arrow.null() else type_


def import_pyarrow(part: str = "", path: Path = "the output") -> Any:
    """Import pyarrow or a part of it.

    Args:
        part: Name of a submodule, or nothing for the package.
        path: Name of the file that needs it, for the message.

    Returns:
        The module.

    Raises:
        ImportError: If pyarrow is not installed.
    """
    try:
        return import_module(f"pyarrow.{part}" if part else "pyarrow")
    except ImportError:
        raise ImportError(f"{path} needs pyarrow for Parquet; pip install 'otalign[parquet]'") from None
