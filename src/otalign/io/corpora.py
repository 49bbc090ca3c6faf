"""The six corpora of the paper by name and split, as it used them: lower-cased gold with both levels.

    [gold.alignment("possible") for gold in load("mtref", "test")]

They are read from a folder, given or named by OTALIGN_DATA, and are not part of this package.
"""

import os
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from otalign.gold import Gold
from otalign.io.files import read

MULTIMWA = "https://github.com/chaojiang06/neural-Jacana"
PAPER = "https://github.com/yukiar/OTAlign, folder data"
MSR_TRAIN_PAIRS = 600  # train pairs among the 800 shuffled development pairs; the others are the dev set


@dataclass(frozen=True)
class Corpus:
    """A gold corpus: its origin, its files, and how they are read.

    Attributes:
        title: Name for people.
        origin: Where the corpus is published.
        files: Paths of each split, relative to the data folder.
        golds: Function from a split and its files to the gold as it is published.

    Example:
        >>> from otalign.io import CORPORA
        >>> CORPORA["mtref"].title, list(CORPORA["mtref"].files)
        ('MTRef (MultiMWA)', ['train', 'dev', 'test'])
    """

    title: str
    origin: str
    files: Mapping[str, tuple[str, ...]]
    golds: Callable[[str, list[Path]], Iterator[Gold]]


def load(name: str, split: str, data: str | os.PathLike[str] | None = None) -> tuple[Gold, ...]:
    """Load a split of a corpus.

    Args:
        name: One of `CORPORA`.
        split: One of the corpus's splits: train, dev or test.
        data: The data folder; None for the one that the environment variable OTALIGN_DATA names.

    Returns:
        The pairs of the split, lower-cased.

    Raises:
        ValueError: If there is no such corpus or split.
        FileNotFoundError: If no data folder is given, or a file is missing.

    Example:
        >>> from otalign.io import load
        >>> golds = load("mtref", "test", data="data")  # doctest: +SKIP
        >>> golds[0].alignment("possible")  # doctest: +SKIP
    """
    if name not in CORPORA:
        raise ValueError(f"name must be one of {', '.join(CORPORA)}, got {name!r}")
    corpus = CORPORA[name]
    if split not in corpus.files:
        raise ValueError(f"split of {name} must be one of {', '.join(corpus.files)}, got {split!r}")
    paths = [_find_folder(corpus, data) / file for file in corpus.files[split]]
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"{corpus.title}: there is no {path}\n{_explain_download(corpus)}")
    return tuple(map(_lowercase, corpus.golds(split, paths)))


def _read_multimwa(split: str, paths: list[Path]) -> Iterator[Gold]:
    return iter(read(paths, "multimwa"))


def _read_swapped_multimwa(split: str, paths: list[Path]) -> Iterator[Gold]:
    """Read MTRef, whose second sentence is the source in the paper."""
    return (gold.transpose() for gold in read(paths, "multimwa"))


def _read_two_levels(split: str, paths: list[Path]) -> Iterator[Gold]:
    """Read Edinburgh++: a file of the sure links, and one of the sure and possible links."""
    for sure, linked in zip(*(read(path, "columns") for path in paths), strict=True):
        if (sure.source, sure.target) != (linked.source, linked.target):
            raise ValueError(f"{paths[0]} and {paths[1]} must hold the same pairs, got {sure}, {linked}")
        yield Gold(sure.source, sure.target, sure.pairs, linked.pairs)


def _read_msr_rte(split: str, paths: list[Path]) -> Iterator[Gold]:
    """Read MSR-RTE by majority vote; train and dev are samples of the published dev set."""
    golds = list(read(paths, "msr-rte"))
    order = list(range(len(golds)))
    if split != "test":
        random.Random(42).shuffle(order)
    slices = {"train": slice(MSR_TRAIN_PAIRS), "dev": slice(MSR_TRAIN_PAIRS, None), "test": slice(None)}
    return (golds[index] for index in order[slices[split]])


def _list_annotator_files(part: str) -> tuple[str, ...]:
    return tuple(f"msr-rte/orig/RTE2_{part}_{annotator}.align.txt" for annotator in "ABC")


def _list_multimwa_files(title: str, *splits: str) -> dict[str, tuple[str, ...]]:
    return {split: (f"multimwa/MultiMWA-{title}/{title.lower()}-{split}.tsv",) for split in splits}


def _list_edinburgh_files(split: str) -> tuple[str, ...]:
    return tuple(f"edinburgh/preprocessed/{level}_{split}.txt" for level in ("sure", "sure-and-possible"))


SPLITS = ("train", "dev", "test")
CORPORA = {
    "msr-rte": Corpus(
        "MSR-RTE",
        f"the RTE 2006 alignments of Microsoft Research (Brockett, 2007), also in {PAPER}",
        {
            "train": _list_annotator_files("dev"),
            "dev": _list_annotator_files("dev"),
            "test": _list_annotator_files("test"),
        },
        _read_msr_rte,
    ),
    "newsela": Corpus(
        "Newsela (MultiMWA)", MULTIMWA, _list_multimwa_files("Newsela", "test"), _read_multimwa
    ),
    "edinburgh++": Corpus(
        "Edinburgh++", PAPER, {split: _list_edinburgh_files(split) for split in SPLITS}, _read_two_levels
    ),
    "mtref": Corpus(
        "MTRef (MultiMWA)", MULTIMWA, _list_multimwa_files("MTRef", *SPLITS), _read_swapped_multimwa
    ),
    "arxiv": Corpus("arXiv (MultiMWA)", MULTIMWA, _list_multimwa_files("arXiv", "test"), _read_multimwa),
    "wiki": Corpus("Wiki (MultiMWA)", MULTIMWA, _list_multimwa_files("Wiki", *SPLITS), _read_multimwa),
}


def _find_folder(corpus: Corpus, data: str | os.PathLike[str] | None) -> Path:
    folder = data or os.environ.get("OTALIGN_DATA")
    if not folder:
        raise FileNotFoundError(
            f"{corpus.title}: no data folder is given; pass data= or set OTALIGN_DATA\n"
            f"{_explain_download(corpus)}"
        )
    return Path(folder)


def _explain_download(corpus: Corpus) -> str:
    files = sorted({file for paths in corpus.files.values() for file in paths})
    layout = "\n".join(f"  {file}" for file in files)
    return f"Get the corpus from {corpus.origin}. The data folder must hold\n{layout}"


def _lowercase(gold: Gold) -> Gold:
    source, target = (tuple(word.lower() for word in side) for side in (gold.source, gold.target))
    return Gold(source, target, gold.sure, gold.possible)
