"""A difference in the terminal: both versions in one text or side by side, with some context.

    ~! 1 → 1    The harbour office opens at [~eight → nine~](!number).
    ~  2 → 2–3  Tickets are sold at the desk[=, → .=] [-and-] [=the → The=] ferry …

A mark before each passage tells its kind (~ edited, = minor, + new, - gone, > moved here, < moved away, ! the
meaning changed), and numbers its sentences, old → new. Within it, old words are in [square] brackets, new
words in {curly} ones, and moved words have a number in both. Colour only repeats that.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, zip_longest
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from otalign.diff.difference import KINDS, TRAITS, Difference, Passage, Place
from otalign.render.inline import (
    SIDES,
    Inline,
    Side,
    inline,
    line,
    list_origins,
    numbers,
    side_by_side,
    summarize,
)
from otalign.render.terminal import LINK_STYLE

# As in `render.terminal`: legible on black and on white.
OLD, NEW, REWORDED, MOVED = "color(167)", "color(64)", "color(136)", "color(31)"
FLAG, QUIET = "bold color(169)", LINK_STYLE
MARKS = {"same": "", "minor": "=", "edited": "~", "split": "~", "joined": "~", "new": "+", "gone": "-"}
STYLES = {"same": QUIET, "new": NEW, "gone": OLD}
LEGEND = "[-removed-] {+added+} [~old → new~] [=minor=] [1:moved] {1:here} (!flag)"
COLUMNS_LEGEND = "[-removed-] {+added+} [~old~] {~new~} [1:moved] {1:here} (!flag)"
MIN_WIDTH = 20  # cells for the text, however narrow the terminal
SEPARATOR = " │ "
FILTERS: tuple[str, ...] = (*KINDS[1:], *TRAITS)


def changes(
    difference: Difference, context: int = 1, only: Collection[str] = (), *, columns: bool = False
) -> "Changes":
    """Return the changes with unchanged passages around each; print it with a rich console.

    Args:
        difference: The difference.
        context: Number of passages to show before and after a change.
        only: Kinds and traits of the passages to show; all if there are none.
        columns: Whether to draw the versions side by side, or else in one text.

    Raises:
        ValueError: If the context is negative, or a kind unknown.
    """
    if context < 0:
        raise ValueError(f"context must be a number of passages, 0 or more, got {context}")
    for name in only:
        if name not in FILTERS:
            raise ValueError(f"kinds must be among {', '.join(FILTERS)}, got {name!r}")
    return Changes(difference, context, frozenset(only), columns)


class Row(NamedTuple):
    """A line of the drawing: a mark, the numbers of sentences, and a text for both versions or for each."""

    mark: str
    label: str
    texts: tuple[Text, ...]


@dataclass(frozen=True)
class Changes:
    """Renderable of rich that draws a difference in any width."""

    difference: Difference
    context: int
    only: frozenset[str] = frozenset()
    columns: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from _wrap([Text(summarize(self.difference))], console, options.max_width)
        rows = [] if self.difference.same else list(self._make_rows())
        if not rows:
            return
        yield Text("")
        marks = max(cell_len(row.mark) for row in rows)
        labels = max(cell_len(row.label) for row in rows)
        indent = marks + labels + 3
        for row in rows:
            head = f"{row.mark:<{marks}} {row.label:<{labels}}  "
            for k, part in enumerate(_wrap(row.texts, console, options.max_width - indent)):
                yield Text.assemble((head if k == 0 else " " * indent, QUIET), part, no_wrap=True)
        yield Text("")
        yield Text(COLUMNS_LEGEND if self.columns else LEGEND, style=QUIET)

    def is_selected(self, passage: Passage) -> bool:
        """Return whether a passage changed in a way that is to be shown."""
        chosen = not self.only or passage.kind in self.only or not self.only.isdisjoint(passage.traits)
        return passage.changed and chosen

    @cached_property
    def _origins(self) -> dict[int, str]:
        return list_origins(self.difference)

    def _make_rows(self) -> Iterator[Row]:
        places = self.difference.places
        changed = [
            k for k, place in enumerate(places) if self.is_selected(self.difference.passages[place.number])
        ]
        shown = {near for k in changed for near in range(k - self.context, k + self.context + 1)}
        keys = ((k in shown, k in shown and place.left) for k, place in enumerate(places))
        for (near, left), group in groupby(zip(keys, places, strict=True), lambda item: item[0]):
            chosen = [place for _, place in group]
            if not near:
                if not all(place.left for place in chosen):  # what moved away is counted where it is now
                    yield Row("", "", (self._describe_omission(chosen),))
            elif left:
                yield from self._make_pointers(chosen)
            else:
                yield from (self._draw_passage(place.number) for place in chosen)

    def _describe_omission(self, places: Sequence[Place]) -> Text:
        changed = any(place.left or self.difference.passages[place.number].changed for place in places)
        count = sum(not place.left for place in places)
        return Text(f"⋯ {count:,} {'not shown' if changed else 'unchanged'}", style=QUIET)

    def _draw_passage(self, number: int) -> Row:
        passage = self.difference.passages[number]
        flagged = any(piece.flag for piece in passage.pieces)
        mark = MARKS[passage.kind] + (">" if passage.moved else "") + ("!" if flagged else "")
        label = f"{numbers(passage.old)} → {numbers(passage.new)}".strip()
        if self.columns:
            texts = [_mark_side(inline(self.difference, passage, side), side) for side in SIDES]
        else:
            texts = [_mark_text(inline(self.difference, passage))]
        if len(passage.pieces) == 1:
            piece = passage.pieces[0]
            style = MOVED if passage.moved else STYLES.get(passage.kind, "")
            plain = [line(self.difference.text(piece, side)) for side in SIDES]
            texts = [Text(text, style) for text in (plain if self.columns else [plain[1] or plain[0]])]
        notes = [passage.kind] if passage.kind in ("split", "joined") else []
        notes += [self._origins[number]] if number in self._origins else []
        if notes:
            texts[-1].append(f" ({'; '.join(notes)})", MOVED if passage.moved else QUIET)
        return Row(mark, label, tuple(texts))

    def _make_pointers(self, places: Sequence[Place]) -> Iterator[Row]:
        for run in side_by_side([self.difference.passages[place.number] for place in places]):
            text = Text(f"moved to {numbers(run.new)}", style=MOVED)
            yield Row("<", numbers(run.old), (text,))


def _wrap(texts: Sequence[Text], console: Console, width: int) -> Iterator[Text]:
    """Yield the lines of a text, or of two texts side by side."""
    if len(texts) == 1:
        for part in texts[0].wrap(console, max(width, MIN_WIDTH)):
            part.rstrip()
            yield part
        return
    half = max((width - len(SEPARATOR)) // 2, MIN_WIDTH // 2)
    for left, right in zip_longest(*(text.wrap(console, half) for text in texts)):
        left, right = left or Text(""), right or Text("")
        left.rstrip()
        right.rstrip()
        joined = Text.assemble(left, " " * (half - left.cell_len), (SEPARATOR, QUIET), right)
        joined.rstrip()
        yield joined


def _mark_text(pieces: Iterator[Inline]) -> Text:
    """Return both versions of a passage in one text."""
    text = Text()
    for item in pieces:
        text.append(" " if item.blank else "")
        old, new = item.old, item.new
        match item.piece.fate:
            case "kept":
                text.append(new)
            case "removed" | "added" | "moved":
                _append_side(text, item, "new" if new else "old")
            case "reworded" | "minor":
                sign, style = ("~", REWORDED) if item.piece.fate == "reworded" else ("=", QUIET)
                if old and new:
                    text.append(f"[{sign}{old} → {new}{sign}]", style)
                elif item.piece.fate == "minor":
                    text.append(f"[{sign}{old}{sign}]" if old else f"{{{sign}{new}{sign}}}", style)
                else:
                    text.append(f"[{sign}{old}→{new}{sign}]", style)
        _append_flag(text, item)
    return text


def _mark_side(pieces: Iterator[Inline], side: Side) -> Text:
    """Return one version of a passage, with its changes."""
    text = Text()
    for item in pieces:
        text.append(" " if item.blank else "")
        _append_side(text, item, side)
        if side == "new" or not item.new:
            _append_flag(text, item)
    return text


def _append_side(text: Text, item: Inline, side: Side) -> None:
    words = getattr(item, side)
    opening, closing = "[]" if side == "old" else "{}"
    match item.piece.fate:
        case "kept":
            text.append(words)
        case "minor":
            text.append(words, QUIET)
        case "removed" | "added":
            sign = "-" if side == "old" else "+"
            text.append(f"{opening}{sign}{words}{sign}{closing}", OLD if side == "old" else NEW)
        case "reworded":
            text.append(f"{opening}~{words}~{closing}", REWORDED)
        case "moved":
            text.append(f"{opening}{(item.piece.unit or 0) + 1}:{words}{closing}", MOVED)


def _append_flag(text: Text, item: Inline) -> None:
    if item.piece.flag:
        text.append(f"(!{item.piece.flag})", FLAG)
