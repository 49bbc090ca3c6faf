"""Gold that a command scores against, tunes or trains on: corpora by name and split, or files."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from otalign.alignment import Alignment
from otalign.gold import Gold, WordlessLinks
from otalign.io import CORPORA, ReaderLimits, Unaligned, load, read
from otalign.io.limits import DEFAULT_LIMITS


def load_split(name: str, split: str, data: Path | None, limit: int | None = None) -> list[Gold]:
    """Load the first pairs of a split of a corpus.

    Raises:
        ValueError: The corpus has no such split.
    """
    if split not in CORPORA[name].files:
        having = ", ".join(key for key, corpus in CORPORA.items() if split in corpus.files)
        raise ValueError(f"{name} has no {split} set; take one that has: {having}")
    return list(load(name, split, data)[:limit])


def read_gold_files(paths: Iterable[Path], format: str, limit: int | None = None) -> list[Gold]:
    """Read the first pairs of files, one file after the other. Links of one level are sure."""
    return list(islice((gold for path in paths for gold in _read_sure(path, format)), limit))


def read_golds(
    name: str, format: str, split: str, data: Path | None, limits: ReaderLimits
) -> list[Gold | Alignment]:
    """Read the gold of a file, or of a split of a corpus."""
    golds = list(load(name, split, data) if name in CORPORA else _read_links(name, format, limits))
    if not golds:
        raise ValueError(f"{name} holds no pair to score")
    return golds


def _read_sure(path: Path, format: str) -> Iterator[Gold]:
    if not path.exists() or path.is_dir():
        raise ValueError(f"there is no file {path}, and no corpus but {', '.join(CORPORA)}")
    for item in _read_links(str(path), format):
        yield item if isinstance(item, Gold) else Gold(item.source, item.target, item.pairs)


def _read_links(name: str, format: str, limits: ReaderLimits = DEFAULT_LIMITS) -> Iterator[Gold | Alignment]:
    """Read pairs with words and links; a file without either is refused."""
    for item in read(name, format, limits=limits):
        if isinstance(item, WordlessLinks | Unaligned):
            raise ValueError(f"{name} must hold words and links to be gold, but {format} has not both")
        yield item
