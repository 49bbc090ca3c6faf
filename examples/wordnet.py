"""Write groups of words for `otalign train --synonyms --siblings`, from the files of WordNet 3.0.

python examples/wordnet.py FOLDER synonyms.tsv siblings.tsv      # FOLDER has index.noun, cntlist.rev, …

Words are synonyms here if the most frequent sense of each is the same, and siblings if those of two nouns are
of the same kind, such as fork and spoon. Their regular inflections are written too, and among the synonyms
number words with their figures. Debian's package wordnet-base has the folder /usr/share/wordnet.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

PARTS = {"noun": 1, "verb": 2, "adj": 3, "adv": 4}  # with their numbers in sense keys
SATELLITE = 5  # number of adjectives that stand by another, in sense keys
DOMINANT = 0.8  # share of a word's occurrences that its part of speech must have
MOST_SIBLINGS, MOST_LETTERS = 60, 10  # a larger group has little in common, and longer words are rare
ONES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"]
ONES += ["twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]


def read_lines(file: Path) -> Iterator[str]:
    """Yield the lines of a file of WordNet without its licence, which is indented."""
    with file.open(encoding="latin-1") as lines:
        yield from (line for line in lines if not line.startswith("  "))


def count_parts(folder: Path) -> dict[str, Counter[int]]:
    """Count how often each lemma occurs as each part of speech in the texts that WordNet was tagged on."""
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    for line in read_lines(folder / "cntlist.rev"):
        key, _, count = line.split()
        lemma, rest = key.split("%")
        part = int(rest[0])
        counts[lemma][PARTS["adj"] if part == SATELLITE else part] += int(count)
    return counts


def find_first_senses(folder: Path, part: str, counts: dict[str, Counter[int]]) -> dict[str, list[str]]:
    """Find the lemmas of one part of speech by their most frequent sense."""
    first: dict[str, list[str]] = defaultdict(list)
    for line in read_lines(folder / f"index.{part}"):
        lemma, *rest = line.split()
        senses = int(rest[1])
        total = counts[lemma].total()
        if total and counts[lemma][PARTS[part]] < DOMINANT * total:
            continue
        first[rest[-senses]].append(lemma)
    return first


def find_synonyms(folder: Path, part: str, counts: dict[str, Counter[int]]) -> Iterator[list[str]]:
    """Yield the lemmas of one part of speech whose most frequent sense is the same."""
    for group in find_first_senses(folder, part, counts).values():
        words = [lemma.replace("_", " ") for lemma in group if len(lemma) > 1]
        words = [word for word in words if word.replace(" ", "").isalpha()]
        if len(words) > 1 and any(counts[lemma] for lemma in group):  # names of species do not occur
            yield words


def find_siblings(folder: Path, counts: dict[str, Counter[int]]) -> Iterator[list[str]]:
    """Yield the nouns whose most frequent senses are of the same kind."""
    first = find_first_senses(folder, "noun", counts)
    groups: dict[str, list[str]] = defaultdict(list)
    for line in read_lines(folder / "data.noun"):
        sense, *rest = line.split(" | ")[0].split()
        words = [lemma for lemma in first.get(sense, ()) if lemma.isalpha() and len(lemma) <= MOST_LETTERS]
        kind = next((rest[k + 1] for k, mark in enumerate(rest) if mark in ("@", "@i")), None)
        if words and kind:
            groups[kind].append(words[0])  # the others are its synonyms
    yield from (group for group in groups.values() if 3 <= len(group) <= MOST_SIBLINGS)


def read_irregular(folder: Path, part: str) -> set[str]:
    """Read the lemmas with irregular inflections."""
    return {lemma for line in read_lines(folder / f"{part}.exc") for lemma in line.split()[1:]}


def inflect(word: str, suffix: str) -> str:
    """Add -s, -ing or -ed by the regular rules."""
    if suffix == "s":
        if word.endswith("y") and word[-2:-1] not in "aeiou":
            return word[:-1] + "ies"
        return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")
    if suffix == "ed" and word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ied"
    if word.endswith("e") and not word.endswith(("ee", "oe", "ye")):
        word = word[:-1]
    return word + suffix


def doubles(word: str) -> bool:
    """Whether a verb may double its last consonant, which depends on its stress."""
    return len(word) > 2 and word[-1] not in "aeiouwxy" and word[-2] in "aeiou" and word[-3] not in "aeiou"


def inflect_group(words: list[str], part: str, irregular: set[str]) -> Iterator[list[str]]:
    """Yield a group, and its regular inflections."""
    yield words
    regular = [word for word in words if not {word, *word.split()} & irregular and len(word) > 2]
    if part == "noun":
        yield [inflect(word, "s") for word in regular]
    if part == "verb":
        for suffix in ("s", "ing", "ed"):
            heads = [word.partition(" ") for word in regular if suffix == "s" or not doubles(word.split()[0])]
            yield [inflect(head, suffix) + space + rest for head, space, rest in heads]


def list_numbers() -> Iterator[list[str]]:
    """Yield number words with their figures."""
    yield from ([str(k), word] for k, word in enumerate(ONES))
    for ten, word in enumerate(TENS, 2):
        yield [str(10 * ten), word]
        yield from ([str(10 * ten + k), f"{word}-{ONES[k]}"] for k in range(1, 10))
    endings = {1: "st", 2: "nd", 3: "rd"}
    yield from ([f"{k}{endings.get(k, 'th')}", word] for k, word in enumerate(ORDINALS, 1))


def write_groups(groups: list[list[str]], output: Path) -> None:
    """Write the groups that have more than one word."""
    groups = [group for group in groups if len(group) > 1]
    output.write_text("".join("\t".join(group) + "\n" for group in groups), encoding="utf-8")
    print(f"{output}: {len(groups):,} groups of words")


def main(folder: Path, synonyms: Path, siblings: Path) -> None:
    counts = count_parts(folder)
    groups = list(list_numbers())
    for part in PARTS:
        irregular = read_irregular(folder, part)
        for words in find_synonyms(folder, part, counts):
            groups += inflect_group(words, part, irregular)
    write_groups(groups, synonyms)
    irregular = read_irregular(folder, "noun")
    kinds = find_siblings(folder, counts)
    write_groups([group for words in kinds for group in inflect_group(words, "noun", irregular)], siblings)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*map(Path, sys.argv[1:]))
