"""Guesses of file formats, from the suffix of a name or from the first lines of the content."""

from pathlib import Path as FilePath

from otalign.io.brackets import HEADER
from otalign.io.csv_rows import find_delimiter
from otalign.io.lines import PACKED, STDIN, Path, peek, split_words
from otalign.io.links import NAACL_LINE, PHARAOH, LinkParser
from otalign.io.parquet import PARQUET

SUFFIXES = {  # and the formats that may be written under them; the first is read and written by default
    ".jsonl": ("jsonl",),
    ".ndjson": ("jsonl",),
    ".json": ("jsonl",),
    ".parquet": (PARQUET,),
    ".csv": ("csv",),
    ".wa": ("ists",),
    ".talp": ("talp",),
    ".a3": ("a3",),
    ".tsv": ("columns", "tsv", "multimwa"),
}
AMBIGUOUS = (".tsv",)  # suffixes of several formats, which only the content distinguishes
TALP_LINES = 5  # lines of links, none of which uses position 0, that are taken to count from 1


def get_suffix(path: Path) -> str:
    """Return the last suffix of a name in lower case, without that of a compressed file."""
    name = FilePath(path)
    while name.suffix.lower() in PACKED:
        name = name.with_suffix("")
    return name.suffix.lower()


def guess_format(path: Path, *, stream: bool = False) -> str | None:
    """Guess the format of a file from its name or its first lines.

    Args:
        path: The file, or `-` for standard input. What is read from a pipe is not lost.
        stream: Whether one line of a pipe must be enough.

    Returns:
        Name of the format; None if it cannot be guessed.

    Example:
        >>> from pathlib import Path
        >>> from otalign.io import guess_format
        >>> _ = Path("links.txt").write_text("0-0 1-2")
        >>> guess_format("links.txt"), guess_format("pairs.ndjson")
        ('pharaoh', 'jsonl')
    """
    suffix = get_suffix(path)
    if str(path) != STDIN and suffix in SUFFIXES and suffix not in AMBIGUOUS:
        return SUFFIXES[suffix][0]
    return guess_from_content(peek(path, line=stream))


def guess_from_content(head: bytes) -> str | None:
    """Guess the format from the first bytes of a file; None if they fit none."""
    if head.startswith(b"PAR1"):
        return PARQUET
    whole, _, _ = head.rpartition(b"\n") if b"\n" in head else (head, b"", b"")
    lines = [line for line in whole.decode(errors="replace").lstrip("\ufeff").split("\n") if line.strip("\r")]
    if not lines:
        return None
    first = lines[0].removesuffix("\r")
    if first.lstrip().startswith("{"):
        return "jsonl"
    if first.startswith("<sentence"):
        return "ists"
    if HEADER.match(first.encode()):
        return "msr-rte" if any("/ / }" in line for line in lines[:3]) else "a3"
    return _guess_line_format(first, lines)


def _guess_line_format(first: str, lines: list[str]) -> str | None:
    cells = first.split("\t")
    tokens = split_words(cells[0])
    if tokens and all(map(PHARAOH.pattern.fullmatch, tokens)):
        return "talp" if _counts_from_one(lines) else "pharaoh"
    if NAACL_LINE.fullmatch(first):
        return "naacl"
    if find_delimiter(first):
        return "csv"
    if "|||" in first:
        return "bars"
    if len(cells) == 2:
        return "tsv"
    if 3 <= len(cells) <= 8 and all(map(PHARAOH.pattern.fullmatch, split_words(cells[2]))):
        return "columns"
    return "multimwa" if len(cells) >= 9 else None


def _counts_from_one(lines: list[str]) -> bool:
    """Return whether enough lines have links, and none has the position 0."""
    parser = LinkParser("-p?")
    positions = []
    for line in lines:
        for token in split_words(line.split("\t")[0].removesuffix("\r")):
            if not parser.pattern.fullmatch(token):
                return False
            positions += parser[token]
    return len(lines) >= TALP_LINES and bool(positions) and min(positions) > 0
