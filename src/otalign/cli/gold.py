"""Gold that a command scores against, tunes or trains on: corpora by name and split, or files."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from otalign.alignment import Alignment
from otalign.cli.input import check_input, find_format
from otalign.cli.terminal import with_progress
from otalign.gold import Gold, WordlessLinks
from otalign.io import CORPORA, ReaderLimits, Unaligned, load, read
from otalign.io.files import is_wordless
from otalign.io.items import Item, get_levels
from otalign.io.limits import DEFAULT_LIMITS
from otalign.io.lines import name_input
from otalign.quantities import count_noun


def load_split(name: str, split: str, data: Path | None, limit: int | None = None) -> list[Gold]:
    """Load the first pairs of a split of a corpus.

    Raises:
        ValueError: The corpus has no such split.
    """
    if split not in CORPORA[name].files:
        having = ", ".join(key for key, corpus in CORPORA.items() if split in corpus.files)
        raise ValueError(f"{name} has no {split} set; take one that has: {having}")
    return list(load(name, split, data)[:limit])


def read_gold_files(paths: Iterable[Path], format: str | None, limit: int | None = None) -> list[Gold]:
    """Read the first pairs of files, one file after the other. Links of one level are sure.

    Args:
        paths: The files.
        format: Their format, or None to guess it for each.
        limit: Maximum number of pairs.
    """
    golds = (gold for path in paths for gold in _read_sure(path, format))
    return list(with_progress(islice(golds, limit), "reading the gold"))


def read_golds(
    name: str,
    format: str | None,
    split: str,
    data: Path | None,
    limits: ReaderLimits,
    *,
    words: Iterable[Item] | None = None,
    possible: str | None = None,
) -> list[Gold | Alignment]:
    """Read the gold of a file, or of a split of a corpus.

    Args:
        name: The file or corpus.
        format: Format of the file, or None to guess it.
        split: Split of the corpus.
        data: Folder of the corpora.
        limits: The largest line and sentence to accept.
        words: Pairs with the words, for a file that has links alone.
        possible: File of the possible links, in the same format, if the gold holds the sure ones alone.

    Returns:
        The gold of each pair.

    Raises:
        ValueError: There are no pairs, or an option does not apply to the gold.
    """
    if name in CORPORA and (words or possible):
        raise ValueError(f"--words and --possible apply only to gold in files, not to the corpus {name}")
    if name in CORPORA:
        stored = load(name, split, data)
    else:
        check_input(name, or_corpus=True)
        format = find_format(name, format, "multimwa")
        stored = _read_links(name, format, limits, words)
    golds: list[Gold | Alignment] = list(with_progress(stored, "reading the gold"))
    if not golds:
        raise ValueError(f"{name_input(name)} holds no pair to score")
    if possible:
        further = list(_read_links(possible, find_format(possible, format, "multimwa"), limits, words))
        if len(further) != len(golds):
            raise ValueError(
                f"{name_input(name)} holds {count_noun(len(golds), 'pair')}, but {possible} {len(further):,}"
            )
        golds = [_add_possible(gold, more) for gold, more in zip(golds, further, strict=True)]
    return golds


def _add_possible(gold: Gold | Alignment, more: Gold | Alignment) -> Gold:
    """Return the gold with all links of the other as possible ones, unless they are sure."""
    (sure, possible), others = get_levels(gold), get_levels(more)
    return Gold(gold.source, gold.target, sure, possible.union(*others))


def _read_sure(path: Path, format: str | None) -> Iterator[Gold]:
    check_input(str(path), or_corpus=True)
    for item in _read_links(str(path), find_format(str(path), format, "multimwa")):
        yield item if isinstance(item, Gold) else Gold(item.source, item.target, item.pairs)


def _read_links(
    name: str, format: str, limits: ReaderLimits = DEFAULT_LIMITS, words: Iterable[Item] | None = None
) -> Iterator[Gold | Alignment]:
    """Read pairs with words and links; a file without either is refused."""
    if words and not is_wordless(format):
        raise ValueError(f"--words applies only to gold without words; {format} has its own")
    for item in read(name, format, words=words, limits=limits):
        if isinstance(item, WordlessLinks):
            raise ValueError(
                f"{name_input(name)} has links without words ({format}), and is given as gold; give evaluate "
                "the gold last, or its words with --words, or add them with otalign convert --words"
            )
        if isinstance(item, Unaligned):
            raise ValueError(
                f"{name_input(name)} must hold words and links to be gold, but {format} has not both"
            )
        yield item
