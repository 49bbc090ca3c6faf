"""An edit of augmentation that exchanges spans of a sentence: list items, phrases, or its beginning."""

from collections.abc import Callable
from itertools import chain, pairwise
from random import Random

from otalign.training.examples import Example

Draw = Callable[[], Example]  # returns another training pair, at random
SEPARATORS = frozenset(("and", "or", ",", ";", "&", "but"))
CLOSING = frozenset((".", "!", "?", "...", "…"))
ITEM_WORDS, SPAN_WORDS = 4, 4  # longest list item, and longest span that is exchanged or inserted


def exchange_spans(example: Example, random: Random, draw: Draw) -> Example | None:
    """Move spans of the target sentence: permute list items, swap two spans, or rotate the sentence.

    Closing punctuation stays where it is.
    """
    count = len(example.target) - (example.target[-1] in CLOSING)
    if count < 2:
        return None
    separators = _find_separators([word.lower() for word in example.target[:count]])
    how = random.random()
    order = None
    if separators and how < 0.5:
        order = _permute_items(count, separators, random)
    if order is None:
        order = _swap_spans(count, random) if how < 0.75 else _rotate(count, separators, random)
    return example.select_target([*order, *range(count, len(example.target))])


def _find_separators(words: list[str]) -> list[range]:
    """Find separators inside a sentence; adjacent ones, such as a comma and "and", are one."""
    separators: list[range] = []
    for k, word in enumerate(words):
        if word in SEPARATORS and 0 < k < len(words) - 1:
            if separators and separators[-1].stop == k:
                separators[-1] = range(separators[-1].start, k + 1)
            else:
                separators.append(range(k, k + 1))
    return separators


def _permute_items(count: int, separators: list[range], random: Random) -> list[int] | None:
    """Permute the items of a list around separators such as "," and "and"."""
    first = random.randrange(len(separators))
    run = [separators[first]]
    for at in separators[first + 1 :]:  # the separators of one list are a few words apart
        if at.start - run[-1].stop > ITEM_WORDS:
            break
        run.append(at)
    inner = [range(a.stop, b.start) for a, b in pairwise(run)]
    before = run[0].start - max((at.stop for at in separators[:first]), default=0)
    after = min((at.start for at in separators[first + len(run) :]), default=count) - run[-1].stop
    left, right = (len(inner[0]), len(inner[-1])) if inner else _draw_widths(random)
    left, right = min(left, before), min(right, after)
    if not (left and right):
        return None
    items = [range(run[0].start - left, run[0].start), *inner, range(run[-1].stop, run[-1].stop + right)]
    shuffled = random.sample(items, len(items))
    if shuffled == items:
        shuffled = items[::-1]
    middle = chain.from_iterable((*one, *at) for one, at in zip(shuffled, [*run, ()], strict=True))
    return [*range(items[0].start), *middle, *range(items[-1].stop, count)]


def _draw_widths(random: Random) -> tuple[int, int]:
    """Choose two items around one separator, mostly of similar length."""
    width = random.randint(1, ITEM_WORDS)
    return width, width if random.random() < 0.7 else random.randint(1, ITEM_WORDS)


def _swap_spans(count: int, random: Random) -> list[int]:
    """Swap two spans that do not overlap."""
    one, other = sorted(random.sample(range(count), 2))
    end = random.randint(one + 1, min(other, one + SPAN_WORDS))
    stop = random.randint(other + 1, min(count, other + SPAN_WORDS))
    return [*range(one), *range(other, stop), *range(end, other), *range(one, end), *range(stop, count)]


def _rotate(count: int, separators: list[range], random: Random) -> list[int]:
    """Move the beginning to the end."""
    if separators and random.random() < 0.5:
        cut = random.choice(separators).stop
    else:
        cut = random.randint(1, count - 1)
    return [*range(cut, count), *range(cut)]
