"""Measure time, memory and accuracy of the diff of a long document.

python benchmarks/diff.py MODEL                        2,000 generated sentences, a third of them changed
python benchmarks/diff.py MODEL --changed 1            the worst case: all sentences changed
python benchmarks/diff.py MODEL --corpus newsela       pairs of a corpus, with some sentences left out
python benchmarks/diff.py MODEL --corpus wiki --split dev
"""

import argparse
import resource
import time
from random import Random

from otalign import Aligner
from otalign.diff import difference
from otalign.io import load
from otalign.text.sentences import Document, split_lines

WHO = ("the mayor", "a young teacher", "our neighbour", "the last guest", "every pilot", "the old baker")
WHO += ("her lawyer", "the night nurse", "a tall stranger", "the drummer", "his cousin", "the gardener")
OTHERWISE = {
    **{"bought": "purchased", "repaired": "mended", "described": "portrayed", "forgot": "overlooked"},
    **{
        "painted": "coloured",
        "borrowed": "lent",
        "found": "discovered",
        "sold": "traded",
        "hid": "concealed",
    },
}
DID = tuple(OTHERWISE)
WHAT = (
    "a wooden boat",
    "two silver spoons",
    "the red curtains",
    "an old map",
    "the broken clock",
    "a letter",
)
WHAT += (
    "the kitchen door",
    "three blue chairs",
    "a small engine",
    "the garden fence",
    "a violin",
    "the keys",
)
WHERE = ("in the harbour", "behind the school", "at the station", "on the second floor", "near the border")
WHERE += ("in a village by the sea", "under the bridge", "at her aunt's house", "outside the museum")
WHEN = ("on Monday", "before the storm", "after the wedding", "in the spring", "when the music stopped")
WHEN += ("during the strike", "late in the evening", "at the end of the war", "without telling anyone")


def make_sentence(draw: Random) -> list[str]:
    return [draw.choice(part) for part in (WHO, DID, WHAT, WHERE, WHEN)]


def write_sentence(parts: list[str]) -> str:
    text = " ".join(parts)
    return text[0].upper() + text[1:] + "."


def edit_words(parts: list[str], draw: Random) -> list[str]:
    """Replace the verb, and sometimes change the order or drop a part."""
    who, did, what, where, when = parts
    changed = [who, OTHERWISE[did], what, where, when]
    return draw.choice([changed, [f"{when},", *changed[:4]], [who, OTHERWISE[did], what, when]])


def make_versions(count: int, changed: float, draw: Random) -> tuple[str, str, list[tuple[int, int]]]:
    """Return two texts, and the pairs of sentences that correspond."""
    old = [make_sentence(draw) for _ in range(count)]
    order = list(range(count))
    order[count // 2 : count // 2 + 20], order[count // 4 : count // 4 + 20] = (  # a passage that moved
        order[count // 4 : count // 4 + 20],
        order[count // 2 : count // 2 + 20],
    )
    new: list[str] = []
    pairs: list[tuple[int, int]] = []
    for i in order:
        fate = draw.random() / changed if changed else 1.0
        if fate < 0.1:
            continue
        pairs.append((i, len(new)))
        new.append(write_sentence(edit_words(old[i], draw) if fate < 1 else old[i]))
        if fate < 0.2:
            new.append(f"Chapter {len(new)} of the report is about {draw.choice(WHAT)} and its price.")
    return " ".join(map(write_sentence, old)), " ".join(new), pairs


def read_versions(name: str, split: str, draw: Random) -> tuple[Document, Document, list[tuple[int, int]]]:
    """Return the sentences of a corpus as two documents, from which each leaves out about one in seven."""
    old: list[str] = []
    new: list[str] = []
    pairs: list[tuple[int, int]] = []
    golds = {gold.source: gold for gold in load(name, split)}  # some have several targets
    for gold in golds.values():
        fate = draw.random()
        if 0.15 <= fate < 0.85:
            pairs.append((len(old), len(new)))
        if fate < 0.85:
            old.append(" ".join(gold.source))
        if fate >= 0.15:
            new.append(" ".join(gold.target))
    return split_lines("\n".join(old)), split_lines("\n".join(new)), pairs


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", help="folder of an aligner or encoder, or a name")
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--changed", type=float, default=1 / 3, help="share of changed sentences")
    parser.add_argument("--corpus", help="corpus, instead of generated sentences")
    parser.add_argument("--split", default="test")
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    if options.corpus:
        before, after, partners = read_versions(options.corpus, options.split, Random(0))
    else:
        before, after, partners = make_versions(options.sentences, options.changed, Random(0))
    aligner = Aligner.load(options.model, threads=options.threads)
    start, processor_start = time.perf_counter(), time.process_time()
    found = difference(before, after, aligner)
    seconds, processor_seconds = time.perf_counter() - start, time.process_time() - processor_start
    matched = {(i, j) for passage in found for i in passage.old for j in passage.new}
    right = len(matched & set(partners))
    share, wrong = 100 * right / len(partners), len(matched) - right
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(found.old):,} → {len(found.new):,} sentences, {found.counts}")
    print(f"{seconds:.1f} s, {processor_seconds:.1f} s of processor time, peak memory {peak:.0f} MiB")
    f1 = 200 * right / (len(matched) + len(partners))
    print(f"of {len(partners):,} partners {share:.1f}% found; {wrong} wrong; F1 of the matches {f1:.1f}")
