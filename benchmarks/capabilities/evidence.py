"""Count the annotations in the train and dev sets on which the expectations of the suite are based.

python benchmarks/capabilities/evidence.py --data corpora/

Each line is a kind of word pair, how many there are in the gold, and the share that is linked as sure and as
sure or possible. Unless a kind is about equal words, words that the other sentence has too are left out.
"""

import re
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from cases import list_words

from otalign.io import load

CORPORA = ("msr-rte", "edinburgh++", "mtref", "wiki")
FIGURES = "2 3 4 5 6 7 8 9 10 11 12 20 30 40 50"
NUMBERS = "two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty"
NUMBER_WORDS = dict(zip(list_words(FIGURES), list_words(NUMBERS), strict=True))
CLITICS = {("n't", "not"), ("'ll", "will"), ("'ve", "have"), ("'re", "are")}
NEGATIONS = {"not", "n't", "never"}

Pair = Callable[[str, str], bool]


def is_plural(a: str, b: str) -> bool:
    return len(a) > 3 and a.isalpha() and b in (a + "s", a + "es")


def is_tense(a: str, b: str) -> bool:
    return len(a) > 3 and a.isalpha() and b in (a + "ed", a + "ing", a + "d", a[:-1] + "ing")


def is_number_word(a: str, b: str) -> bool:
    return NUMBER_WORDS.get(a) == b


def is_clitic(a: str, b: str) -> bool:
    return (a, b) in CLITICS


def is_hyphenated(a: str, b: str) -> bool:
    return "-" in a[1:-1] and len(b) > 2 and (a.replace("-", "") == b or b in a.split("-"))


def is_misspelled(a: str, b: str) -> bool:
    """One letter is missing; neither is a regular form of the other."""
    if len(a) < 6 or len(b) != len(a) - 1 or not (a.isalpha() and b.isalpha()) or a[-1] != b[-1]:
        return False
    return any(a[:k] + a[k + 1 :] == b for k in range(1, len(a) - 1))


def is_other_number(a: str, b: str) -> bool:
    return all(re.fullmatch(r"[\d.,]*\d", word) for word in (a, b)) and a != b


KINDS: dict[str, Pair] = {
    "singular and plural": is_plural,
    "verb and regular form": is_tense,
    "number and number word": is_number_word,
    "clitic and full word": is_clitic,
    "hyphenated and not": is_hyphenated,
    "a letter missing": is_misspelled,
}


def list_pairs(gold) -> Iterator[tuple[str, int, int]]:
    """Word pairs of the kinds that are counted, with their places."""
    source, target = ([word.lower() for word in words] for words in (gold.source, gold.target))
    counts = Counter(source), Counter(target)
    at = {word: j for j, word in enumerate(target) if counts[1][word] == 1}
    seen = -1
    for i, a in enumerate(source):
        if counts[0][a] == 1 and a in at and len(a) > 3:
            yield ("equal word, once in each, in order" if at[a] > seen else "equal word, moved"), i, at[a]
            seen = max(seen, at[a])
        if a in NEGATIONS and not NEGATIONS & set(target):
            yield "negation that only one side has (null)", i, -1
        for j, b in enumerate(target):
            if counts[1][a] or counts[0][b]:
                continue
            for name, is_kind in KINDS.items():
                if is_kind(a, b) or is_kind(b, a):
                    yield name, i, j
            slot = source[i - 1 : i] == target[j - 1 : j] and source[i + 1 : i + 2] == target[j + 1 : j + 2]
            if slot and i and j and len(a) > 3 and len(b) > 3:
                yield "other word between equal words", i, j
            if slot and i and j and is_other_number(a, b):
                yield "other number between equal words", i, j


def count_phrases(gold, found: Counter) -> None:
    """Count words where the other side has two, between words that are equal and linked."""
    sure, possible = gold.pairs("sure"), gold.pairs("possible")
    source, target = ([word.lower() for word in words] for words in (gold.source, gold.target))
    for swapped in (False, True):
        for i in range(1, len(source) - 1):
            for j in range(1, len(target) - 2):
                around = (i - 1, j - 1) in sure and (i + 1, j + 2) in sure
                alike = source[i - 1] == target[j - 1] and source[i + 1] == target[j + 2]
                if not (around and alike) or len(source[i]) < 4 or source[i] in target[j : j + 2]:
                    continue
                for name, least in (
                    ("one word and two, one linked", 1),
                    ("one word and two, both linked", 2),
                ):
                    found[name, "all"] += 1
                    for level, links in (("sure", sure), ("possible", possible)):
                        found[name, level] += sum((i, j + k) in links for k in range(2)) >= least
        if not swapped:
            source, target = target, source
            sure, possible = ({(j, i) for i, j in links} for links in (sure, possible))


def main() -> None:
    """Print the table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=None, help="folder of the corpora")
    data = parser.parse_args().data
    found: Counter[tuple[str, str]] = Counter()
    for corpus in CORPORA:
        for part in ("train", "dev"):
            for gold in load(corpus, part, data):
                count_phrases(gold, found)
                sure, possible = gold.pairs("sure"), gold.pairs("possible")
                linked = {i for i, _ in possible}
                for name, i, j in list_pairs(gold):
                    found[name, "all"] += 1
                    found[name, "sure"] += i not in linked if j < 0 else (i, j) in sure
                    found[name, "possible"] += i not in linked if j < 0 else (i, j) in possible
    for name in sorted({name for name, _ in found}):
        count = found[name, "all"]
        shares = "   ".join(f"{100 * found[name, level] / count:5.1f}" for level in ("sure", "possible"))
        print(f"{name:42} {count:7,}   {shares}")


if __name__ == "__main__":
    main()
