"""The edits of augmentation: words of a pair change, and its targets with them.

Each takes an example, random numbers and a function that draws another training pair, edits the target side,
and returns a new example, or None where it does not apply.
"""

from collections.abc import Callable
from dataclasses import replace
from random import Random

import numpy as np

from otalign.training.examples import (
    Example,
    Words,
    join_examples,
    make_identity_example,
    make_null_example,
)
from otalign.training.exchanges import CLOSING, SPAN_WORDS, Draw, exchange_spans
from otalign.training.word_groups import WordGroups

CONNECTIVES = ("and", "and", "but", ",", ";", "while", ".")
JOINED_WORDS = 120  # maximum length of a sentence of joined pairs
CLAUSE_WORDS = 25
TRIES = 3  # attempts to draw another pair that suits an edit
CONTENT_LETTERS = 4  # words this long are taken for content words
LINKED, APART = 0.5, 0.3  # a probability above which words are linked, and below which they are not
CERTAIN = 0.8
KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
NEIGHBOURS = {key: row[max(0, k - 1) : k] + row[k + 1 : k + 2] for row in KEYS for k, key in enumerate(row)}


def swap_words(siblings: WordGroups | None, example: Example, random: Random, draw: Draw) -> Example | None:
    """Swap two linked words of the target sentence, half of the time two words of the same kind.

    For that, one of them is replaced on both sides by a sibling of the other. A word then faces a word of the
    same kind, while its counterpart is elsewhere.
    """
    cells = _find_linked_words(example)
    if len(cells) < 2:
        return None
    (_, one), (i, other) = random.sample(cells, 2)
    phrases = siblings.find(example.target[one]) if siblings else ()
    present = {word.lower() for word in (*example.source, *example.target)}
    new = [words[0] for words in phrases if len(words) == 1 and words[0].lower() not in present]
    if new and random.random() < 0.5:
        source, target, targets = list(example.source), list(example.target), example.targets.copy()
        source[i] = target[other] = random.choice(new)
        targets[:, i, other] = 1
        example = replace(example, source=tuple(source), target=tuple(target), targets=targets)
    order = list(range(len(example.target)))
    order[one], order[other] = other, one
    return example.select_target(order)


def misspell_words(example: Example, random: Random, draw: Draw) -> Example | None:
    """Misspell one word, about a third, or all longer words of the target sentence. Links stay."""
    candidates = [
        k for k, word in enumerate(example.target) if word.isalpha() and len(word) >= CONTENT_LETTERS
    ]
    if not candidates:
        return None
    how = random.random()
    if how < 0.4:
        chosen = {random.choice(candidates)}
    else:
        share = 0.3 if how < 0.7 else 1.0
        chosen = {k for k in candidates if random.random() < share} or {random.choice(candidates)}
    words = (misspell(word, random) if k in chosen else word for k, word in enumerate(example.target))
    return replace(example, target=tuple(words))


def misspell(word: str, random: Random) -> str:
    """Swap, drop, double or mistype a letter; mostly not the first one."""
    k = random.randrange(1, len(word)) if random.random() < 0.85 else 0
    how = random.randrange(4)
    if how == 0 and len(word) > 2:
        k = min(k, len(word) - 2)
        return word[:k] + word[k + 1] + word[k] + word[k + 2 :]
    if how == 1 and len(word) > 2:
        return word[:k] + word[k + 1 :]
    if how == 2:
        return word[: k + 1] + word[k:]
    near = NEIGHBOURS.get(word[k].lower())
    return word[:k] + random.choice(near) + word[k + 1 :] if near else word[: k + 1] + word[k:]


def replace_target(example: Example, random: Random, draw: Draw) -> Example | None:
    """Take the target of another pair; the two must not share a content word."""
    for _ in range(TRIES):
        target = draw().target
        if not _find_content_words(example.source) & _find_content_words(target):
            return make_null_example(example.source, target, example)
    return None


def _find_content_words(words: Words) -> set[str]:
    return {word.lower() for word in words if len(word) >= CONTENT_LETTERS}


def join_pairs(example: Example, random: Random, draw: Draw) -> Example | None:
    """Join two to five pairs, with their targets in the same or another order."""
    joined, count = [example], random.choice((2, 2, 2, 3, 4, 5))
    for _ in range(count - 1):
        other = draw()
        previous = [_find_content_words(pair.source) | _find_content_words(pair.target) for pair in joined]
        new = _find_content_words(other.source) | _find_content_words(other.target)
        alike = any(len(new & old) > 0.3 * min(len(new), len(old)) for old in previous)
        fits = all(
            sum(shape) <= JOINED_WORDS for shape in zip(*(one.shape for one in (*joined, other)), strict=True)
        )
        if fits and not alike:  # pairs with the same meaning would be linked with each other
            joined.append(other)
    if len(joined) == 1:
        return None
    order = list(range(len(joined)))
    if random.random() < 0.5:
        random.shuffle(order)
    return join_examples(joined, order)


