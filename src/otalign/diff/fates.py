"""The fates of the words of a passage: kept, reworded, moved, added or removed, in reading order.

A link between equal words means that the word was kept; its other links are ignored. The words of the
remaining links were reworded, by phrases. When both versions are written in one line, each in its order, kept
and reworded words share a column; those that cannot have moved. Words without a link were removed or added.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from otalign.alignment import Alignment, Link
from otalign.diff.difference import Fate, Piece
from otalign.gloss import GlossColumn, columns
from otalign.text.sentences import Span


def pieces(alignment: Alignment, old_start: int, new_start: int) -> tuple[Piece, ...]:
    """Return the pieces of two aligned texts, given their offsets in the documents."""
    assert alignment.source_spans is not None
    assert alignment.target_spans is not None
    selected = replace(alignment, links=tuple(_select_links(alignment)))
    layout = columns(selected, lambda column: _count_letters(selected, column))
    in_place = {column.phrase for column in layout if column.source and column.target}
    result = [
        Piece(
            _find_fate(selected, column, in_place),
            _join_spans(alignment.source_spans, column.source, old_start),
            _join_spans(alignment.target_spans, column.target, new_start),
            column.phrase,
        )
        for column in layout
    ]
    return tuple(_number_units(_merge_pieces(_join_moves(result))))


def _select_links(alignment: Alignment) -> list[Link]:
    """Return the links that decide fates; a word that is the same in both texts has one."""
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
    neighbours = _find_equal_neighbours(alignment, kept, old, new)
    return [*(Link(i, j) for i, j in [*kept.items(), *neighbours]), *reworded]


def _has_letters(word: str) -> bool:
    return any(map(str.isalnum, word))


def _find_equal_neighbours(
    alignment: Alignment, kept: dict[int, int], old: set[int], new: set[int]
) -> list[tuple[int, int]]:
    """Return equal words among those without a link, `old` and `new`, that are next to a kept word."""
    pairs: list[tuple[int, int]] = []
    queue = list(kept.items())
    while queue:
        i, j = queue.pop()
        for k, m in ((i - 1, j - 1), (i + 1, j + 1)):
            if k in old and m in new and alignment.source[k] == alignment.target[m]:
                old.remove(k)
                new.remove(m)
                pairs.append((k, m))
                queue.append((k, m))
    return pairs


def _count_letters(alignment: Alignment, column: GlossColumn) -> int:
    words = [alignment.source[i] for i in column.source] + [alignment.target[j] for j in column.target]
    return sum(map(len, words))


def _find_fate(alignment: Alignment, column: GlossColumn, in_place: set[int | None]) -> Fate:
    if column.phrase is None:
        return "removed" if column.source else "added"
    if column.phrase not in in_place:
        return "moved"
    source, target = alignment.phrases[column.phrase]
    equal = [alignment.source[i] for i in source] == [alignment.target[j] for j in target]
    return "kept" if equal else "reworded"


def _join_spans(spans: Sequence[Span], words: Sequence[int], start: int) -> Span | None:
    return (start + spans[words[0]][0], start + spans[words[-1]][1]) if words else None


def _join_moves(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the pieces with one unit for words that have moved side by side."""
    following = {
        (side, piece.unit, after.unit)
        for side in ("old", "new")
        for piece, after in pairwise(pieces)
        if piece.fate == after.fate == "moved" and piece.side(side) and after.side(side)
    }
    first = {
        after: unit for side, unit, after in following if side == "old" and ("new", unit, after) in following
    }

    def find_unit(piece: Piece) -> int | None:
        unit = piece.unit
        while unit in first:
            unit = first[unit]
        return unit

    return [piece._replace(unit=find_unit(piece)) if piece.fate == "moved" else piece for piece in pieces]


def _merge_pieces(pieces: Sequence[Piece]) -> list[Piece]:
    """Merge neighbours of one fate, except reworded phrases and words that moved separately."""
    merged: list[Piece] = []
    for piece in pieces:
        if merged and _can_merge(merged[-1], piece):
            last = merged.pop()
            piece = piece._replace(old=_cover(last.old, piece.old), new=_cover(last.new, piece.new))
        merged.append(piece)
    return merged


def _can_merge(last: Piece, piece: Piece) -> bool:
    if last.fate != piece.fate or (last.old is None) != (piece.old is None):
        return False
    return piece.fate != "reworded" and (piece.fate != "moved" or last.unit == piece.unit)


def _cover(first: Span | None, second: Span | None) -> Span | None:
    return (first[0], second[1]) if first and second else None


def _number_units(pieces: Sequence[Piece]) -> list[Piece]:
    """Number the units of reworded and moved pieces from 0; other pieces have none."""
    units = [piece.unit for piece in pieces if piece.fate in ("reworded", "moved")]
    numbers = {unit: number for number, unit in enumerate(dict.fromkeys(units))}
    return [
        piece._replace(unit=numbers[piece.unit] if piece.fate in ("reworded", "moved") else None)
        for piece in pieces
    ]
