"""Files as numbered lines, plain or compressed (.gz, .zst by suffix), and words as text.

A line ends at LF only, so that the lines of parallel files correspond: a lone CR, U+2028 and the like are
letters. The CR of a CRLF and a byte order mark at the start of a file are dropped, and the last line need not
end with LF. Bytes are decoded when the text of a line is used, so that invalid UTF-8 affects that line only.
Words are separated by spaces and tabs; a no-break space is a letter.
"""

import gzip
import os
import re
import sys
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from io import BufferedReader, RawIOBase
from os import PathLike
from typing import Any, BinaryIO, NamedTuple, cast

Path = str | PathLike[str]

STDIN = "-"  # name of standard input
PACKED = (".gz", ".zst")
OTHER_PACKED = (".7z", ".br", ".bz2", ".lz4", ".lzma", ".rar", ".xz", ".zip")  # neither read nor written
MAX_LINE_BYTES = 1 << 24
SHOWN = 100  # characters of a bad line in its message
BLOCK = 1 << 20  # bytes to skip at a time
RECORD_BYTES = 1 << 26
HEAD_BYTES = 1 << 16  # bytes from which the format of a file is guessed
LINE_OVERHEAD = 200  # bytes that a line takes in memory besides its own
UNPACK = ", not {0}; unpack it ({0} -dc), or give a file whose name ends in .gz or .zst"
NO_TEXT = {  # first bytes of what may be taken for text, and what to do
    b"\x1f\x8b": UNPACK.format("gzip"),
    b"\x28\xb5\x2f\xfd": UNPACK.format("zstd"),
    **dict.fromkeys((BOM_UTF16_LE, BOM_UTF16_BE), ", not UTF-16; convert it (iconv -f utf-16 -t utf-8)"),
}
NO_WORD = re.compile("[ \t\r\n\ufeff]|^$")
NO_LINE = re.compile("[\r\n\ufeff]")


class Line(NamedTuple):
    """A line of a file.

    Attributes:
        path: Name of the file.
        number: Number of the line, from 1.
        raw: Its bytes, without the line end; the first ones only if it exceeds a limit.
        limit: The limit that it exceeds, if any.

    Example:
        >>> from otalign.io import Line
        >>> Line("a.txt", 1, "déjà vu".encode()).text
        'déjà vu'
    """

    path: str
    number: int
    raw: bytes
    limit: str = ""

    @property
    def text(self) -> str:
        """The line as text; BadLine if it exceeds a limit or is not UTF-8."""
        if self.limit:
            raise BadLine(self, "more", f"at most {self.limit}")
        try:
            return self.raw.decode()
        except UnicodeDecodeError as error:
            found = f"byte 0x{self.raw[error.start]:02x} at position {error.start + 1}"
            remedies = (NO_TEXT[head] for head in NO_TEXT if self.number == 1 and self.raw.startswith(head))
            raise BadLine(self, found, f"UTF-8{next(remedies, '')}") from None


class FileSection(list[Line]):
    """The lines of one pair, at most `RECORD_BYTES` of them; a further line is marked as beyond the limit."""

    size = 0

    def add(self, line: Line) -> None:
        """Append a line, unless the limit is reached."""
        self.size += len(line.raw) + LINE_OVERHEAD
        if self.size <= RECORD_BYTES:
            self.append(line)
        elif not self[-1].limit:
            limit = f"{RECORD_BYTES:,} bytes in the lines of a pair"
            self.append(line._replace(raw=line.raw[:SHOWN], limit=limit))


class BadLine(ValueError):
    """An error in a line of a file.

    Attributes:
        line: The line.
        found: What it holds; or the whole error, if nothing is given as expected.
        expected: What the format requires.

    Example:
        >>> from otalign.io import BadLine, Line
        >>> print(BadLine(Line("links.txt", 2, b"0-0 1:1"), "1:1", "links such as 0-0"))
        links.txt, line 2: found 1:1, expected links such as 0-0
    """

    def __init__(self, line: Line, found: str, expected: str = "") -> None:
        super().__init__(line, found, expected)
        self.line, self.found, self.expected = line, found, expected

    def __str__(self) -> str:
        found = self.found if len(self.found) <= SHOWN else self.found[:SHOWN] + "…"
        message = f"found {found}, expected {self.expected}" if self.expected else found
        return f"{self.line.path}, line {self.line.number}: {message}"


def name_input(path: Path) -> str:
    """Return what errors call an input: its path, or standard input."""
    return "standard input" if str(path) == STDIN else str(path)


def read_lines(path: Path, max_bytes: int = MAX_LINE_BYTES) -> Iterator[Line]:
    """Read a file line by line, in constant memory.

    Args:
        path: The file, or `-` for standard input.
        max_bytes: Bytes of the longest line to read; the text of a longer one raises BadLine.

    Yields:
        The lines.

    Raises:
        BadLine: The file is compressed, and damaged or incomplete.
    """
    name, number = name_input(path), 0
    with open_input(path) as file:
        try:
            while raw := file.readline(max_bytes + 1):
                number += 1
                if number == 1:
                    raw = raw.removeprefix(BOM_UTF8)
                    if not raw:  # an empty file with a byte order mark
                        return
                if len(raw) > max_bytes and not raw.endswith(b"\n"):
                    yield Line(name, number, raw[:SHOWN], f"{max_bytes:,} bytes a line (max_line_bytes)")
                    while raw and not raw.endswith(b"\n"):
                        raw = file.readline(BLOCK)
                else:
                    yield Line(name, number, raw.removesuffix(b"\n").removesuffix(b"\r"))
        except EOFError:
            end = Line(name, number + 1, b"")
            raise BadLine(end, "the end of a truncated compressed file", "the complete file") from None
        except _list_damage_errors(path) as error:
            end = Line(name, number + 1, b"")
            raise BadLine(end, f"a damaged compressed file ({error})", "an intact file") from None
        except OSError as error:
            raise _name_file(error, path) from None


