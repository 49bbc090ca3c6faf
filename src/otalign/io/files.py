"""Files of items: `read` a file as a stream of items, `write` items to a file, in constant memory."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from otalign.atomic import open_atomic
from otalign.gold import Gold, WordlessLinks
from otalign.io.formats import Format, get_format
from otalign.io.items import Item, LineTally, get_words, make_gold
from otalign.io.limits import DEFAULT_LIMITS, ReaderLimits
from otalign.io.lines import BadLine, Line, Path, compress, name_input, read_lines
from otalign.io.parquet import PARQUET, Rows
from otalign.io.parquet import write as write_parquet
from otalign.quantities import count_noun


@dataclass
class Reading:
    r"""The items of a file. Each iteration reads the file again, and counts its bad and repeated lines again.

    Attributes:
        paths: The files.
        format: Their format.
        words: Items with the words of the links, for a format without words.
        skip_bad: Whether bad lines are skipped and counted instead of raised.
        limits: The largest line and sentence to accept.
        pretokenized: Whether the words of a text are separated by spaces.
        skipped: Bad lines of the last iteration.
        merged: Lines of the last iteration that give a link twice.

    Example:
        >>> from pathlib import Path
        >>> from otalign.io import read
        >>> _ = Path("links.txt").write_text("0-0 0-0\nbad\n")
        >>> reading = read("links.txt", "pharaoh", skip_bad=True)
        >>> len(list(reading)), reading.skipped.count, reading.merged.count
        (1, 1, 1)
    """

    paths: tuple[Path, ...]
    format: Format
    words: Iterable[Item] | None
    skip_bad: bool
    limits: ReaderLimits = DEFAULT_LIMITS
    pretokenized: bool = False  # texts, whose words are counted
    skipped: LineTally = field(default_factory=LineTally, init=False)  # bad lines
    merged: LineTally = field(default_factory=LineTally, init=False)  # lines that gave a link twice

    def __iter__(self) -> Iterator[Any]:
        self.skipped, self.merged = LineTally(), LineTally()
        words = None if self.words is None else iter(self.words)
        count = 0
        for record in self.format.records(
            *(read_lines(path, self.limits.max_line_bytes) for path in self.paths)
        ):
            count += 1
            # Taken before the record is parsed: a bad line must not shift the words.
            beside = None if words is None else _take_words(record[0], words)
            try:
                item = self.format.parse(record, self.merged)
                if beside is not None and isinstance(item, WordlessLinks):
                    item = make_gold(record[0], get_words(beside), item, self.format.first)
                if excess := self.limits.find_excess(item, self.pretokenized):
                    raise BadLine(_first_line(record), *excess)
            except BadLine as bad:
                if not self.skip_bad:
                    raise
                self.skipped.note(str(bad))
            else:
                yield item
        if words is not None:
            yield from self._read_rest(words, count + 1)

    def _read_rest(self, words: Iterator[Item], number: int) -> Iterator[Gold]:
        """Yield pairs after the last line, without links; an error unless the format omits such pairs."""
        for beside in words:
            if not self.format.sparse:
                end = Line(name_input(self.paths[0]), number, b"")
                raise BadLine(end, "the end of the file", "a line for each pair of words")
            yield Gold(*get_words(beside), frozenset())


def read(
    paths: Path | Sequence[Path],
    format: str,
    *,
    words: Iterable[Item] | None = None,
    skip_bad: bool = False,
    limits: ReaderLimits = DEFAULT_LIMITS,
    pretokenized: bool = False,
) -> Reading | Rows:
    """Read the items of a file, or of several that belong together.

    Args:
        paths: The file; a tuple or list for a format of several files.
        format: One of `FORMATS`, or `parquet`.
        words: Items with words, for a format without words: the items are then `Gold`, and links are checked
            against the lengths of the sentences.
        skip_bad: Whether to skip and count bad lines instead of raising `BadLine`.
        limits: The largest line and sentence to accept; a larger one is a bad line.
        pretokenized: Whether the words of a text are separated by spaces, which matters for `limits` alone.

    Returns:
        The items, read each time they are iterated over.

    Raises:
        ValueError: If the format is unknown, does not suit the number of files, or has words of its own.

    Example:
        >>> from pathlib import Path
        >>> from otalign.io import read
        >>> _ = Path("pairs.txt").write_text("a small house ||| ein kleines Haus")
        >>> list(read("pairs.txt", "bars"))
        [TextPair(source='a small house', target='ein kleines Haus')]
    """
    if words is not None and not is_wordless(format):
        raise ValueError(f"words must be left out for {format!r}, which has its own")
    if format == PARQUET:
        (file,) = _check_paths(paths, format, 1, 1)
        return Rows(file, limits, pretokenized)
    form = get_format(format)
    if isinstance(words, Reading) and words.skip_bad:
        raise ValueError("words must be read without skip_bad: a line left out would shift the others")
    files = _check_paths(paths, format, len(form.write), form.max_files)
    return Reading(files, form, words, skip_bad, limits, pretokenized)


def write(items: Iterable[Item], paths: Path | Sequence[Path], format: str) -> int:
    r"""Write items to a file.

    An existing file is replaced once all items are written; an error leaves it as it was.

    Args:
        items: The items. Weights are lost where a format has none.
        paths: The file, compressed if its suffix is .gz or .zst; a tuple or list for several files.
        format: One of `FORMATS`, or `parquet`.

    Returns:
        The number of items.

    Raises:
        ValueError: If an item holds something that the format cannot represent.
        OSError: If a file cannot be written.

    Example:
        >>> from pathlib import Path
        >>> from otalign import Alignment, Link
        >>> from otalign.io import write
        >>> item = Alignment(("a", "house"), ("ein", "Haus"), (Link(0, 0), Link(1, 1)))
        >>> write([item], "links.txt", "pharaoh"), Path("links.txt").read_text()
        (1, '0-0 1-1\n')
    """
    if format == PARQUET:
        return _write_rows(items, *_check_paths(paths, format, 1, 1))
    form, number = get_format(format), 0
    count = len(form.write)
    places = [FilePath(path) for path in _check_paths(paths, format, count, count)]
    with ExitStack() as opened:
        files = [opened.enter_context(open_atomic(place)) for place in places]
        with ExitStack() as compression:
            compressed = [
                compression.enter_context(compress(file, place.name))
                for file, place in zip(files, places, strict=True)
            ]
            for number, item in enumerate(items, 1):
                try:
                    texts = [text(item, number).encode() for text in form.write]
                except ValueError as error:
                    raise ValueError(f"pair {number} cannot be written as {format}: {error}") from error
                for file, text in zip(compressed, texts, strict=True):
                    file.write(text)
        for file in files:  # a full disk raises here, before the first file is replaced
            file.flush()
    return number


def _write_rows(items: Iterable[Item], path: Path) -> int:
    tally = Counter[str]()

    def count() -> Iterator[Item]:
        for item in items:
            tally["items"] += 1
            yield item

    with open_atomic(FilePath(path)) as file:
        write_parquet(count(), file)
    return tally["items"]


def is_wordless(format: str) -> bool:
    """Return whether files of a format hold links without words, which must come from elsewhere."""
    return format != PARQUET and get_format(format).wordless


def _check_paths(paths: Path | Sequence[Path], format: str, least: int, most: int) -> tuple[Path, ...]:
    several = tuple(paths) if isinstance(paths, tuple | list) else (paths,)
    if not least <= len(several) <= most:
        expected = count_noun(most, "file") if least == most else f"{least} to {most} files"
        raise ValueError(f"{format} takes {expected}, got {len(several)}")
    return several  # pyright: ignore[reportReturnType]: a sequence of paths or one


def _take_words(line: Line, words: Iterator[Item]) -> Item:
    try:
        return next(words)
    except StopIteration:
        raise BadLine(line, "a line more than there are pairs of words", "as many lines as pairs") from None


def _first_line(record: Any) -> Line:
    return record if isinstance(record, Line) else _first_line(record[0])
