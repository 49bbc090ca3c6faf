"""Files as numbered lines, plain or packed (.gz, .zst by suffix), and words as text.

A line ends at LF and nowhere else, so that files beside each other keep their places: a lone CR, U+2028 and
their like are letters. The CR of a CRLF and a byte order mark at the start of a file are dropped; a missing
last line end is no matter. Bytes that are not UTF-8 are met when the line is used, and spoil that line alone.
Words are what stands between spaces and tabs; a no-break space is a letter.
"""

import gzip
import re
import sys
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from os import PathLike
from typing import Any, BinaryIO, NamedTuple, cast

Path = str | PathLike[str]

STDIN = "-"  # the name by which standard input is read
PACKED = (".gz", ".zst")
MAX_LINE_BYTES = 1 << 24
SHOWN = 100  # letters of a bad line that its message shows
BLOCK = 1 << 20  # bytes at a time of what is passed over
RECORD_BYTES = 1 << 26
LINE_OVERHEAD = 200  # bytes that a line takes in memory besides its own
NO_WORD = re.compile("[ \t\r\n\ufeff]|^$")
NO_LINE = re.compile("[\r\n\ufeff]")


class Line(NamedTuple):
    """A line of a file, counted from 1. One beyond a limit names it and holds its start alone."""

    path: str
    number: int
    raw: bytes
    limit: str = ""

    @property
    def text(self) -> str:
        if self.limit:
            raise BadLine(self, "more", f"at most {self.limit}")
        try:
            return self.raw.decode()
        except UnicodeDecodeError as error:
            byte = self.raw[error.start]
            raise BadLine(self, f"byte 0x{byte:02x} at position {error.start + 1}", "UTF-8") from None


class FileSection(list[Line]):
    """The lines of one pair. They may be many, so no more than `RECORD_BYTES` of them are kept."""

    size = 0

    def add(self, line: Line) -> None:
        self.size += len(line.raw) + LINE_OVERHEAD
        if self.size <= RECORD_BYTES:
            self.append(line)
        elif not self[-1].limit:
            limit = f"{RECORD_BYTES:,} bytes in the lines of a pair"
            self.append(line._replace(raw=line.raw[:SHOWN], limit=limit))


class BadLine(ValueError):
    """A line that is not what its format says: where, what was found, what was expected."""

    def __init__(self, line: Line, found: str, expected: str):
        super().__init__(line, found, expected)
        self.line, self.found, self.expected = line, found, expected

    def __str__(self) -> str:
        found = self.found if len(self.found) <= SHOWN else self.found[:SHOWN] + "…"
        return f"{self.line.path}, line {self.line.number}: found {found}, expected {self.expected}"


def lines(path: Path, max_bytes: int = MAX_LINE_BYTES) -> Iterator[Line]:
    """Read a file line by line, in constant memory.

    Args:
        path: The file, or `-` for standard input.
        max_bytes: The longest line that is read; a longer one is bad when its text is asked for.

    Yields:
        The lines.

    Raises:
        BadLine: The file is compressed, and damaged or incomplete.
    """
    name, number = "standard input" if str(path) == STDIN else str(path), 0
    with open_input(path) as file:
        try:
            while raw := file.readline(max_bytes + 1):
                number += 1
                if number == 1:
                    raw = raw.removeprefix(BOM_UTF8)
                    if not raw:  # the mark was all there is: an empty file
                        return
                if len(raw) > max_bytes and not raw.endswith(b"\n"):
                    yield Line(name, number, raw[:SHOWN], f"{max_bytes:,} bytes a line (max_line_bytes)")
                    while raw and not raw.endswith(b"\n"):
                        raw = file.readline(BLOCK)
                else:
                    yield Line(name, number, raw.removesuffix(b"\n").removesuffix(b"\r"))
        except EOFError:
            end = Line(name, number + 1, b"")
            raise BadLine(end, "the end of a packed file that is cut short", "all of it") from None
        except _errors_of_damage(path) as error:
            end = Line(name, number + 1, b"")
            raise BadLine(end, f"a damaged packed file ({error})", "one that can be unpacked") from None


@contextmanager
def open_input(path: Path) -> Iterator[BinaryIO]:
    """Open a file to read its bytes, decompressed as its suffix says; `-` is standard input."""
    name = str(path)
    if name == STDIN:
        if sys.stdin is None:
            raise ValueError("standard input is closed; give a file, or open it")
        yield sys.stdin.buffer
        return
    with ExitStack() as stack:
        file: Any = stack.enter_context(open(path, "rb"))
        if name.endswith(".gz"):
            file = stack.enter_context(gzip.GzipFile(fileobj=file))
        elif name.endswith(".zst"):
            file = stack.enter_context(_zstd(path).ZstdFile(file))
        yield file


@contextmanager
def compress(file: BinaryIO, name: str) -> Iterator[BinaryIO]:
    """Wrap an open file so that what is written is compressed as the suffix of `name` says."""
    if name.endswith(".gz"):  # without the name and the time that gzip would put in front
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            yield cast(BinaryIO, packed)
    elif name.endswith(".zst"):
        zstd = _zstd(name)
        checked = {zstd.CompressionParameter.checksum_flag: 1}  # as the program zstd does, and gzip always
        with zstd.ZstdFile(file, "wb", options=checked) as packed:
            yield packed
    else:
        yield file


def _zstd(path: Path) -> Any:
    """Python's module for .zst, or the package that brings it to versions before 3.14."""
    for name in ("compression.zstd", "backports.zstd"):
        with suppress(ImportError):
            return import_module(name)
    raise ImportError(
        f"{path} needs zstd, which comes with Python 3.14 or the package backports.zstd; "
        "pip install 'otalign[zst]', or unpack the file"
    )


def _errors_of_damage(path: Path) -> tuple[type[Exception], ...]:
    zst = (_zstd(path).ZstdError,) if str(path).endswith(".zst") else ()
    return gzip.BadGzipFile, zlib.error, *zst


def split(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text.replace("\t", " ").split(" ")))


def join_words(words: Sequence[str]) -> str:
    """The words as a line that `split` takes apart into the same words."""
    for word in words:
        if NO_WORD.search(word):
            raise ValueError(f"the word {word!r} is empty or holds a blank or line end; write jsonl")
    return " ".join(words)
