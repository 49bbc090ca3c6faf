"""Alignments that commands compare with gold or show."""

from collections.abc import Iterator
from pathlib import Path

from otalign.alignment import Alignment, Level
from otalign.cli.input import check_input, find_format
from otalign.cli.terminal import report_bad_lines
from otalign.gold import Gold, WordlessLinks
from otalign.io import CORPORA, Item, ReaderLimits, Unaligned, load, read
from otalign.io.files import is_wordless
from otalign.io.lines import name_input


def read_predictions(
    name: str, format: str | None, golds: list[Gold | Alignment], limits: ReaderLimits
) -> list[Alignment]:
    """Read the predictions of a file; in a format without words, the words are those of the gold."""
    format = find_format(name, format, "pharaoh")
    words: list[Item] | None = list(golds) if is_wordless(format) else None
    reading = read(name, format, words=words, limits=limits)
    predicted = []
    for item in reading:
        if isinstance(item, WordlessLinks | Unaligned):
            raise ValueError(f"{name_input(name)} must hold links, but {format} has none")
        predicted.append(item.alignment("possible") if isinstance(item, Gold) else item)
    report_bad_lines(reading)
    return predicted


def read_alignments(
    name: str, format: str | None, level: Level, split: str, data: Path | None, limits: ReaderLimits
) -> Iterator[Alignment]:
    """Read the alignments of a file, or of a split of a corpus; gold gives those of a level."""
    if name in CORPORA:
        items = load(name, split, data)
    else:
        check_input(name, or_corpus=True)
        format = find_format(name, format, "multimwa")
        items = read(name, format, limits=limits)
    for item in items:
        match item:
            case Gold():
                yield item.alignment(level)
            case Alignment():
                yield item
            case WordlessLinks():
                raise ValueError(
                    f"{name_input(name)} has links without words ({format}); give --gold, which has them, or "
                    "write the links with words: otalign align … -o links.jsonl"
                )
            case _:
                raise ValueError(
                    f"{name_input(name)} holds sentences without links; align them first: otalign align"
                )
