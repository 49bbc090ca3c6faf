"""Cases of the behaviour suite: a sentence pair with the links that it must and must not have.

A template is a text whose words are separated by spaces. `word/1` belongs to group 1: each word of
a group must be linked to a word of the same group on the other side, and to nothing else. `word/0` must be
null. A word without a mark may be linked to any other word without one.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal

Half = Literal["train", "report"]
Words = tuple[str, ...]
Cells = frozenset[tuple[int, int]]

HALVES: tuple[Half, ...] = ("train", "report")
MARK = re.compile(r"^(.+)/(\d+)$")
NULL = 0  # the mark of a word that must be null
CONTENT_LETTERS = 4  # words at least this long are taken for content words
CASES = 36  # maximum number of cases of a capability in each half
FEWEST = 30


@dataclass(frozen=True)
class Group:
    """Words that correspond: none may be linked outside of the group.

    Attributes:
        source: Source words of the group.
        target: Target words of the group.
        whole: Whether each word must be linked inside the group; if not, one link is enough.
    """

    source: frozenset[int]
    target: frozenset[int]
    whole: bool = True


@dataclass(frozen=True)
class Case:
    """A sentence pair with what is expected of its links.

    Attributes:
        source: Words of the source sentence.
        target: Words of the target sentence.
        groups: Words that must be linked with each other.
        source_nulls: Source words that must have no link.
        target_nulls: Target words that must have no link.
    """

    source: Words
    target: Words
    groups: tuple[Group, ...] = ()
    source_nulls: frozenset[int] = frozenset()
    target_nulls: frozenset[int] = frozenset()

    def find_faults(self, links: Cells) -> list[str]:
        """Describe missing and superfluous links; an empty list means that the case passes."""
        faults = []
        for group in self.groups:
            inside = {(i, j) for i, j in links if i in group.source and j in group.target}
            outside = {(i, j) for i, j in links if (i in group.source) != (j in group.target)}
            missing = [self.source[i] for i in sorted(group.source - {i for i, _ in inside})]
            missing += [self.target[j] for j in sorted(group.target - {j for _, j in inside})]
            if inside and not group.whole:
                missing = []
            faults += [f"no link: {word}" for word in missing]
            faults += [f"wrong link: {self.source[i]}–{self.target[j]}" for i, j in sorted(outside)]
        for i, j in sorted(links):
            if i in self.source_nulls or j in self.target_nulls:
                faults.append(f"not null: {self.source[i]}–{self.target[j]}")
        return faults


Check = Callable[[Any, Case], list[str]]  # takes an aligner and a case, returns the faults


def check_links(aligner: Any, case: Case) -> list[str]:
    """Align the pair alone and compare its links with what the case expects."""
    return case.find_faults(aligner.align(list(case.source), list(case.target)).pairs)


@dataclass(frozen=True)
class Capability:
    """One thing that an aligner should be able to do.

    Attributes:
        name: A short name, unique in the suite.
        group: The part of the suite that it belongs to.
        expectation: The expected result, in a sentence.
        source: Why this is expected: what annotators of gold corpora do, or a definition.
        make: Makes the cases of a half.
        check: Finds the faults of a case.
        agreed: Whether annotators agree on it; if not, it is a convention that the suite only reports.
    """

    name: str
    group: str
    expectation: str
    source: str
    make: Callable[[Half], Iterable[Case]]
    check: Check = check_links
    agreed: bool = True

    def cases(self, half: Half) -> list[Case]:
        """The cases of a half, each once, and no more than `CASES`."""
        return list(islice(dict.fromkeys(self.make(half)), CASES))


def read_case(source: str, target: str) -> Case:
    """Make a case from two marked texts."""
    (source_words, source_marks), (target_words, target_marks) = _read(source), _read(target)
    numbers = sorted({mark for mark in (*source_marks, *target_marks) if mark is not None and mark != NULL})
    groups = []
    for number in numbers:
        group = Group(_places(source_marks, number), _places(target_marks, number))
        if not (group.source and group.target):
            raise ValueError(f"group {number} must have words on both sides, got {source!r} and {target!r}")
        groups.append(group)
    nulls = _places(source_marks, NULL), _places(target_marks, NULL)
    return Case(source_words, target_words, tuple(groups), *nulls)


def match_same_words(source: str, target: str, least: int = CONTENT_LETTERS) -> Case:
    """Make a case in which each longer word that both sides have once must be linked to itself.

    Marks of the texts also count, as in `read_case`.
    """
    case = read_case(source, target)
    marked = [set().union(*(getattr(group, side) for group in case.groups)) for side in ("source", "target")]
    folded = [[word.casefold() for word in words] for words in (case.source, case.target)]
    counts = [Counter(words) for words in folded]
    groups = list(case.groups)
    for i, word in enumerate(folded[0]):
        once = all(count[word] == 1 for count in counts)
        if not (once and len(word) >= least and any(letter.isalnum() for letter in word)):
            continue
        j = folded[1].index(word)
        if i not in marked[0] and j not in marked[1]:
            groups.append(Group(frozenset((i,)), frozenset((j,))))
    return Case(case.source, case.target, tuple(groups), case.source_nulls, case.target_nulls)


def list_words(text: str) -> list[str]:
    """Split a line into words; a line is easier to read and to change than a list."""
    return text.split()


def mark_words(text: str, number: int) -> str:
    """Put a mark on each word of a text."""
    return " ".join(f"{word}/{number}" for word in text.split())


def fill_slot(frame: str, text: str, number: int = 1) -> str:
    """Put a marked text into the slot `@` of a frame."""
    return " ".join(mark_words(text, number) if word == "@" else word for word in frame.split())


def take_half(values: Sequence, half: Half) -> list:
    """Every second value: halves never share a frame or a filler."""
    return list(values[HALVES.index(half) :: len(HALVES)])


def cross(frames: Sequence, fillers: Sequence, half: Half) -> list[tuple[Any, Any]]:
    """All frames of a half with all fillers of it, so that the first cases already use every frame."""
    frames, fillers = take_half(frames, half), take_half(fillers, half)
    count = len(frames) * len(fillers)
    step = len(frames) + (len(frames) % max(1, len(fillers)) == 0)
    seen = dict.fromkeys(
        (k % len(frames), (k * step + k // len(fillers)) % len(fillers)) for k in range(count)
    )
    rest = ((f, g) for g in range(len(fillers)) for f in range(len(frames)))
    return [(frames[f], fillers[g]) for f, g in dict.fromkeys((*seen, *rest))]


def substitute(
    frames: Sequence, fillers: Sequence[tuple[str, str]], whole: bool = True
) -> Callable[[Half], list[Case]]:
    """Cases that put one filler into the source and its counterpart into the target.

    A frame is one text for both sides, or a pair of texts. If fillers are not linked as a whole, one link
    between them is enough.
    """

    def make(half: Half) -> list[Case]:
        made = []
        for frame, (one, other) in cross(frames, fillers, half):
            left, right = (frame, frame) if isinstance(frame, str) else frame
            case = read_case(fill_slot(left, one), fill_slot(right, other))
            made.append(replace(case, groups=tuple(replace(group, whole=whole) for group in case.groups)))
        return made

    return make


def fill_marked(frames: Sequence[str], fillers: Sequence[tuple[str, str]]) -> Callable[[Half], list[Case]]:
    """Cases of frames and fillers that carry their own marks."""

    def make(half: Half) -> list[Case]:
        return [read_case(frame.format(a), frame.format(b)) for frame, (a, b) in cross(frames, fillers, half)]

    return make


def _read(text: str) -> tuple[Words, list[int | None]]:
    words, marks = [], []
    for part in text.split():
        found = MARK.match(part)
        words.append(found[1] if found else part)
        marks.append(int(found[2]) if found else None)
    return tuple(words), marks


def _places(marks: Sequence[int | None], number: int) -> frozenset[int]:
    return frozenset(k for k, mark in enumerate(marks) if mark == number)
