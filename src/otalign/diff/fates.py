"""The fates of the words of a passage: kept, minor, reworded, moved, added or removed, in reading order.

A link between equal words means that the word was kept; its other links are ignored. The words of the
remaining links were reworded, by phrases; the change is minor if they differ in case or punctuation alone.
When both versions are written in one line, each in its order, kept and reworded words share a column; those
that cannot have moved. Words without a link were removed or added.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from otalign.alignment import Alignment, Link
from otalign.diff.difference import Fate, Piece
from otalign.diff.edits import Edit, merge_edits
from otalign.diff.wording import Flag, SpannedWord, count_numbers, find_flag
from otalign.gloss import GlossColumn, arrange_columns
from otalign.text.sentences import Span

Key = Callable[[str], str]  # words are equal if their keys are


def pieces(alignment: Alignment, old_start: int, new_start: int, key: Key = str) -> tuple[Piece, ...]:
    """Return the pieces of two aligned texts.

    Args:
        alignment: The alignment, with spans.
        old_start: Offset of the source in the old document.
        new_start: Offset of the target in the new document.
        key: Function whose value is the same for words that count as equal.
    """
    old = _place_words(alignment.source, alignment.source_spans, old_start)
    new = _place_words(alignment.target, alignment.target_spans, new_start)
    selected = replace(alignment, links=tuple(_select_links(alignment, key)))
    layout = arrange_columns(selected, lambda column: _count_letters(selected, column))
    in_place = {column.phrase for column in layout if column.source and column.target}
    edits = [
        Edit(
            _find_fate(selected, column, in_place, key),
            tuple(old[i] for i in column.source),
            tuple(new[j] for j in column.target),
            -1 if column.phrase is None else column.phrase,
        )
        for column in layout
    ]
    return tuple(_make_pieces(merge_edits(edits)))


def _place_words(words: Sequence[str], spans: Sequence[Span] | None, start: int) -> list[SpannedWord]:
    assert spans is not None
    return [
        SpannedWord(word, (start + span[0], start + span[1])) for word, span in zip(words, spans, strict=True)
    ]


def _select_links(alignment: Alignment, key: Key) -> list[Link]:
    """Return the links that decide fates; a word that is the same in both texts has one."""
    n, m = alignment.shape
    source, target = ([key(word) for word in side] for side in (alignment.source, alignment.target))

    def order(link: Link) -> tuple[float, float]:
        return -link.weight, abs(link.source / n - link.target / m)

    kept: dict[int, int] = {}
    taken: set[int] = set()
    for i, j, _ in sorted(alignment.links, key=order):
        if source[i] == target[j] and i not in kept and j not in taken:
            kept[i] = j
            taken.add(j)
    # A word is not reworded as punctuation.
    reworded = [
        link
        for link in alignment.links
        if link.source not in kept
        and link.target not in taken
        and _has_letters(source[link.source]) == _has_letters(target[link.target])
    ]
    old = set(range(n)) - {i for i, _, _ in reworded} - kept.keys()
    new = set(range(m)) - {j for _, j, _ in reworded} - taken
    neighbours = _find_equal_neighbours(source, target, kept, old, new)
    return [*(Link(i, j) for i, j in [*kept.items(), *neighbours]), *reworded]


def _has_letters(word: str) -> bool:
    return any(map(str.isalnum, word))


def _find_equal_neighbours(
    source: Sequence[str], target: Sequence[str], kept: dict[int, int], old: set[int], new: set[int]
) -> list[tuple[int, int]]:
    """Return equal words among those without a link, `old` and `new`, that are next to a kept word."""
    pairs: list[tuple[int, int]] = []
    queue = list(kept.items())
    while queue:
        i, j = queue.pop()
        for k, m in ((i - 1, j - 1), (i + 1, j + 1)):
            if k in old and m in new and source[k] == target[m]:
                old.remove(k)
                new.remove(m)
                pairs.append((k, m))
                queue.append((k, m))
    return pairs


def _count_letters(alignment: Alignment, column: GlossColumn) -> int:
    words = [alignment.source[i] for i in column.source] + [alignment.target[j] for j in column.target]
    return sum(map(len, words))


def _find_fate(alignment: Alignment, column: GlossColumn, in_place: set[int | None], key: Key) -> Fate:
    if column.phrase is None:
        return "removed" if column.source else "added"
    if column.phrase not in in_place:
        return "moved"
    source, target = alignment.phrases[column.phrase]
    equal = [key(alignment.source[i]) for i in source] == [key(alignment.target[j]) for j in target]
    return "kept" if equal else "reworded"


def _make_pieces(edits: Sequence[Edit]) -> list[Piece]:
    """Return the edits as pieces, with flags, and with units that are numbered from 0."""
    flags = _find_flags(edits)
    units = [edit.unit for edit in edits if edit.fate in ("reworded", "moved")]
    numbers = {unit: number for number, unit in enumerate(dict.fromkeys(units))}
    return [
        Piece(
            edit.fate,
            _join_spans(edit.old),
            _join_spans(edit.new),
            numbers[edit.unit] if edit.fate in ("reworded", "moved") else None,
            flag,
        )
        for edit, flag in zip(edits, flags, strict=True)
    ]


def _join_spans(words: Sequence[SpannedWord]) -> Span | None:
    return (words[0].span[0], words[-1].span[1]) if words else None


def _find_flags(edits: Sequence[Edit]) -> list[Flag | None]:
    """Return the flag of each edit; the halves of a unit are judged together."""
    halves: dict[int, list[Edit]] = {}
    for edit in edits:
        halves.setdefault(edit.unit, []).append(edit)
    swapped = _find_swapped_numbers(edits)

    def find(edit: Edit) -> Flag | None:
        if edit.fate in ("kept", "minor"):
            return None
        if edit.fate in ("added", "removed"):
            number = "number" if count_numbers(edit.old + edit.new).keys() & swapped else None
            return find_flag(edit.old, edit.new) or number
        unit = halves[edit.unit]
        return find_flag([word for half in unit for word in half.old], [w for half in unit for w in half.new])

    return [find(edit) for edit in edits]


def _find_swapped_numbers(edits: Sequence[Edit]) -> set[Fraction | str]:
    """Return the numbers that were removed and added, if there are both: one has replaced the other."""
    removed, added = (
        sum((count_numbers(e.old + e.new) for e in edits if e.fate == fate), Counter[Fraction | str]())
        for fate in ("removed", "added")
    )
    lost, gained = (removed - added).keys(), (added - removed).keys()
    return {*lost, *gained} if lost and gained else set()
