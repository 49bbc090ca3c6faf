"""Gold that a command learns from or chooses by: corpora by name and split, or files."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from otalign.gold import Gold, WordlessLinks
from otalign.io import CORPORA, Unaligned, load, read


def of_corpus(name: str, split: str, data: Path | None, limit: int | None = None) -> list[Gold]:
    """The first pairs of a split; what has no such split is refused."""
    if split not in CORPORA[name].files:
        having = ", ".join(key for key, corpus in CORPORA.items() if split in corpus.files)
        raise ValueError(f"{name} has no {split} set; take one that has: {having}")
    return list(load(name, split, data)[:limit])


def of_files(paths: Iterable[Path], format: str, limit: int | None = None) -> list[Gold]:
    """The first pairs of files, one after the other. Links of one level are sure."""
    return list(islice((gold for path in paths for gold in _of_file(path, format)), limit))


def _of_file(path: Path, format: str) -> Iterable[Gold]:
    if not path.exists() or path.is_dir():
        raise ValueError(f"there is no file {path}, and no corpus but {', '.join(CORPORA)}")
    for item in read(path, format):
        if isinstance(item, WordlessLinks | Unaligned):
            raise ValueError(f"{path} must hold words and links, but {format} has not both")
        yield item if isinstance(item, Gold) else Gold(item.source, item.target, item.pairs)
