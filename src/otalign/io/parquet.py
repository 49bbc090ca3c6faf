"""Parquet, some rows at a time: pairs read from columns `source` and `target`, alignments written as columns
of the names that they have in JSON. It needs pyarrow, the extra `parquet`."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from typing import Any, BinaryIO

from otalign.alignment import Alignment
from otalign.io.items import TextPair, WordPair
from otalign.io.limits import DEFAULT_LIMITS, ReaderLimits
from otalign.io.lines import Path

ROWS = 1024  # held at a time
COLUMNS = ("source", "target")


@dataclass(frozen=True)
class Rows:
    """The pairs of a file, read anew each time they are asked for: texts, or lists of words."""

    path: Path
    limits: ReaderLimits = DEFAULT_LIMITS
    pretokenized: bool = False  # texts, whose words are counted

    def __iter__(self) -> Iterator[TextPair | WordPair]:
        arrow = library("lib", self.path)
        try:
            yield from self._pairs()
        except (arrow.ArrowException, KeyError, UnicodeDecodeError, OSError) as error:
            if isinstance(error, OSError) and error.errno:  # of the file, not of its content
                raise
            raise ValueError(f"{self.path} is not valid Parquet: {error}") from error

    def _pairs(self) -> Iterator[TextPair | WordPair]:
        with library("parquet", self.path).ParquetFile(self.path) as file:
            absent = [name for name in COLUMNS if name not in file.schema_arrow.names]
            if absent:
                found = ", ".join(file.schema_arrow.names)
                raise ValueError(f"{self.path} must have columns source and target, got {found}")
            number = 0
            for batch in file.iter_batches(ROWS, columns=list(COLUMNS)):
                for source, target in zip(*(batch[name].to_pylist() for name in COLUMNS), strict=True):
                    number += 1
                    yield self._pair(number, source, target)

    def _pair(self, number: int, source: Any, target: Any) -> TextPair | WordPair:
        match source, target:
            case str(), str():
                pair = TextPair(source, target)
            case [*_], [*_] if all(isinstance(word, str) for side in (source, target) for word in side):
                pair = WordPair(tuple(source), tuple(target))
            case _:
                found = f"{source!r:.100} and {target!r:.100}"
                raise ValueError(
                    f"{self.path}, row {number}: found {found}, expected two texts or two lists of words"
                )
        if excess := self.limits.find_excess(pair, self.pretokenized):
            raise ValueError(f"{self.path}, row {number}: found {excess[0]}, expected {excess[1]}")
        return pair


def write(alignments: Iterable[Alignment], file: BinaryIO) -> None:
    """Write alignments as rows. The same alignments give the same bytes."""
    arrow, parquet = library(), library("parquet")
    schema = _schema(arrow)
    rows = (alignment.to_dict() for alignment in alignments)
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        while held := [_row(row) for row in islice(rows, ROWS)]:
            writer.write_table(arrow.Table.from_pylist(held, schema))


def _schema(arrow: Any) -> Any:
    word, place, weight = arrow.list_(arrow.string()), arrow.int32(), arrow.float64()
    link = arrow.struct([("source", place), ("target", place), ("weight", weight)])
    span = arrow.struct([("start", place), ("end", place)])
    return arrow.schema(
        [
            *((side, word) for side in COLUMNS),
            ("links", arrow.list_(link)),
            *((f"{side}_nulls", arrow.list_(place)) for side in COLUMNS),
            *((f"{side}_spans", arrow.list_(span)) for side in COLUMNS),
            *((f"{side}_null_confidence", arrow.list_(weight)) for side in COLUMNS),
        ]
    )


def _row(data: dict[str, Any]) -> dict[str, Any]:
    """What is a list of places in JSON has names in a table."""
    named = {"links": ("source", "target", "weight")} | {
        f"{side}_spans": ("start", "end") for side in COLUMNS
    }
    return data | {
        column: [dict(zip(names, value, strict=True)) for value in data[column]]
        for column, names in named.items()
        if column in data
    }


def library(part: str = "", path: Path = "the output") -> Any:
    """pyarrow or a part of it, loaded when it is asked for."""
    try:
        return import_module(f"pyarrow.{part}" if part else "pyarrow")
    except ImportError:
        raise ImportError(f"{path} needs pyarrow for Parquet; pip install 'otalign[parquet]'") from None
