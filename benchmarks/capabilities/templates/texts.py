"""Whole texts and invariance: identity, paragraphs, source and target exchanged, batches, raw text."""

from random import Random
from typing import Any

from capabilities.cases import Capability, Case, Group, Half, list_words, match_same_words, take_half

ACTORS = [
    "the young baker",
    "our new mayor",
    "a retired pilot",
    "the village teacher",
    "my eldest cousin",
    "an honest lawyer",
    "the tall goalkeeper",
    "a French chemist",
    "the night nurse",
    "her second husband",
    "some angry customers",
    "the famous pianist",
    "two Danish sailors",
    "the head gardener",
    "their former boss",
    "a lonely shepherd",
]
ACTIONS = [
    "opened a small bakery",
    "painted the garden fence",
    "repaired an old radio",
    "collected wild mushrooms",
    "wrote a long complaint",
    "bought seven cheap bicycles",
    "missed the last ferry",
    "planted several apple trees",
    "lost a valuable ring",
    "drew a map of the island",
    "cancelled the spring concert",
    "found a hidden staircase",
    "sold the wooden cottage",
    "taught algebra to beginners",
    "baked a chocolate cake",
    "crossed the frozen lake",
]
CLOSINGS = [
    "before the summer began",
    "in the middle of the night",
    "without telling anybody",
    "near the railway station",
    "during the heavy storm",
    "for the first time",
    "after a long discussion",
    "with great patience",
    "because of the strike",
    "on a rainy Thursday",
    "despite all warnings",
    "at the edge of the forest",
]
NAMES = list_words(
    "Anna Boris Clara Dmitri Ellen Farid Greta Hugo Irene Jonas Karin Lukas Mona Niels Olga Paolo"
)
SYNONYMS = {"bought": "purchased", "repaired": "fixed", "found": "discovered", "wrote": "composed"}
GROUP = "whole texts"
INVARIANCE = "invariance"


def write_text(sentences: int, half: Half, random: Random) -> list[str]:
    """Write varied sentences that repeat an actor or action as late as possible."""
    parts = []
    for values in (ACTORS, ACTIONS, CLOSINGS):
        stock, line = take_half(values, half), []
        while len(line) < sentences:
            line += random.sample(stock, len(stock))
        parts.append(line[:sentences])
    names = take_half(NAMES, half)
    made = []
    for actor, action, closing in zip(*parts, strict=True):
        lead = random.choice(
            (f"{random.choice(names)} said that", "Later", "Then", "Once again", "Meanwhile")
        )
        made.append(f"{lead} {actor} {action} {closing} .")
    return made


def pair_with_itself(least: int, most: int, count: int = 30):
    """Cases of a text of a given length with itself; each word must be linked to itself alone."""

    def make(half: Half) -> list[Case]:
        random, made = Random(f"identity {least} {half}"), []
        for k in range(count):
            wanted = least + (most - least) * k // max(1, count - 1)
            words = " ".join(write_text(wanted // 9 + 1, half, random)).split()[:wanted]
            groups = tuple(Group(frozenset((i,)), frozenset((i,))) for i in range(len(words)))
            made.append(Case(tuple(words), tuple(words), groups))
        return made

    return make


def pair_paragraphs(reorder: bool):
    """Cases of paragraphs of three to seven sentences, some words changed, perhaps in another order.

    Longer words must be linked inside the sentences that correspond.
    """

    def make(half: Half) -> list[Case]:
        random, made = Random(f"paragraphs {reorder} {half}"), []
        for k in range(30):
            sentences = write_text(3 + k % 5, half, random)
            changed = [" ".join(SYNONYMS.get(word, word) for word in one.split()) for one in sentences]
            order = list(range(len(sentences)))
            if reorder:
                order = order[1:] + order[:1] if k % 2 else order[::-1]
            made.append(_join(sentences, changed, order))
        return made

    return make


def _join(sentences: list[str], changed: list[str], order: list[int]) -> Case:
    """One case of several sentence pairs, whose targets come in this order."""
    starts, words = {}, []
    for k in order:
        starts[k] = len(words)
        words += changed[k].split()
    source, groups = [], []
    for k, (one, other) in enumerate(zip(sentences, changed, strict=True)):
        groups += [
            Group(
                frozenset(len(source) + i for i in group.source),
                frozenset(starts[k] + j for j in group.target),
            )
            for group in match_same_words(one, other).groups
        ]
        source += one.split()
    return Case(tuple(source), tuple(words), tuple(groups))


def pair_loosely(half: Half) -> list[Case]:
    """Pairs that differ in order and words, without an expectation of their own."""
    random, made = Random(f"loose {half}"), []
    for _ in range(36):
        one, other, third = write_text(3, half, random)
        changed = " ".join(SYNONYMS.get(word, word) for word in one.split())
        words = changed.split()
        cut = random.randrange(2, len(words) - 1)
        target = [*words[cut:-1], *words[:cut], *third.split()[-4:]]
        made.append(Case(tuple(f"{one} {other}".split()), tuple(target)))
    return made


def check_exchanged(aligner: Any, case: Case) -> list[str]:
    """Compare the links with those of target and source."""
    source, target = list(case.source), list(case.target)
    turned = {(j, i) for i, j in aligner.align(target, source).pairs}
    return _compare(case, aligner.align(source, target).pairs, turned)


def check_batch(aligner: Any, case: Case) -> list[str]:
    """Compare the links alone with those beside other pairs."""
    source, target = list(case.source), list(case.target)
    others = [(source * 3, target), (source[:3], target[:2]), (target, target * 2)]
    *_, last = aligner.align_many([*others, (source, target)])
    return _compare(case, aligner.align(source, target).pairs, set(last.pairs))


def check_raw(aligner: Any, case: Case) -> list[str]:
    """Compare the links of raw text with those of the words that it was split into."""
    raw = aligner.align(" ".join(case.source).replace(" .", "."), " ".join(case.target))
    return _compare(case, raw.pairs, set(aligner.align(list(raw.source), list(raw.target)).pairs))


def _compare(case: Case, one: frozenset, other: set) -> list[str]:
    return [f"in one only: {i}-{j}" for i, j in sorted(set(one) ^ other)]


ITSELF = "Each word is linked to itself and to nothing else."
EQUAL = "A word is equal to itself."
CAPABILITIES = [
    Capability("identity, 5 to 20 words", GROUP, ITSELF, EQUAL, pair_with_itself(5, 20)),
    Capability("identity, 21 to 80 words", GROUP, ITSELF, EQUAL, pair_with_itself(21, 80)),
    Capability("identity, 100 to 600 words", GROUP, ITSELF, EQUAL, pair_with_itself(100, 600)),
    Capability(
        "paragraphs",
        GROUP,
        "Longer words are linked inside the sentences that correspond.",
        "Sentence by sentence, annotators would link them so.",
        pair_paragraphs(reorder=False),
    ),
    Capability(
        "paragraphs, sentences in another order",
        GROUP,
        "Longer words are linked inside the sentences that correspond.",
        "Sentence by sentence, annotators would link them so.",
        pair_paragraphs(reorder=True),
    ),
    Capability(
        "source and target exchanged",
        INVARIANCE,
        "The links are the same, transposed.",
        "Correspondence is symmetric.",
        pair_loosely,
        check_exchanged,
    ),
    Capability(
        "alone and in a batch",
        INVARIANCE,
        "The links are the same.",
        "Other pairs have nothing to do with it.",
        pair_loosely,
        check_batch,
    ),
    Capability(
        "raw text and words",
        INVARIANCE,
        "The links are the same.",
        "The words are the same.",
        pair_loosely,
        check_raw,
    ),
]
