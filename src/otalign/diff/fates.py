"""What became of the words of a passage: kept, reworded, moved, added or removed, in the order of reading.

A link between words of one form says that the word was kept, and what else the two are linked with does not
count. The words of the other links were reworded, by phrases. Written in one line, both versions in their
order, kept and reworded words of both meet; those that cannot have moved. Words without a link were removed
or added.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from otalign.alignment import Alignment, Link
from otalign.diff.difference import Fate, Piece
from otalign.gloss import GlossColumn, columns
from otalign.text.sentences import Span


def pieces(alignment: Alignment, old_start: int, new_start: int) -> tuple[Piece, ...]:
    """The words of two texts, which start at these places of their documents, in pieces."""
    assert alignment.source_spans is not None
    assert alignment.target_spans is not None
    told = replace(alignment, links=tuple(_select_links(alignment)))
    laid = columns(told, lambda column: _letters(told, column))
    met = {column.phrase for column in laid if column.source and column.target}
    made = [
        Piece(
            _fate(told, column, met),
            _span(alignment.source_spans, column.source, old_start),
            _span(alignment.target_spans, column.target, new_start),
            column.phrase,
        )
        for column in laid
    ]
    return tuple(_number_units(_merge_pieces(_moved_together(made))))


def _select_links(alignment: Alignment) -> list[Link]:
    """The links that say what became of a word; a word that is the same in both has one."""
    n, m = alignment.shape
    source, target = alignment.source, alignment.target

    def order(link: Link) -> tuple[float, float]:
        return -link.weight, abs(link.source / n - link.target / m)

    kept: dict[int, int] = {}
    taken: set[int] = set()
    for i, j, _ in sorted(alignment.links, key=order):
        if source[i] == target[j] and i not in kept and j not in taken:
            kept[i] = j
            taken.add(j)
    # No word becomes a comma.
    reworded = [
        link
        for link in alignment.links
        if link.source not in kept
        and link.target not in taken
        and _is_written(source[link.source]) == _is_written(target[link.target])
    ]
    old = set(range(n)) - {i for i, _, _ in reworded} - kept.keys()
    new = set(range(m)) - {j for _, j, _ in reworded} - taken
    beside = _same_beside(alignment, kept, old, new)
    return [*(Link(i, j) for i, j in [*kept.items(), *beside]), *reworded]


def _is_written(word: str) -> bool:
    return any(map(str.isalnum, word))


def _same_beside(
    alignment: Alignment, kept: dict[int, int], old: set[int], new: set[int]
) -> list[tuple[int, int]]:
    """Of the words without a link, `old` and `new`, those that are the same and stand beside a kept one."""
    found: list[tuple[int, int]] = []
    reached = list(kept.items())
    while reached:
        i, j = reached.pop()
        for one, other in ((i - 1, j - 1), (i + 1, j + 1)):
            if one in old and other in new and alignment.source[one] == alignment.target[other]:
                old.remove(one)
                new.remove(other)
                found.append((one, other))
                reached.append((one, other))
    return found


def _letters(alignment: Alignment, column: GlossColumn) -> int:
    words = [alignment.source[i] for i in column.source] + [alignment.target[j] for j in column.target]
    return sum(map(len, words))


def _fate(alignment: Alignment, column: GlossColumn, met: set[int | None]) -> Fate:
    if column.phrase is None:
        return "removed" if column.source else "added"
    if column.phrase not in met:
        return "moved"
    source, target = alignment.phrases[column.phrase]
    alike = [alignment.source[i] for i in source] == [alignment.target[j] for j in target]
    return "kept" if alike else "reworded"


def _span(spans: Sequence[Span], words: Sequence[int], start: int) -> Span | None:
    return (start + spans[words[0]][0], start + spans[words[-1]][1]) if words else None


def _moved_together(made: Sequence[Piece]) -> list[Piece]:
    """The same with one unit for words that have moved side by side."""
    following = {
        (side, piece.unit, after.unit)
        for side in ("old", "new")
        for piece, after in pairwise(made)
        if piece.fate == after.fate == "moved" and piece.side(side) and after.side(side)
    }
    first = {
        after: unit for side, unit, after in following if side == "old" and ("new", unit, after) in following
    }

    def unit_of(piece: Piece) -> int | None:
        unit = piece.unit
        while unit in first:
            unit = first[unit]
        return unit

    return [piece._replace(unit=unit_of(piece)) if piece.fate == "moved" else piece for piece in made]


def _merge_pieces(made: Sequence[Piece]) -> list[Piece]:
    """Neighbours of one fate as one piece, but reworded phrases and what moved apart each on their own."""
    joined: list[Piece] = []
    for piece in made:
        if joined and _belong(joined[-1], piece):
            last = joined.pop()
            piece = piece._replace(old=_over(last.old, piece.old), new=_over(last.new, piece.new))
        joined.append(piece)
    return joined


def _belong(last: Piece, piece: Piece) -> bool:
    if last.fate != piece.fate or (last.old is None) != (piece.old is None):
        return False
    return piece.fate != "reworded" and (piece.fate != "moved" or last.unit == piece.unit)


def _over(first: Span | None, second: Span | None) -> Span | None:
    return (first[0], second[1]) if first and second else None


def _number_units(made: Sequence[Piece]) -> list[Piece]:
    """Units counted from 0 where a piece may have its other half elsewhere, and none where it has not."""
    told = [piece.unit for piece in made if piece.fate in ("reworded", "moved")]
    numbers = {unit: number for number, unit in enumerate(dict.fromkeys(told))}
    return [
        piece._replace(unit=numbers[piece.unit] if piece.fate in ("reworded", "moved") else None)
        for piece in made
    ]
