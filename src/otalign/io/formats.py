"""Every format by name: `read` a file as a stream of items, `write` items as a file, in constant memory.

for item in read("gold.tsv", "multimwa"): ...                          # Gold
for item in read(("a.txt", "b.txt"), "parallel"): ...                  # TextPair
for item in read("links.txt", "pharaoh"): ...                          # Links: the words are elsewhere
for item in read("links.txt", "pharaoh", words=read("gold.tsv", "multimwa")): ...     # Gold
write(items, "out.jsonl.gz", "jsonl")
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from otalign.alignment import Gold, WordlessLinks
from otalign.atomic import open_atomic
from otalign.io import brackets, ists, links, tables
from otalign.io.items import Item, LineTally, gold, words_of
from otalign.io.limits import DEFAULT_LIMITS, ReaderLimits
from otalign.io.lines import BadLine, Line, Path, compress, lines


@dataclass(frozen=True)
class Format:
    """A file format: how it is split into records, what a record means, and how items are written."""

    about: str
    records: Callable[..., Iterator[Any]]  # an iterator of lines for each file → records
    parse: Callable[[Any, LineTally], Item]
    write: tuple[Callable[[Item, int], str], ...]  # the item and its number, from 1 → text
    wordless: bool = False  # words must come from elsewhere
    most_files: int = 1
    sparse: bool = False  # a pair without links may be missing at the end
    holds_alignments: bool = False  # `otalign align` can write it: one file, with the links of any alignment


FORMATS = {
    "pharaoh": Format(
        "0-0 1-2 2p3: links from 0, p or ? possible, a line a pair",
        links.each_line,
        links.reader(links.PHARAOH),
        (links.writer(first=0),),
        wordless=True,
        holds_alignments=True,
    ),
    "talp": Format(
        "1-1 2-3 3p4: links from 1, p possible, a line a pair",
        links.each_line,
        links.reader(links.TALP),
        (links.writer(first=1),),
        wordless=True,
        holds_alignments=True,
    ),
    "naacl": Format(
        "1 2 3 S: sentence, source, target from 1 (0 = null), S or P, a line a link",
        links.by_sentence,
        links.naacl_links,
        (links.naacl_lines,),
        wordless=True,
        sparse=True,
        holds_alignments=True,
    ),
    "a3": Format(
        "GIZA's A3: three lines a pair",
        brackets.split_at_headers,
        brackets.a3,
        (brackets.a3_lines,),
        holds_alignments=True,
    ),
    "multimwa": Format(
        "MultiMWA's table: sentences in columns 1 and 3, sure and possible links in 7 and 8, from 0",
        links.each_line,
        tables.multimwa,
        (tables.multimwa_line,),
    ),
    "columns": Format(
        "source, target, 0-0 1-2, and perhaps weights and nulls, between tabs",
        links.each_line,
        tables.columns,
        (tables.columns_line,),
        holds_alignments=True,
    ),
    "msr-rte": Format(
        "MSR-RTE as published: three lines a pair, a file for each annotator, the majority counts",
        brackets.by_annotator,
        brackets.msr_rte,
        (brackets.msr_rte_lines,),
        most_files=9,
    ),
    "ists": Format("SemEval iSTS .wa: chunks", ists.by_sentence, ists.ists, (ists.ists_lines,)),
    "bars": Format("source ||| target", links.each_line, tables.parse_bars, (tables.barred_line,)),
    "parallel": Format(
        "two files, a sentence a line",
        tables.side_by_side,
        tables.parallel,
        (tables.source_line, tables.target_line),
        most_files=2,
    ),
    "tsv": Format(
        "source, target, between tabs", links.each_line, tables.two_columns, (tables.two_columns_line,)
    ),
    "jsonl": Format(
        "a JSON object a line, with all that an alignment holds, or texts or words alone",
        links.each_line,
        tables.json_object,
        (tables.json_line,),
        holds_alignments=True,
    ),
}


@dataclass
class Reading:
    """The items of a file, read anew each time they are asked for, and what was met the last time."""

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
        for record in self.format.records(*(lines(path, self.limits.max_line_bytes) for path in self.paths)):
            count += 1
            # Taken before the record is parsed: a bad line must not shift the words.
            beside = None if words is None else _beside(record[0], words)
            try:
                item = self.format.parse(record, self.merged)
                if beside is not None and isinstance(item, WordlessLinks):
                    item = gold(record[0], words_of(beside), item)
                if excess := self.limits.find_excess(item, self.pretokenized):
                    raise BadLine(_first_line(record), *excess)
            except BadLine as bad:
                if not self.skip_bad:
                    raise
                self.skipped.note(str(bad))
            else:
                yield item
        if words is not None:
            yield from self._rest(words, count + 1)

    def _rest(self, words: Iterator[Item], number: int) -> Iterator[Gold]:
        """Pairs after the last line: without links if the format leaves such out, else too many."""
        for beside in words:
            if not self.format.sparse:
                end = Line(str(self.paths[0]), number, b"")
                raise BadLine(end, "the end of the file", "a line for each pair of words")
            yield Gold(*words_of(beside), frozenset())


def read(
    paths: Path | Sequence[Path],
    format: str,
    *,
    words: Iterable[Item] | None = None,
    skip_bad: bool = False,
    limits: ReaderLimits = DEFAULT_LIMITS,
    pretokenized: bool = False,
) -> Reading:
    """The items of a file in a format of `FORMATS`, or of several beside each other.

    `words` are items with words for a format that has none: then it gives `Gold`, and links are checked
    against the lengths. A bad line raises `BadLine`, or with `skip_bad` is left out and counted. So is a line
    beyond the `limits`, for which a text's words are those between blanks if it is `pretokenized`.
    """
    form = get_format(format)
    if words is not None and not form.wordless:
        raise ValueError(f"words must be left out for {format!r}, which has its own")
    if isinstance(words, Reading) and words.skip_bad:
        raise ValueError("words must be read without skip_bad: a line left out would shift the others")
    files = _paths(paths, format, len(form.write), form.most_files)
    return Reading(files, form, words, skip_bad, limits, pretokenized)


def write(items: Iterable[Item], paths: Path | Sequence[Path], format: str) -> int:
    """The number of items written. What the format cannot hold is refused, but weights may be lost.

    Files are replaced once all items are written; an error leaves them as they were.
    """
    form, number = get_format(format), 0
    count = len(form.write)
    places = [FilePath(path) for path in _paths(paths, format, count, count)]
    with ExitStack() as opened:
        files = [opened.enter_context(open_atomic(place)) for place in places]
        with ExitStack() as packing:
            packed = [
                packing.enter_context(compress(file, place.name))
                for file, place in zip(files, places, strict=True)
            ]
            for number, item in enumerate(items, 1):
                try:
                    texts = [text(item, number).encode() for text in form.write]
                except ValueError as error:
                    raise ValueError(f"item {number} cannot be written as {format}: {error}") from error
                for file, text in zip(packed, texts, strict=True):
                    file.write(text)
        for file in files:  # a full disk is noticed here, before the first of them is replaced
            file.flush()
    return number


def get_format(format: str) -> Format:
    if format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")
    return FORMATS[format]


def _paths(paths: Path | Sequence[Path], format: str, least: int, most: int) -> tuple[Path, ...]:
    several = tuple(paths) if isinstance(paths, tuple | list) else (paths,)
    if not least <= len(several) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise ValueError(f"{format} takes {wanted} file(s), got {len(several)}")
    return several  # pyright: ignore[reportReturnType]: a sequence of paths or one


def _beside(line: Line, words: Iterator[Item]) -> Item:
    try:
        return next(words)
    except StopIteration:
        raise BadLine(line, "a line more than there are pairs of words", "as many lines as pairs") from None


def _first_line(record: Any) -> Line:
    return record if isinstance(record, Line) else _first_line(record[0])
