"""Measure time, memory and links of long texts: python benchmarks/long_texts.py --data corpora/

A text is different sentences of MTRef, Wiki and Edinburgh++, one after another, and their counterparts, of
which two passages are exchanged. Without sentence ends, it is in lower case without punctuation. Each text
runs in a separate process; the memory is its peak, less that before the text was read. Its links are compared
with those of the single sentences, aligned one by one (share found, precision), with those that are found
when all cells of word pairs are scored, as for short pairs, and with those that both have. The last column is
the share of the links of the single sentences that are found among all cells. `--kept` scores more or fewer
tiles.
"""

import resource
import subprocess
import sys
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from otalign import Aligner
from otalign.alignment import Pairs
from otalign.io import load
from otalign.scoring import batches
from otalign.scoring.heads import tiles

LENGTHS = (300, 1000, 3000, 5000, 20_000)
MAX_COMPARED = 5500  # longest text for which all cells are also scored
CORPORA = ("mtref", "wiki", "edinburgh++")
PASSAGE = 10  # sentences that are exchanged with others
COLUMNS = ("of single", "precision", "of all cells", "of both", "all: single")
ROUNDS, MAX_SECONDS = 3, 5.0  # rounds, and seconds after which no further round starts


class Text(NamedTuple):
    """Pairs of sentences, and the order of the target sentences."""

    pairs: list[tuple[tuple[str, ...], tuple[str, ...]]]
    order: list[int]

    def join(self) -> tuple[list[str], list[str]]:
        """Return the words of source and target."""
        source = [word for words, _ in self.pairs for word in words]
        return source, [word for k in self.order for word in self.pairs[k][1]]

    def find_single_links(self, aligner: Aligner) -> Pairs:
        """Return the links of the pairs, aligned one by one, in the words of the text."""
        sources = accumulate((len(source) for source, _ in self.pairs), initial=0)
        lengths = accumulate((len(self.pairs[k][1]) for k in self.order), initial=0)
        targets = dict(zip(self.order, lengths, strict=False))
        found = zip(aligner.align_many(self.pairs), sources, range(len(self.pairs)), strict=False)
        return frozenset((start + i, targets[k] + j) for one, start, k in found for i, j in one.pairs)


def read_text(words: int, data: Path, split: str, ends: bool) -> Text:
    """Read a text of about this many source words, with or without sentence ends."""
    pairs: dict[tuple[str, ...], tuple[str, ...]] = {}
    for gold in (gold for corpus in CORPORA for gold in load(corpus, split, data)):
        source, target = (
            side if ends else tuple(word.lower() for word in side if any(map(str.isalnum, word)))
            for side in (gold.source, gold.target)
        )
        if words > 0 and source not in pairs:
            pairs[source] = target
            words -= len(source)
    order = list(range(len(pairs)))
    first, second = len(order) // 4, len(order) // 2
    size = min(PASSAGE, second - first)
    order[first : first + size], order[second : second + size] = (
        order[second : second + size],
        order[first : first + size],
    )
    return Text(list(pairs.items()), order)


def measure_text(aligner: Aligner, text: Text) -> str:
    """Measure a text in this process, and return a row of the table."""
    aligner.align("It rained.", "Rain fell.")  # warm-up
    source, target = text.join()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    taken, used, links = [], [], frozenset()
    while len(taken) < ROUNDS and sum(taken) < MAX_SECONDS:
        start, processor_start = time.perf_counter(), time.process_time()
        links = aligner.align(source, target).pairs
        taken.append(time.perf_counter() - start)
        used.append(time.process_time() - processor_start)
    held = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    row = f"{len(source):8,}{min(taken):8.1f} s{min(used):8.1f} s{held:8,.0f} MiB"
    single = text.find_single_links(aligner)
    row += format_share(links & single, single) + format_share(links & single, links)
    if len(source) > MAX_COMPARED:
        return row
    batches.LONG = sys.maxsize  # cells: no pair is long
    everything = aligner.align(source, target).pairs
    row += format_share(links & everything, everything)
    row += format_share(links & everything & single, everything & single)
    return row + format_share(everything & single, single)


def format_share(part: Pairs, whole: Pairs) -> str:
    return f"{100 * len(part) / max(1, len(whole)):14.1f}"


def main() -> None:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="small", help="a trained aligner; the default is the shipped one")
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--split", default="test", help="of the corpora")
    parser.add_argument("--kept", type=int, default=tiles.KEPT, help="tiles of each row and column of tiles")
    parser.add_argument("--words", type=int, nargs="+", default=LENGTHS, help="lengths of the texts")
    parser.add_argument("--without-ends", action="store_true", help="leave out sentence ends")
    parser.add_argument("--one", type=int, help="words: measure such a text in this process")
    options = parser.parse_args()
    if options.one:
        tiles.KEPT = options.kept
        text = read_text(options.one, options.data, options.split, not options.without_ends)
        print(measure_text(Aligner.load(options.model, threads=2), text))
        return
    columns = "".join(f"{title:>14}" for title in COLUMNS)
    for title, without in (("with sentence ends", []), ("without sentence ends", ["--without-ends"])):
        print(f"{title:40}{columns}", flush=True)
        for words in options.words:
            subprocess.run([sys.executable, *sys.argv, *without, "--one", str(words)], check=True)


if __name__ == "__main__":
    main()
