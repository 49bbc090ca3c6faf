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
from otalign.io.formats import read

MULTIMWA = "https://github.com/chaojiang06/neural-Jacana"
PAPER = "https://github.com/yukiar/OTAlign, folder data"
MSR_TRAIN_PAIRS = 600  # of the 800 development pairs, shuffled, the rest is the dev set


@dataclass(frozen=True)
class Corpus:
    """Where the files of each split lie in the data folder, how they are read, and where they can be had."""

    title: str
    origin: str
    files: Mapping[str, tuple[str, ...]]  # split → paths
    golds: Callable[[str, list[Path]], Iterator[Gold]]  # split, its files → gold as it is written there


def load(name: str, split: str, data: str | os.PathLike[str] | None = None) -> tuple[Gold, ...]:
    """The pairs of a split, lower-cased, from the folder `data`, by default what OTALIGN_DATA names."""
    if name not in CORPORA:
        raise ValueError(f"name must be one of {', '.join(CORPORA)}, got {name!r}")
    corpus = CORPORA[name]
    if split not in corpus.files:
        raise ValueError(f"split of {name} must be one of {', '.join(corpus.files)}, got {split!r}")
    paths = [_folder(corpus, data) / file for file in corpus.files[split]]
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"{corpus.title}: there is no {path}\n{_how_to_get(corpus)}")
    return tuple(map(_lowercase, corpus.golds(split, paths)))


def _multimwa(split: str, paths: list[Path]) -> Iterator[Gold]:
    return iter(read(paths, "multimwa"))


def _swapped_multimwa(split: str, paths: list[Path]) -> Iterator[Gold]:
    """MTRef: the paper takes its second sentence for the source."""
    return (gold.transpose() for gold in read(paths, "multimwa"))


def _two_files(split: str, paths: list[Path]) -> Iterator[Gold]:
    """Edinburgh++: a file of the sure links, and one of the sure and possible ones."""
    for sure, linked in zip(*(read(path, "columns") for path in paths), strict=True):
        if (sure.source, sure.target) != (linked.source, linked.target):
            raise ValueError(f"{paths[0]} and {paths[1]} must hold the same pairs, got {sure}, {linked}")
        yield Gold(sure.source, sure.target, sure.pairs, linked.pairs)


def _three_annotators(split: str, paths: list[Path]) -> Iterator[Gold]:
    """MSR-RTE: what most annotators linked; train and dev are drawn from the published dev set."""
    golds = list(read(paths, "msr-rte"))
    places = list(range(len(golds)))
    if split != "test":
        random.Random(42).shuffle(places)
    drawn = {"train": slice(MSR_TRAIN_PAIRS), "dev": slice(MSR_TRAIN_PAIRS, None), "test": slice(None)}
    return (golds[place] for place in places[drawn[split]])


def _annotators(part: str) -> tuple[str, ...]:
    return tuple(f"msr-rte/orig/RTE2_{part}_{annotator}.align.txt" for annotator in "ABC")


def _tables(title: str, *splits: str) -> dict[str, tuple[str, ...]]:
    return {split: (f"multimwa/MultiMWA-{title}/{title.lower()}-{split}.tsv",) for split in splits}


def _levels(split: str) -> tuple[str, ...]:
    return tuple(f"edinburgh/preprocessed/{level}_{split}.txt" for level in ("sure", "sure-and-possible"))


SPLITS = ("train", "dev", "test")
CORPORA = {
    "msr-rte": Corpus(
        "MSR-RTE",
        f"the RTE 2006 alignments of Microsoft Research (Brockett, 2007), also in {PAPER}",
        {"train": _annotators("dev"), "dev": _annotators("dev"), "test": _annotators("test")},
        _three_annotators,
    ),
    "newsela": Corpus("Newsela (MultiMWA)", MULTIMWA, _tables("Newsela", "test"), _multimwa),
    "edinburgh++": Corpus("Edinburgh++", PAPER, {split: _levels(split) for split in SPLITS}, _two_files),
    "mtref": Corpus("MTRef (MultiMWA)", MULTIMWA, _tables("MTRef", *SPLITS), _swapped_multimwa),
    "arxiv": Corpus("arXiv (MultiMWA)", MULTIMWA, _tables("arXiv", "test"), _multimwa),
    "wiki": Corpus("Wiki (MultiMWA)", MULTIMWA, _tables("Wiki", *SPLITS), _multimwa),
}


def _folder(corpus: Corpus, data: str | os.PathLike[str] | None) -> Path:
    folder = data or os.environ.get("OTALIGN_DATA")
    if not folder:
        raise FileNotFoundError(
            f"{corpus.title}: no data folder is given; give data=, or set OTALIGN_DATA\n{_how_to_get(corpus)}"
        )
    return Path(folder)


def _how_to_get(corpus: Corpus) -> str:
    files = sorted({file for paths in corpus.files.values() for file in paths})
    layout = "\n".join(f"  {file}" for file in files)
    return f"The corpus can be had from {corpus.origin}. In the data folder it must lie as\n{layout}"


def _lowercase(gold: Gold) -> Gold:
    source, target = (tuple(word.lower() for word in side) for side in (gold.source, gold.target))
    return Gold(source, target, gold.sure, gold.possible)