def repeat_clause(example: Example, random: Random, draw: Draw) -> Example | None:
    """Join a pair with a copy of it in which one to three linked words are replaced on both sides.

    Most words then occur twice in both sentences, and only their context shows which belong together.
    """
    if max(example.shape) > CLAUSE_WORDS:
        return None
    clause = _strip_punctuation(example)
    cells = _find_linked_words(clause)
    new = sorted(
        _find_content_words(draw().source)
        - _find_content_words(clause.source)
        - _find_content_words(clause.target)
    )
    count = min(random.randint(1, 3), len(cells), len(new))
    if not count:
        return None
    source, target = list(clause.source), list(clause.target)
    for (i, j), word in zip(random.sample(cells, count), random.sample(new, count), strict=True):
        source[i] = target[j] = word
    changed = replace(clause, source=tuple(source), target=tuple(target))
    link = make_identity_example((random.choice(CONNECTIVES),), clause)
    return join_examples([clause, link, changed], [2, 1, 0] if random.random() < 0.6 else [0, 1, 2])


def _strip_punctuation(example: Example) -> Example:
    """Remove the closing punctuation of both sentences, so that the pair can be part of another."""
    for _ in range(2):
        if len(example.target) > 1 and example.target[-1] in CLOSING:
            example = example.select_target(range(len(example.target) - 1))
        example = example.transpose()
    return example


def _find_linked_words(example: Example) -> list[tuple[int, int]]:
    """Find cells of content words that are linked with each other and with nothing else."""
    strength = example.targets.max(axis=0)
    near = strength > APART
    alone = near & (near.sum(axis=1, keepdims=True) == 1) & (near.sum(axis=0, keepdims=True) == 1)
    cells = np.argwhere(alone & (strength > LINKED)).tolist()
    return [
        (i, j) for i, j in cells if min(len(example.source[i]), len(example.target[j])) >= CONTENT_LETTERS
    ]


def replace_words(synonyms: WordGroups, example: Example, random: Random, draw: Draw) -> Example | None:
    """Replace up to three words of the target sentence by synonyms, whose words all take over the targets."""
    replaceable = [k for k, word in enumerate(example.target) if synonyms.find(word)]
    if not replaceable:
        return None
    chosen = set(random.sample(replaceable, min(len(replaceable), random.choice((1, 1, 2, 3)))))
    target: list[str] = []
    counts = []
    for k, word in enumerate(example.target):
        phrase = random.choice(synonyms.find(word)) if k in chosen else (word,)
        target += phrase
        counts.append(len(phrase))
    return replace(example, target=tuple(target), targets=np.repeat(example.targets, counts, axis=2))


def delete_span(example: Example, random: Random, draw: Draw) -> Example | None:
    """Remove a span of the target sentence, up to two fifths of it."""
    count = len(example.target)
    if count < 2:
        return None
    size = random.randint(1, max(1, 2 * count // 5))
    start = random.randint(0, count - size)
    return example.select_target([*range(start), *range(start + size, count)])


def insert_span(example: Example, random: Random, draw: Draw) -> Example | None:
    """Insert a span of another sentence whose words the source does not have."""
    present = {word.lower() for word in example.source}
    for _ in range(TRIES):
        other = draw().target
        size = random.randint(1, min(SPAN_WORDS, len(other)))
        start = random.randint(0, len(other) - size)
        span = other[start : start + size]
        if not present & {word.lower() for word in span}:
            at = random.randint(0, len(example.target))
            target = (*example.target[:at], *span, *example.target[at:])
            return replace(example, target=target, targets=np.insert(example.targets, [at] * size, 0, axis=2))
    return None


def pair_single_words(example: Example, random: Random, draw: Draw) -> Example | None:
    """Pair one word with its counterpart, or with a word of another pair."""
    if random.random() < 0.5:
        certain = example.targets[example.weights > 0].min(axis=0, initial=1.0) >= CERTAIN
        cells = np.argwhere(certain & bool(example.weights.any())).tolist()
        if not cells:
            return None
        i, j = random.choice(cells)
        targets = example.targets[:, i : i + 1, j : j + 1]
        return replace(example, source=(example.source[i],), target=(example.target[j],), targets=targets)
    one, other = random.choice(example.source), random.choice(draw().target)
    if one[:CONTENT_LETTERS].lower() == other[:CONTENT_LETTERS].lower():
        return None
    return make_null_example((one,), (other,), example)


def pair_with_itself(example: Example, random: Random, draw: Draw) -> Example | None:
    """Pair the source with itself, half of the time with spans exchanged."""
    same = make_identity_example(example.source, example)
    exchanged = exchange_spans(same, random, draw) if random.random() < 0.5 else None
    return exchanged or same


CASES: tuple[Callable[[str], str], ...] = (str.lower, str.lower, str.upper, str.title, str.capitalize)


def change_case(example: Example, random: Random) -> Example:
    """Change the case of both sentences, or of one of them."""
    change, sides = random.choice(CASES), random.choice(("both", "both", "source", "target"))
    source, target = (
        tuple(map(change, words)) if sides in ("both", side) else words
        for words, side in ((example.source, "source"), (example.target, "target"))
    )
    return replace(example, source=source, target=target)
