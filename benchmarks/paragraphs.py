"""Paragraphs, beside the sentences they consist of: python benchmarks/paragraphs.py --data corpora/

Paragraphs are 2, 4 and 7 pairs of a dev set, joined; in a second run two target sentences are exchanged.
Their links are compared with those of the pairs, aligned one by one: the share that is found again, and the
share of the paragraph's links that are among them. A long text is then aligned with itself: the share of its
words that are linked to themselves only. With `--at-once`, sentences are not matched first.
"""

import random
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from otalign import Aligner
from otalign.alignment import Alignment, Pairs
from otalign.io import load
from otalign.scoring import paragraphs as splitting

CORPORA = ("mtref", "wiki", "edinburgh++")
SIZES = (2, 4, 7)  # sentences of a paragraph
WORDS = (200, 600)  # of a text that is aligned with itself

Words = tuple[str, ...]


def exchange_two(count: int, draw: random.Random) -> list[int]:
    """Return the order of this many sentences, two of them exchanged."""
    order = list(range(count))
    a, b = draw.sample(order, 2)
    order[a], order[b] = order[b], order[a]
    return order


def join(alignments: Sequence[Alignment], order: Sequence[int]) -> tuple[Words, Words, Pairs]:
    """A paragraph of pairs, with the target sentences in an order, and the links of the pairs in it."""
    source = [word for one in alignments for word in one.source]
    target = [word for k in order for word in alignments[k].target]
    source_starts = list(accumulate((len(one.source) for one in alignments), initial=0))
    lengths = accumulate((len(alignments[k].target) for k in order), initial=0)
    target_starts = dict(zip(order, lengths, strict=False))
    links = frozenset(
        (source_starts[k] + i, target_starts[k] + j) for k, one in enumerate(alignments) for i, j in one.pairs
    )
    return tuple(source), tuple(target), links


def make_paragraphs(
    alignments: Sequence[Alignment], size: int, exchanged: bool
) -> Iterator[tuple[Words, Words, Pairs]]:
    """Return paragraphs of this many pairs each."""
    draw = random.Random(0)
    for start in range(0, len(alignments) - size + 1, size):
        order = exchange_two(size, draw) if exchanged else range(size)
        yield join(alignments[start : start + size], order)


def compare(aligner: Aligner, paragraphs: Sequence[tuple[Words, Words, Pairs]]) -> tuple[float, float]:
    """The share of the pairs' links that are found in the paragraphs, and the precision of the latter."""
    found = [one.pairs for one in aligner.align_many((source, target) for source, target, _ in paragraphs)]
    both = sum(len(pairs & links) for pairs, (_, _, links) in zip(found, paragraphs, strict=True))
    return both / sum(len(links) for _, _, links in paragraphs), both / sum(map(len, found))


def measure_identity(aligner: Aligner, words: Sequence[str], length: int) -> float:
    """Return the share of words linked only to themselves, in texts of this many words."""
    texts = [words[start : start + length] for start in range(0, len(words) - length + 1, length)]
    right = 0
    for alignment in aligner.align_many((text, text) for text in texts):
        right += sum(
            source == target == (k,)
            for k in range(length)
            for source in [tuple(i for i, j in alignment.pairs if j == k)]
            for target in [tuple(j for i, j in alignment.pairs if i == k)]
        )
    return right / (length * len(texts))


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--model", help="a trained aligner; the default is the one that is shipped")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--pairs", type=int, default=280, help="of each dev set")
    parser.add_argument("--at-once", action="store_true", help="align all words of a paragraph at once")
    options = parser.parse_args()
    if options.at_once:
        splitting.MIN_WORDS = sys.maxsize
    aligner = Aligner.load(options.model)
    print(f"{'':14}{'sentences':>10}{'found':>10}{'precision':>11}{'exchanged: found':>19}{'precision':>11}")
    sources = {}
    for corpus in CORPORA:
        golds = load(corpus, "dev", options.data)[: options.pairs]
        sources[corpus] = [word for gold in golds for word in gold.source]
        alignments = list(aligner.align_many((gold.source, gold.target) for gold in golds))
        for size in SIZES:
            cells = [
                share
                for exchanged in (False, True)
                for share in compare(aligner, list(make_paragraphs(alignments, size, exchanged)))
            ]
            row = "".join(
                f"{100 * cell:{width}.1f}" for cell, width in zip(cells, (10, 11, 19, 11), strict=True)
            )
            print(f"{corpus:14}{size:10}{row}", flush=True)
    print("a text with itself: words linked to themselves only")
    for corpus, words in sources.items():
        shares = "".join(
            f"   {length} words {100 * measure_identity(aligner, words, length):.1f}" for length in WORDS
        )
        print(f"{corpus:14}{shares}", flush=True)


if __name__ == "__main__":
    main()
