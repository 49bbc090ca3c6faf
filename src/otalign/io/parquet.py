"""Parquet: pairs from the columns `source` and `target`, alignments as columns named as in JSON.

Files are read and written some rows at a time. It needs pyarrow, the extra `parquet`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from typing import Any, BinaryIO

from otalign.alignment import Alignment
from otalign.io.items import TextPair, WordPair
from otalign.io.limits import DEFAULT_LIMITS, ReaderLimits
from otalign.io.lines import Path

ROWS = 1024  # in memory at a time
COLUMNS = ("source", "target")


@dataclass(frozen=True)
class Rows:
    """The pairs of a file, texts or lists of words. Each iteration reads the file again.

    Attributes:
        path: The file.
        limits: The largest sentence to accept.
        pretokenized: Whether the words of a text are separated by blanks.
    """

    path: Path
    limits: ReaderLimits = DEFAULT_LIMITS
    pretokenized: bool = False

    def __iter__(self) -> Iterator[TextPair | WordPair]:
        arrow = import_pyarrow("lib", self.path)
        try:
            yield from self._read_pairs()
        except (arrow.ArrowException, KeyError, UnicodeDecodeError, OSError) as error:
            if isinstance(error, OSError) and error.errno:  # about the file, not its content
                raise
            raise ValueError(f"{self.path} is not valid Parquet: {error}") from error

    def _read_pairs(self) -> Iterator[TextPair | WordPair]:
        with import_pyarrow("parquet", self.path).ParquetFile(self.path) as file:
            missing = [name for name in COLUMNS if name not in file.schema_arrow.names]
            if missing:
                names = ", ".join(file.schema_arrow.names)
                raise ValueError(f"{self.path} must have columns source and target, got {names}")
            number = 0
            for batch in file.iter_batches(ROWS, columns=list(COLUMNS)):
                for source, target in zip(*(batch[name].to_pylist() for name in COLUMNS), strict=True):
                    number += 1
                    yield self._parse_pair(number, source, target)

    def _parse_pair(self, number: int, source: Any, target: Any) -> TextPair | WordPair:
        match source, target:
            case str(), str():
                pair = TextPair(source, target)
            case [*_], [*_] if all(isinstance(word, str) for side in (source, target) for word in side):
                pair = WordPair(tuple(source), tuple(target))
            case _:
                actual = f"{source!r:.100} and {target!r:.100}"
                raise ValueError(
                    f"{self.path}, row {number}: found {actual}, expected two texts or two lists of words"
                )
        if excess := self.limits.find_excess(pair, self.pretokenized):
            raise ValueError(f"{self.path}, row {number}: found {excess[0]}, expected {excess[1]}")
        return pair


def write(alignments: Iterable[Alignment], file: BinaryIO) -> None:
    """Write alignments as rows. The same alignments give the same bytes.

    Args:
        alignments: The alignments.
        file: Binary file to write to.
    """
    arrow, parquet = import_pyarrow(), import_pyarrow("parquet")
    schema = _make_schema(arrow)
    rows = (alignment.to_dict() for alignment in alignments)
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        while batch := [_name_fields(row) for row in islice(rows, ROWS)]:
            writer.write_table(arrow.Table.from_pylist(batch, schema))


def _make_schema(arrow: Any) -> Any:
    words, index, weight = arrow.list_(arrow.string()), arrow.int32(), arrow.float64()
    link = arrow.struct([("source", index), ("target", index), ("weight", weight)])
    span = arrow.struct([("start", index), ("end", index)])
    return arrow.schema(
        [
            *((side, words) for side in COLUMNS),
            ("links", arrow.list_(link)),
            *((f"{side}_nulls", arrow.list_(index)) for side in COLUMNS),
            *((f"{side}_spans", arrow.list_(span)) for side in COLUMNS),
            *((f"{side}_null_confidence", arrow.list_(weight)) for side in COLUMNS),
        ]
    )


def _name_fields(data: dict[str, Any]) -> dict[str, Any]:
    """Replace the lists that JSON has for links and spans by objects with named fields."""
    fields = {"links": ("source", "target", "weight")} | {
        f"{side}_spans": ("start", "end") for side in COLUMNS
    }
    return data | {
        column: [dict(zip(names, value, strict=True)) for value in data[column]]
        for column, names in fields.items()
        if column in data
    }


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
