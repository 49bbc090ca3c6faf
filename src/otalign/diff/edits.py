"""Edits that a reader takes in at once: neighbouring small edits become one.

Word by word, a rewritten clause would be hard to read. Edits with fewer kept words between them than they
have words themselves are therefore merged, words that moved together are one unit, and a single word that
would have moved into another edit is part of it. Words are never lost: each stays in its place on its side.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Literal, NamedTuple

from otalign.diff.difference import Fate
from otalign.diff.wording import SpannedWord, differ_in_form, find_flag, is_punctuation

MAX_KEPT = 3  # kept words between edits that are merged
MAX_SURPLUS = 4  # words that one side of a merged edit may have more than the other
MAX_LOOSE = 2  # words without a counterpart that go with a reworded phrase, or with moved ones
MAX_SWAPPED = 2  # words that change places with as many others within a phrase
EDITED = ("reworded", "added", "removed")
REGIONS = dict.fromkeys(EDITED, "edited") | {"kept": "kept", "minor": "kept", "moved": "moved"}
Side = Literal["old", "new"]


class Edit(NamedTuple):
    """Neighbouring words with their fate. The halves of a phrase that are apart have the same unit."""

    fate: Fate
    old: tuple[SpannedWord, ...]
    new: tuple[SpannedWord, ...]
    unit: int

    def side(self, name: Side) -> tuple[SpannedWord, ...]:
        """Return the words of a side."""
        return getattr(self, name)


def merge_edits(edits: Sequence[Edit]) -> list[Edit]:
    """Merge word by word edits, in reading order, into those that a reader should see."""
    edits = [edit._replace(unit=k - len(edits)) if edit.unit < 0 else edit for k, edit in enumerate(edits)]
    edits = _merge_equal_fates([_mark_minor(edit) for edit in edits])
    edits = _dissolve_lonely_moves(_merge_swaps(_join_moves(edits)))
    edits = _merge_equal_fates(_merge_regions(_join_numbers(_absorb_punctuation(edits))))
    return _merge_equal_fates([_demote(edit) for edit in _settle_units(edits)])


def _count(words: Sequence[SpannedWord]) -> int:
    return sum(not is_punctuation(word.text) for word in words)


def _size(edit: Edit) -> int:
    return max(_count(edit.old), _count(edit.new))


def _mark_minor(edit: Edit) -> Edit:
    return edit._replace(fate="minor") if edit.fate != "kept" and _is_minor(edit) else edit


def _is_minor(edit: Edit) -> bool:
    """Return whether an edit in one place changes case or punctuation alone."""
    if edit.fate == "moved" and _count(edit.old + edit.new):
        return False
    return differ_in_form(edit.old, edit.new)


def _join(edits: Sequence[Edit], fate: Fate | None = None) -> Edit:
    old = tuple(word for edit in edits for word in edit.old)
    new = tuple(word for edit in edits for word in edit.new)
    found: Fate = "reworded" if old and new else "removed" if old else "added"
    return Edit(fate or found, old, new, edits[0].unit)


def _merge_equal_fates(edits: Sequence[Edit]) -> list[Edit]:
    """Merge neighbours of one fate and the same sides, except words that moved separately."""
    merged: list[Edit] = []
    for edit in edits:
        last = merged[-1] if merged else None
        if last and last.fate == edit.fate and _can_join(last, edit):
            merged[-1] = _join([last, edit], edit.fate)
        else:
            merged.append(edit)
    return merged


def _can_join(last: Edit, edit: Edit) -> bool:
    match edit.fate:
        case "moved":
            return last.unit == edit.unit and bool(last.old) == bool(edit.old)
        case "reworded":
            return False
        case "minor":  # a comma that was added does not belong to the word after it
            return bool(last.old and last.new) == bool(edit.old and edit.new)
    return bool(last.old) == bool(edit.old)


# Moves


def _join_moves(edits: Sequence[Edit]) -> list[Edit]:
    """Give one unit to words that moved and are neighbours on both sides, and merge their halves."""
    edits = list(edits)
    while pairs := _find_adjacent_moves(edits, "old") & _find_adjacent_moves(edits, "new"):
        first, second = min(sorted(pair) for pair in pairs)
        edits = [e._replace(unit=first) if e.fate == "moved" and e.unit == second else e for e in edits]
        edits = _merge_halves(edits, first)
    return edits


def _find_adjacent_moves(edits: Sequence[Edit], side: Side) -> set[frozenset[int]]:
    """Return pairs of moved units with no more than loose words between them on a side."""
    present = [edit for edit in edits if edit.side(side)]
    units = [k for k, edit in enumerate(present) if edit.fate == "moved"]
    return {
        frozenset((present[a].unit, present[b].unit))
        for a, b in pairwise(units)
        if present[a].unit != present[b].unit and _are_loose(present[a + 1 : b])
    }


def _are_loose(between: Sequence[Edit]) -> bool:
    one_sided = all(not (edit.old and edit.new) for edit in between)
    return one_sided and sum(map(_size, between)) <= MAX_LOOSE


def _merge_halves(edits: Sequence[Edit], unit: int) -> list[Edit]:
    """Merge the halves of a moved unit on each side, with the loose words between them."""
    merged: list[Edit] = []
    for edit in edits:
        if edit.fate == "moved" and edit.unit == unit:
            side: Side = "old" if edit.old else "new"
            last = next((k for k in reversed(range(len(merged))) if _is_half(merged[k], unit, side)), None)
            if last is not None and _are_loose(merged[last + 1 :]):
                merged[last:] = [_join([*merged[last:], edit], "moved")]
                continue
        merged.append(edit)
    return merged


def _is_half(edit: Edit, unit: int, side: Side) -> bool:
    return edit.fate == "moved" and edit.unit == unit and bool(edit.side(side))


def _merge_swaps(edits: Sequence[Edit]) -> list[Edit]:
    """Turn a few words that moved past a few others into one reworded phrase: also was, was also."""
    result = list(edits)
    for unit in dict.fromkeys(edit.unit for edit in edits if edit.fate == "moved"):
        halves = [k for k, edit in enumerate(result) if edit.fate == "moved" and edit.unit == unit]
        if len(halves) != 2:
            continue
        first, last = halves
        passed = result[first + 1 : last]
        sizes = _size(result[first]), sum(map(_size, passed))
        if max(sizes) <= MAX_SWAPPED and all(edit.fate != "moved" for edit in passed):
            result[first : last + 1] = [_join(result[first : last + 1])]
    return result


def _dissolve_lonely_moves(edits: Sequence[Edit]) -> list[Edit]:
    """Turn a single word that moved from or into another edit into a removed and an added word."""
    touching = {
        moved.unit
        for pair in pairwise(edits)
        for moved, other in (pair, pair[::-1])
        if moved.fate == "moved" and other.fate in EDITED
    }
    sizes: dict[int, int] = {}
    for edit in edits:
        if edit.fate == "moved":
            sizes[edit.unit] = max(sizes.get(edit.unit, 0), _size(edit))
    return [
        _join([edit]) if edit.fate == "moved" and edit.unit in touching and sizes[edit.unit] <= 1 else edit
        for edit in edits
    ]


# Regions of edits


def _absorb_punctuation(edits: Sequence[Edit]) -> list[Edit]:
    """Make punctuation that was removed or added with words beside it part of those."""
    result = list(edits)
    for order in (1, -1):  # by the words before, then by those after
        result = result[::order]
        for k in range(1, len(result)):
            before, edit = result[k - 1], result[k]
            if edit.fate == "minor" and before.fate in ("added", "removed") and not (edit.old and edit.new):
                fits = bool(before.old) == bool(edit.old)
                result[k] = edit._replace(fate=before.fate) if fits else edit
        result = result[::order]
    return _merge_equal_fates(result)


def _join_numbers(edits: Sequence[Edit]) -> list[Edit]:
    """Join neighbours that are the same number in other words: two, hundred → 200."""
    joined: list[Edit] = []
    for edit in edits:
        last = joined[-1] if joined else None
        if last and last.fate in EDITED and edit.fate in EDITED:
            whole = _join([last, edit])
            parts = {find_flag(part.old, part.new) for part in (last, edit)}
            if "number" in parts and whole.old and whole.new and not find_flag(whole.old, whole.new):
                joined[-1] = whole
                continue
        joined.append(edit)
    return joined


def _merge_regions(edits: Sequence[Edit]) -> list[Edit]:
    """Merge regions of edits that have few kept words between them."""
    regions = [list(group) for _, group in groupby(edits, _get_region)]
    while True:
        gaps = [(_count_gap(regions, k), k) for k in range(1, len(regions) - 1) if _can_merge(regions, k)]
        if not gaps:
            break
        _, k = min(gaps)
        regions[k - 1 : k + 2] = [[_join([edit for region in regions[k - 1 : k + 2] for edit in region])]]
    return [edit for region in regions for edit in _simplify_region(region)]


def _get_region(edit: Edit) -> str:
    """Return the kind of region that an edit is in; a number for a number is one of its own, to be seen."""
    in_place = edit.fate == "reworded" and len(edit.old) == len(edit.new) == 1
    return "number" if in_place and find_flag(edit.old, edit.new) == "number" else REGIONS[edit.fate]


def _count_gap(regions: Sequence[Sequence[Edit]], k: int) -> int:
    return sum(map(_size, regions[k]))


def _can_merge(regions: Sequence[Sequence[Edit]], k: int) -> bool:
    """Return whether the regions around a kept one are larger than it, and more than one addition."""
    before, kept, after = regions[k - 1 : k + 2]
    if any(edit.fate not in ("kept", "minor") for edit in kept):
        return False
    if any(_get_region(edit) != "edited" for edit in (before[0], after[0])):
        return False
    first, second, gap = _join(before), _join(after), _count_gap(regions, k)
    if {edit.unit for edit in before} & {edit.unit for edit in after}:
        return gap <= MAX_KEPT  # two halves of a phrase
    if first.fate == second.fate != "reworded" or not _is_balanced(_join([first, second])):
        return False
    smaller, larger = sorted((_size(first), _size(second)))
    return gap <= min(smaller, MAX_KEPT) and 2 * gap < smaller + larger


def _is_balanced(edit: Edit, surplus: int = MAX_SURPLUS) -> bool:
    return abs(_count(edit.old) - _count(edit.new)) <= surplus


def _simplify_region(region: Sequence[Edit]) -> Iterator[Edit]:
    """Yield the edits of a region: one, or else the removed words before the added ones."""
    if region[0].fate not in EDITED or len(region) == 1:
        yield from map(_demote, region)
        return
    whole = _join(region)
    if any(edit.fate == "reworded" for edit in region):
        if _is_balanced(whole, MAX_LOOSE):
            yield _demote(whole)
        else:
            for reworded, group in groupby(region, lambda edit: edit.fate == "reworded"):
                part = list(group)
                yield from [_demote(_join(part))] if reworded else _split_sides(part)
        return
    yield from _split_sides(region)


def _split_sides(region: Sequence[Edit]) -> Iterator[Edit]:
    whole = _demote(_join(region))
    if whole.fate in ("kept", "minor"):
        yield whole
        return
    for fate in ("removed", "added"):
        chosen = [edit for edit in region if edit.fate == fate]
        if chosen:
            yield _join(chosen)


def _demote(edit: Edit) -> Edit:
    """Return an edit as minor if its words differ in form alone, and as kept if they are equal."""
    if edit.fate not in ("reworded", "minor"):
        return edit
    if [word.text for word in edit.old] == [word.text for word in edit.new]:
        return edit._replace(fate="kept")
    return edit._replace(fate="minor") if differ_in_form(edit.old, edit.new) else edit


def _settle_units(edits: Sequence[Edit]) -> list[Edit]:
    """Turn a half whose other half is gone into removed or added words."""
    sides: dict[int, set[Side]] = {}
    names: tuple[Side, Side] = ("old", "new")
    for edit in edits:
        if edit.fate in ("reworded", "moved"):
            sides.setdefault(edit.unit, set()).update(side for side in names if edit.side(side))
    return [
        _join([edit]) if edit.fate in ("reworded", "moved") and len(sides[edit.unit]) < 2 else edit
        for edit in edits
    ]
