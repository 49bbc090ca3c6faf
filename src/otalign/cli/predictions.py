"""Predictions, and the gold they stand beside, as every command reads them that compares the two."""

from collections.abc import Iterator
from pathlib import Path

from otalign.alignment import Alignment, Level
from otalign.cli.terminal import say_what_was_met
from otalign.gold import Gold, WordlessLinks
from otalign.io import CORPORA, FORMATS, Item, ReaderLimits, Unaligned, load, read


def read_golds(
    name: str, format: str, split: str, data: Path | None, limits: ReaderLimits
) -> list[Gold | Alignment]:
    """The gold of a file, or of a corpus by name."""
    items = load(name, split, data) if name in CORPORA else read(name, format, limits=limits)
    golds: list[Gold | Alignment] = []
    for item in items:
        if isinstance(item, WordlessLinks | Unaligned):
            raise ValueError(f"{name} must hold words and links to be gold, but {format} has not both")
        golds.append(item)
    if not golds:
        raise ValueError(f"{name} holds no pair to score")
    return golds


def read_predictions(
    name: str, format: str, golds: list[Gold | Alignment], limits: ReaderLimits
) -> list[Alignment]:
    """The predictions of a file; links alone take their words from the gold."""
    wordless = format in FORMATS and FORMATS[format].wordless
    words: list[Item] | None = list(golds) if wordless else None
    reading = read(name, format, words=words, limits=limits)
    predicted = []
    for item in reading:
        if isinstance(item, WordlessLinks | Unaligned):
            raise ValueError(f"{name} must hold links, but {format} has none")
        predicted.append(item.alignment("possible") if isinstance(item, Gold) else item)
    say_what_was_met(reading)
    return predicted


def read_alignments(
    name: str, format: str, level: Level, split: str, data: Path | None, limits: ReaderLimits
) -> Iterator[Alignment]:
    """The alignments of a file or of a corpus by name, with no gold beside them; gold itself at a level."""
    for item in load(name, split, data) if name in CORPORA else read(name, format, limits=limits):
        match item:
            case Gold():
                yield item.alignment(level)
            case Alignment():
                yield item
            case WordlessLinks():
                raise ValueError(f"{name} has links without words ({format}); give --gold, which has them")
            case _:
                raise ValueError(f"{name} holds sentences without links; align them first: otalign align")
