"""Alignments as `otalign align` writes them: one by one, or as the files of a large corpus.

Formats have the same names as in `FORMATS`, so that what is written under a name is read under it.
"""

import gzip
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from otalign.alignment import Alignment
from otalign.io.bulk import NO_BREAK, Fields, format_column_lines, format_json_lines
from otalign.io.formats import FORMATS
from otalign.io.tables import format_jsonl

if TYPE_CHECKING:
    from otalign.link_arrays import LinkedPairs

ALIGNMENT_FORMATS = tuple(name for name, form in FORMATS.items() if form.holds_alignments)
SHARD_SUFFIXES = {name: form.shard_suffix for name, form in FORMATS.items() if form.shard_suffix} | {
    "jsonl.gz": ".jsonl.gz",
    "parquet": ".parquet",
}
OUTPUT_FORMATS = tuple(dict.fromkeys((*ALIGNMENT_FORMATS, *SHARD_SUFFIXES)))
EXTRA_COLUMNS = tuple(name for name, form in FORMATS.items() if form.extra_columns)
COMPLETE = (*(name for name, form in FORMATS.items() if form.complete), "jsonl.gz", "parquet")

LEVEL = 6  # gzip level: the highest, 9, takes five times as long, for files that are 3% smaller


@dataclass(frozen=True)
class OutputFormat:
    r"""A format of alignments.

    Attributes:
        name: One of `OUTPUT_FORMATS`.
        weights: Whether to write the weights of links, in formats with columns.
        nulls: Whether to write null words, in formats with columns.
        phrases: Whether to write phrases: a field, or a column, with their weights in another one if there
            are weights.

    Raises:
        ValueError: If there is no such format, or it has no room for weights, nulls and phrases.

    Example:
        >>> from otalign import Alignment, Link
        >>> from otalign.engines import OutputFormat
        >>> alignment = Alignment(("a", "used", "car"), ("a", "car"), (Link(0, 0), Link(2, 1, 0.5)))
        >>> OutputFormat("pharaoh", weights=True).format_alignment(alignment, 1)
        '0-0 2-1\t1 0.5\n'
        >>> OutputFormat("pharaoh", phrases=True).format_alignment(alignment, 1)
        '0-0 2-1\t0:0 2:1\n'
    """

    name: str
    weights: bool = False
    nulls: bool = False
    phrases: bool = False

    def __post_init__(self) -> None:
        if self.name not in OUTPUT_FORMATS:
            raise ValueError(f"format must be one of {', '.join(OUTPUT_FORMATS)}, got {self.name!r}")
        more = self.weights or self.nulls or self.phrases
        if more and self.name not in EXTRA_COLUMNS + COMPLETE:
            able = ", ".join(EXTRA_COLUMNS + COMPLETE)
            raise ValueError(f"weights, nulls and phrases can be written as {able}, not as {self.name}")

    @property
    def suffix(self) -> str:
        """End of the names of its files, for a large corpus."""
        return SHARD_SUFFIXES[self.name]

    def format_alignment(self, alignment: Alignment, number: int) -> str:
        """Return an alignment, counted from 1, as lines with their ends.

        Args:
            alignment: The alignment.
            number: Its number in the file.

        Raises:
            ValueError: If a word cannot be written in this format.
        """
        if self.name in EXTRA_COLUMNS:
            return "\t".join(self._cells(alignment)) + "\n"
        if self.phrases:
            return format_jsonl(alignment, number, phrases=True)
        (write,) = FORMATS[self.name.removesuffix(".gz")].write
        try:
            return write(alignment, number)
        except ValueError as error:
            raise ValueError(f"pair {number} cannot be written as {self.name}: {error}") from error

    def write(self, alignments: Iterable[Alignment], file: BinaryIO) -> None:
        """Write a whole file. The same alignments give the same bytes.

        Args:
            alignments: The alignments.
            file: Binary file to write to.
        """
        if self.name == "parquet":
            from otalign.io.parquet import write

            write(alignments, file, phrases=self.phrases)
        elif self.name.endswith(".gz"):  # without the name and the time that gzip would put in front
            with gzip.GzipFile("", "wb", LEVEL, fileobj=file, mtime=0) as compressed:
                self._write_lines(alignments, compressed)
        else:
            self._write_lines(alignments, file)

    def write_linked_pairs(
        self, linked: Iterable[tuple["LinkedPairs", Iterable[Fields]]], file: BinaryIO
    ) -> None:
        """Write a whole file of links that are arrays. The bytes are those that `write` writes.

        Args:
            linked: Pairs with their links, and the further fields of each pair, chunk by chunk.
            file: Binary file to write to.
        """
        if self.phrases or not (self.name in EXTRA_COLUMNS or self.name in ("jsonl", "jsonl.gz")):
            self.write(_make_alignments(linked), file)
        elif self.name.endswith(".gz"):
            with gzip.GzipFile("", "wb", LEVEL, fileobj=file, mtime=0) as compressed:
                compressed.writelines(self._format_chunks(linked))
        else:
            file.writelines(self._format_chunks(linked))

    def _format_chunks(self, linked: Iterable[tuple["LinkedPairs", Iterable[Fields]]]) -> Iterator[bytes]:
        number = 1
        for chunk, fields in linked:
            if self.name in EXTRA_COLUMNS:
                wordless = FORMATS[self.name].wordless
                lines = format_column_lines(chunk, wordless=wordless, weights=self.weights, nulls=self.nulls)
            else:
                lines = format_json_lines(chunk, fields, number)
            yield "".join(lines).encode()
            number += len(chunk.links.starts) - 1

    def _write_lines(self, alignments: Iterable[Alignment], file: BinaryIO | gzip.GzipFile) -> None:
        for number, alignment in enumerate(alignments, 1):
            file.write(self.format_alignment(alignment, number).encode())

    def _cells(self, alignment: Alignment) -> Iterator[str]:
        if not FORMATS[self.name].wordless:
            for side in (alignment.source, alignment.target):
                yield " ".join(word.translate(NO_BREAK) for word in side)
        yield alignment.pharaoh()
        if self.weights:
            yield " ".join(f"{link.weight:g}" for link in alignment.links)
        if self.nulls:
            yield from (" ".join(map(str, side)) for side in (alignment.source_nulls, alignment.target_nulls))
        if self.phrases:
            yield " ".join(map(str, alignment.phrase_links))
            if self.weights:
                yield " ".join(f"{phrase.weight:g}" for phrase in alignment.phrase_links)


def _make_alignments(linked: Iterable[tuple["LinkedPairs", Iterable[Fields]]]) -> Iterator[Alignment]:
    for chunk, fields in linked:
        for alignment, more in zip(chunk.make_alignments(), fields, strict=True):
            yield alignment.with_fields(more)
