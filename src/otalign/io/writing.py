"""Output formats of aligned pairs: a line per alignment, and for shards a file suffix."""

import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from otalign.alignment import Alignment

LINES = ("pharaoh", "jsonl", "tsv")
SUFFIXES = {
    "jsonl": ".jsonl",
    "jsonl.gz": ".jsonl.gz",
    "parquet": ".parquet",
    "pharaoh": ".txt",
    "tsv": ".tsv",
}


@dataclass(frozen=True)
class OutputFormat:
    """A format of aligned pairs.

    Attributes:
        name: One of `SUFFIXES`.
        weights: Whether formats of links alone have a column of weights.
        nulls: Whether formats of links alone have columns of null words.
    """

    name: str
    weights: bool = False
    nulls: bool = False

    def __post_init__(self) -> None:
        if self.name not in SUFFIXES:
            raise ValueError(f"format must be one of {', '.join(SUFFIXES)}, got {self.name!r}")

    @property
    def suffix(self) -> str:
        """Suffix of a file in this format."""
        return SUFFIXES[self.name]

    def line(self, alignment: Alignment) -> str:
        """Format an alignment as one of `LINES`, without the line end."""
        if self.name.startswith("jsonl"):
            return json.dumps(alignment.to_dict(), ensure_ascii=False, allow_nan=False)
        return "\t".join(self._cells(alignment))

    def write(self, alignments: Iterable[Alignment], file: BinaryIO) -> None:
        """Write a whole file. The same alignments give the same bytes.

        Args:
            alignments: The alignments.
            file: Binary file to write to.
        """
        if self.name == "parquet":
            from otalign.io.parquet import write

            write(alignments, file)
        elif self.name.endswith(".gz"):  # no name and time in the header: reproducible
            with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                self._write_lines(alignments, packed)
        else:
            self._write_lines(alignments, file)

    def _write_lines(self, alignments: Iterable[Alignment], file: BinaryIO | gzip.GzipFile) -> None:
        for alignment in alignments:
            file.write(self.line(alignment).encode() + b"\n")

    def _cells(self, alignment: Alignment) -> Iterator[str]:
        if self.name == "tsv":
            yield from (" ".join(map(_on_a_line, side)) for side in (alignment.source, alignment.target))
        yield alignment.pharaoh()
        if self.weights:
            yield " ".join(f"{link.weight:g}" for link in alignment.links)
        if self.nulls:
            yield from (" ".join(map(str, side)) for side in (alignment.source_nulls, alignment.target_nulls))


def _on_a_line(word: str) -> str:
    """Replace tabs and line ends in a word, which only words from jsonl can contain."""
    return word.translate({ord(letter): " " for letter in "\t\n\r"})
