"""Sentence pairs as a command takes them: two sentences, two files, one file, a corpus, standard input.

Files are read through once before the work, so that errors in them are found at the start; but not pipes,
FIFOs and standard input, which can be read only once.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from otalign.io import CORPORA, FORMATS, Item, ReaderLimits, TextPair, load, read
from otalign.io.items import make_sentences
from otalign.io.limits import DEFAULT_LIMITS
from otalign.io.lines import PACKED, STDIN, read_lines
from otalign.io.parquet import Rows
from otalign.text.words import Sentence

PARQUET = "parquet"
if TYPE_CHECKING:
    InputFormat = str
else:
    InputFormat = Literal[*(name for name, form in FORMATS.items() if not form.wordless), PARQUET]


@dataclass(frozen=True)
class Pairs:
    """Pairs of sentences, which are read when they are iterated over."""

    items: Iterable[Item]
    pretokenized: bool
    files: tuple[str, ...] = ()
    count: int | None = None  # if it is known
    rereadable: bool = True  # or else they can be read only once

    def __iter__(self) -> Iterator[tuple[Sentence, Sentence]]:
        return (make_sentences(item, self.pretokenized) for item in self.items)


def check_input(name: str) -> bool:
    """Check that an input can be read.

    Args:
        name: The path of a file, a FIFO or a device, or `-` for standard input.

    Returns:
        Whether it can be read more than once.

    Raises:
        ValueError: There is no such file, it is a folder, or standard input is closed.
    """
    if name == STDIN:
        if sys.stdin is None:
            raise ValueError("standard input is closed; give a file, or open it")
        return False
    if Path(name).is_dir():
        raise ValueError(f"{name} is a folder; give a file")
    if not Path(name).exists():
        raise ValueError(f"there is no file {name}")
    return Path(name).is_file()


def read_pairs(
    inputs: Sequence[str],
    format: str | None,
    pretokenized: bool,
    split: str,
    data: Path | None,
    *,
    limits: ReaderLimits = DEFAULT_LIMITS,
    read_before: bool = True,
) -> Pairs:
    """Return the sentence pairs that the arguments of a command stand for.

    Args:
        inputs: Two sentences, two files, one file or the name of a corpus; none is standard input.
        format: Format of a file, or None to guess it from the name.
        pretokenized: Whether the words of a text are separated by blanks.
        split: Split of a corpus.
        data: Folder of the corpora.
        limits: The largest line and the largest sentence to accept.
        read_before: Whether to read files through once, to find errors before the work.
    """
    if len(inputs) > 2:
        raise ValueError(
            f"give two sentences, two files or one file, got {len(inputs)} of them; "
            "put a sentence between quotation marks"
        )
    if len(inputs) == 2 and not any(map(_names_a_file, inputs)):
        return Pairs([TextPair(*inputs)], pretokenized, count=1)
    if len(inputs) == 1 and inputs[0] in CORPORA:
        golds = load(inputs[0], split, data)
        return Pairs(golds, pretokenized, tuple(inputs), len(golds))
    files = tuple(inputs) or (STDIN,)
    checked = [check_input(file) for file in files]
    rereadable = all(checked)
    if files == (STDIN,) and sys.stdin.isatty():
        raise ValueError("give two sentences, two files, or one file with both; see otalign align --help")
    if files == (STDIN, STDIN):
        raise ValueError("only one of the two files can be standard input")
    read_before = read_before and rereadable
    if len(files) == 2 and format in (None, "parallel") and read_before:
        _check_equal_lengths(files)
    form = format or _guess_format(files)
    if form == PARQUET:
        if not rereadable:
            raise ValueError(f"Parquet cannot be read from a pipe, got {files[0]}; give a file")
        reading = Rows(files[0], limits, pretokenized)
    else:
        reading = read(files, form, limits=limits, pretokenized=pretokenized)
    count = sum(1 for _ in reading) if read_before else None
    return Pairs(reading, pretokenized, files, count, rereadable)


def _names_a_file(text: str) -> bool:
    """Return whether a file has this name, or whether it looks like one and would be a strange sentence."""
    try:
        exists = Path(text).exists() and not Path(text).is_dir()
    except (OSError, ValueError):  # too long for a name, or a letter that none may have
        return False
    looks_so = Path(text).suffix.lower() in (".txt", ".tsv", ".jsonl", ".parquet", *PACKED)
    return exists or text == STDIN or (looks_so and " " not in text)


def _guess_format(files: Sequence[str]) -> str:
    if len(files) == 2:
        return "parallel"
    name = Path(files[0])
    while name.suffix in PACKED:
        name = name.with_suffix("")
    if name.suffix == ".parquet":
        return PARQUET
    return "jsonl" if name.suffix in (".jsonl", ".json") else "tsv"


def _check_equal_lengths(files: Sequence[str]) -> None:
    first, second = (sum(1 for _ in read_lines(file)) for file in files)
    if first != second:
        raise ValueError(
            f"{files[0]} has {first:,} lines and {files[1]} has {second:,}; "
            "line n of one must belong to line n of the other"
        )