@contextmanager
def open_input(path: Path) -> Iterator[BinaryIO]:
    """Open a file to read its bytes, decompressed according to its suffix.

    Args:
        path: The file, or `-` for standard input.

    Yields:
        The open file.
    """
    name = str(path)
    if name == STDIN:
        if sys.stdin is None:
            raise ValueError("standard input is closed; open it, or name a file")
        peeked = _peeked.pop(STDIN, None)
        yield peeked if peeked and peeked.raw.rest is sys.stdin.buffer else sys.stdin.buffer
        return
    _check_packing(name)
    with ExitStack() as stack:
        file: Any = stack.enter_context(_peeked.pop(name, None) or open(path, "rb"))  # noqa: SIM115
        if name.endswith(".gz"):
            file = stack.enter_context(gzip.GzipFile(fileobj=file))
        elif name.endswith(".zst"):
            file = stack.enter_context(_import_zstd(path).ZstdFile(file))
        yield file


_peeked: dict[str, Any] = {}  # readers of pipes whose first bytes were read, by name


def peek(path: Path, *, line: bool = False) -> bytes:
    """Return the first bytes of a file, decompressed; what is read from a pipe is read again afterwards.

    Args:
        path: The file, or `-` for standard input.
        line: Whether one line of a pipe is enough, so that its reader need not wait for more.

    Returns:
        At most `HEAD_BYTES`; nothing if the file is damaged.
    """
    name = str(path)
    if name != STDIN and os.path.isfile(path):
        try:
            with open_input(path) as file:
                return _check_text(path, file.read(HEAD_BYTES))
        except (EOFError, *_list_damage_errors(path)):
            return b""
        except OSError as error:
            raise _name_file(error, path) from None
    with ExitStack() as stack:
        source: Any = sys.stdin.buffer if name == STDIN else stack.enter_context(open(path, "rb"))
        head = b""
        while len(head) < HEAD_BYTES and not (line and b"\n" in head):
            if not (part := source.read1(HEAD_BYTES - len(head))):
                break
            head += part
        _peeked[name] = BufferedReader(_Replay(head, source))
        stack.pop_all()
    return _check_text(path, head)


class _Replay(RawIOBase):
    """Some bytes that were already read from a file, then the rest of the file."""

    def __init__(self, head: bytes, rest: Any) -> None:
        self.head, self.rest = head, rest

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        if sys.stdin is None or self.rest is not sys.stdin.buffer:
            self.rest.close()
        super().close()

    def readinto(self, buffer: Any, /) -> int:
        size = len(buffer)
        part, self.head = (self.head[:size], self.head[size:]) if self.head else (self.rest.read1(size), b"")
        buffer[: len(part)] = part
        return len(part)


@contextmanager
def compress(file: BinaryIO, name: str) -> Iterator[BinaryIO]:
    """Wrap an open file so that its content is compressed according to the suffix of a name.

    Args:
        file: The file to write to.
        name: Name with the suffix .gz, .zst or any other, which means no compression.

    Yields:
        The file to write uncompressed bytes to.
    """
    _check_packing(name)
    if name.endswith(".gz"):  # without name and time in the header, so that the bytes are reproducible
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as compressed:
            yield cast(BinaryIO, compressed)
    elif name.endswith(".zst"):
        zstd = _import_zstd(name)
        options = {zstd.CompressionParameter.checksum_flag: 1}  # as the programs zstd and gzip do
        with zstd.ZstdFile(file, "wb", options=options) as compressed:
            yield compressed
    else:
        yield file


def _name_file(error: OSError, path: Path) -> OSError:
    """Return an error with the name of its file, which Python leaves out once the file is open."""
    return error if error.filename else OSError(error.errno, error.strerror, name_input(path))


def _check_text(path: Path, head: bytes) -> bytes:
    """Return the first bytes of a file, or raise BadLine if they are those of another encoding."""
    if head.startswith(tuple(NO_TEXT)):
        _ = Line(name_input(path), 1, head).text
    return head


def _check_packing(name: str) -> None:
    """Check that a name does not stand for a compression that is unknown here."""
    suffix = os.path.splitext(name)[1].lower()
    if suffix in OTHER_PACKED:
        raise ValueError(
            f"{name} ends in {suffix}, a compression that is not supported; use .gz, .zst or none"
        )


def _import_zstd(path: Path) -> Any:
    """Import Python's module for .zst, or its backport for versions before 3.14."""
    for name in ("compression.zstd", "backports.zstd"):
        with suppress(ImportError):
            return import_module(name)
    raise ImportError(
        f"{path} needs zstd, which comes with Python 3.14 or the package backports.zstd; "
        "pip install 'otalign[zst]', or decompress the file"
    )


def _list_damage_errors(path: Path) -> tuple[type[Exception], ...]:
    zst = (_import_zstd(path).ZstdError,) if str(path).endswith(".zst") else ()
    return gzip.BadGzipFile, zlib.error, *zst


def split_words(text: str) -> tuple[str, ...]:
    """Split a text at spaces and tabs."""
    return tuple(filter(None, text.replace("\t", " ").split(" ")))


def join_words(words: Sequence[str]) -> str:
    """Join words to a line that `split_words` splits into the same words."""
    for word in words:
        if NO_WORD.search(word):
            raise ValueError(f"the word {word!r} is empty or contains a space or line end; write jsonl")
    return " ".join(words)
