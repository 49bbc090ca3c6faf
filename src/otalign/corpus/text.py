"""Files as numbered lines, plain or packed (.gz, .zst by suffix), and words as text.

A line ends at LF and nowhere else, so that files beside each other keep their places: a lone CR, U+2028 and
their like are letters. The CR of a CRLF and a byte order mark at the start of a file are dropped; a missing
last line end is no matter. Bytes that are not UTF-8 are met when the line is used, and spoil that line alone.
Words are what stands between spaces and tabs; a no-break space is a letter.
"""

import gzip
import io
import re
import sys
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any, BinaryIO, NamedTuple, cast

Path = str | PathLike[str]

STDIN = "-"  # the name by which standard input is read
SHOWN = 100  # letters of a bad line that its message shows
NO_WORD = re.compile("[ \t\r\n\ufeff]|^$")
NO_LINE = re.compile("[\r\n\ufeff]")


class Line(NamedTuple):
    """A line of a file, counted from 1."""

    path: str
    number: int
    raw: bytes

    @property
    def text(self) -> str:
        try:
            return self.raw.decode()
        except UnicodeDecodeError as error:
            byte = self.raw[error.start]
            raise BadLine(self, f"byte 0x{byte:02x} at position {error.start + 1}", "UTF-8") from None


class BadLine(ValueError):
    """A line that is not what its format says: where, what was found, what was expected."""

    def __init__(self, line: Line, found: str, expected: str):
        super().__init__(line, found, expected)
        self.line, self.found, self.expected = line, found, expected

    def __str__(self) -> str:
        found = self.found if len(self.found) <= SHOWN else self.found[:SHOWN] + "…"
        return f"{self.line.path}, line {self.line.number}: found {found}, expected {self.expected}"


def lines(path: Path) -> Iterator[Line]:
    name, number = "standard input" if str(path) == STDIN else str(path), 0
    with opened(path, "rb") as file:
        try:
            for number, raw in enumerate(file, 1):
                if number == 1:
                    raw = raw.removeprefix(BOM_UTF8)
                    if not raw:  # the mark was all there is: an empty file
                        return
                yield Line(name, number, raw.removesuffix(b"\n").removesuffix(b"\r"))
        except EOFError:
            end = Line(name, number + 1, b"")
            raise BadLine(end, "the end of a packed file that is cut short", "all of it") from None


def opened(path: Path, mode: str) -> BinaryIO:
    """The file as bytes, "rb" or "wb", unpacked or packed as its suffix says."""
    name = str(path)
    if name == STDIN and mode == "rb":
        return sys.stdin.buffer
    if name.endswith(".gz"):
        return cast(BinaryIO, gzip.open(path, mode))
    if name.endswith(".zst"):
        return _opened_zst(path, mode)
    return cast(BinaryIO, open(path, mode))


def _opened_zst(path: Path, mode: str) -> BinaryIO:
    try:
        from compression import zstd  # pyright: ignore[reportMissingImports]: Python 3.14

        return zstd.open(path, mode)
    except ImportError:
        pass
    try:
        import zstandard  # pyright: ignore[reportMissingImports]: an extra
    except ImportError:
        raise ImportError(
            f"{path} needs zstd, which comes with Python 3.14 or the package zstandard; "
            "pip install 'otalign[zst]', or unpack the file"
        ) from None
    if mode == "wb":
        return cast(BinaryIO, zstandard.open(path, mode))
    # zstandard.open would stop, silently, after the first of several frames.
    packed = open(path, mode)  # noqa: SIM115 (closed with its reader)
    unpacked: Any = zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
    return cast(BinaryIO, io.BufferedReader(unpacked))


def split(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text.replace("\t", " ").split(" ")))


def joined(words: Sequence[str]) -> str:
    """The words as a line that `split` takes apart into the same words."""
    for word in words:
        if NO_WORD.search(word):
            raise ValueError(f"the word {word!r} is empty or holds a blank or line end; write jsonl")
    return " ".join(words)
