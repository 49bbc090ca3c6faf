"""Sentence pairs as a command takes them: two sentences, two files, one file, a corpus, standard input.

Files are read through once before the work, so that errors in them are found at the start; but not pipes,
FIFOs and standard input, which can be read only once.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from otalign.cli.terminal import with_progress
from otalign.io import CORPORA, FORMATS, Item, ReaderLimits, Reading, TextPair, guess_format, load, read
from otalign.io.files import is_wordless
from otalign.io.guessing import SUFFIXES, get_suffix
from otalign.io.items import make_sentences
from otalign.io.limits import DEFAULT_LIMITS
from otalign.io.lines import PACKED, STDIN, name_input, read_lines
from otalign.io.parquet import PARQUET, Rows
from otalign.quantities import count_noun
from otalign.suggestions import suggest
from otalign.text.words import Sentence

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


def check_input(name: str, *, or_corpus: bool = False, hint: str = "") -> bool:
    """Check that an input can be read.

    Args:
        name: The path of a file, a FIFO or a device, or `-` for standard input.
        or_corpus: Whether it could also be the name of a corpus, for the message.
        hint: What the message adds if there is no file with such a name or a similar one.

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
        names = [*CORPORA, *list_siblings(name)] if or_corpus else list_siblings(name)
        remedy = suggest(name, names) or (f"; the corpora are {', '.join(CORPORA)}" if or_corpus else hint)
        raise ValueError(f"there is no file {'or corpus ' if or_corpus else ''}{name}{remedy}")
    return Path(name).is_file()


def list_siblings(name: str) -> list[str]:
    """Return the names of the files that are where a file should be, as paths in the same form."""
    folder = Path(name).parent
    try:
        return [str(folder / file.name) for file in folder.iterdir()] if folder.is_dir() else []
    except OSError:
        return []


def find_format(name: str, given: str | None, default: str) -> str:
    """Return the format of a file: as given, or guessed from the name or the content, or the default."""
    if given:
        return given
    check_input(name)
    guessed = guess_format(name)
    if guessed == "talp" and get_suffix(name) != ".talp":
        print(
            f"otalign: {name_input(name)} is read as talp, since its links seem to count from 1; if they "
            "count from 0, name the format pharaoh",
            file=sys.stderr,
        )
    return guessed or default


def read_words(
    files: Sequence[Path] | None, format: str | None, limits: ReaderLimits
) -> Reading | Rows | None:
    """Read the words that belong to links without words; None if no file is given.

    Args:
        files: One file, or two with a sentence per line.
        format: Their format, or None to guess it.
        limits: The largest line and sentence to accept.
    """
    if not files:
        return None
    names = [str(file) for file in files]
    for name in names:
        check_input(name)
    format = format or ("parallel" if len(names) == 2 else find_format(names[0], None, "tsv"))
    return read(names, format, limits=limits)


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
        format: Format of a file, or None to guess it from the name or the content.
        pretokenized: Whether the words of a text are separated by spaces.
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
    if len(inputs) == 1 and " " in inputs[0] and not _names_a_file(inputs[0]):
        raise ValueError(f"there is no file named {inputs[0]!r}; to align two sentences, give both")
    files = tuple(inputs) or (STDIN,)
    checked = [check_input(file, or_corpus=len(files) == 1) for file in files]
    rereadable = all(checked)
    if files == (STDIN,) and sys.stdin.isatty():
        raise ValueError("give two sentences, two files, or one file with both; see otalign align --help")
    if files == (STDIN, STDIN):
        raise ValueError("only one of the two files can be standard input")
    read_before = read_before and rereadable
    if len(files) == 2 and format in (None, "parallel") and read_before:
        _check_equal_lengths(files)
    format = format or ("parallel" if len(files) == 2 else None)
    if format is None and not rereadable:  # a pipe, which is not waited for before the output is open
        return Pairs(GuessedItems(files[0], limits, pretokenized), pretokenized, files, None, False)
    reading = _read_by_guess(files, format, limits, pretokenized)
    count = sum(1 for _ in with_progress(reading, "checking")) if read_before else None
    return Pairs(reading, pretokenized, files, count, rereadable)


@dataclass(frozen=True)
class GuessedItems:
    """The items of a pipe, whose format is guessed once its first line is there."""

    file: str
    limits: ReaderLimits
    pretokenized: bool

    def __iter__(self) -> Iterator[Item]:
        return iter(_read_by_guess((self.file,), None, self.limits, self.pretokenized))


def _read_by_guess(
    files: tuple[str, ...], format: str | None, limits: ReaderLimits, pretokenized: bool
) -> Reading | Rows:
    form = format or guess_format(files[0], stream=True) or "tsv"
    if is_wordless(form):
        raise ValueError(
            f"{name_input(files[0])} has links without sentences ({form}); give a file of sentences"
        )
    return read(files, form, limits=limits, pretokenized=pretokenized)


def _names_a_file(text: str) -> bool:
    """Return whether a file has this name, or whether it looks like one and would be a strange sentence."""
    try:
        exists = Path(text).exists() and not Path(text).is_dir()
    except (OSError, ValueError):  # too long for a name, or a letter that none may have
        return False
    looks_so = Path(text).suffix.lower() in (".txt", *SUFFIXES, *PACKED)
    return exists or text == STDIN or (looks_so and " " not in text)


def _check_equal_lengths(files: Sequence[str]) -> None:
    first, second = (sum(1 for _ in read_lines(file)) for file in files)
    if first != second:
        raise ValueError(
            f"{files[0]} has {count_noun(first, 'line')} and {files[1]} has {second:,}; "
            "line n of one must belong to line n of the other"
        )
