"""A difference in the terminal: both versions in one text, changed passages with some context.

    ~ 2 → 2–3   It stands on a low cliff above the harbour[-, and-]{+.+} [~on → On~] clear nights …
    - 9 →       Nobody complained about the food, although there was little of it.

A mark before each passage tells its kind (~ edited, + new, - gone, > moved here, < moved away), and numbers
its sentences, old → new. Within it, old words are in [square] brackets, new words in {curly} ones, and moved
words have a number in both. Colour only repeats that.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from otalign.diff.difference import Difference, Passage, Place
from otalign.render.inline import Inline, inline, line, numbers, side_by_side, summarize

OLD, NEW, REWORDED, MOVED, QUIET = "red", "green", "yellow", "cyan", "dim"
MARKS = {"same": "", "edited": "~", "new": "+", "gone": "-"}
STYLES = {"same": QUIET, "edited": "", "new": NEW, "gone": OLD}
MIN_WIDTH = 20  # cells for the text, however narrow the terminal


def changes(difference: Difference, context: int = 1) -> "Changes":
    """Return the changes with unchanged passages around each; print it with a rich console.

    Args:
        difference: The difference.
        context: Number of unchanged passages to show before and after a change.

    Raises:
        ValueError: If the context is negative.
    """
    if context < 0:
        raise ValueError(f"context must be a number of passages, 0 or more, got {context}")
    return Changes(difference, context)


@dataclass(frozen=True)
class Changes:
    """Renderable of rich that draws a difference in any width."""

    difference: Difference
    context: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(summarize(self.difference))
        if self.difference.same:
            return
        yield Text("")
        rows = list(self._make_rows())
        marks = max(cell_len(mark) for mark, _, _ in rows)
        labels = max(cell_len(label) for _, label, _ in rows)
        indent = marks + labels + 3
        for mark, label, text in rows:
            head = f"{mark:<{marks}} {label:<{labels}}  "
            for k, part in enumerate(text.wrap(console, max(options.max_width - indent, MIN_WIDTH))):
                part.rstrip()
                yield Text.assemble((head if k == 0 else " " * indent, QUIET), part, no_wrap=True)
        yield Text("")
        yield Text("[-removed-] {+added+} [~old → new~] [1:moved away] {1:moved here}", style=QUIET)

    def _make_rows(self) -> Iterator[tuple[str, str, Text]]:
        """Yield a mark, the numbers of sentences and a text for each line."""
        shown = _select_places(self.difference, self.context)
        for (near, left), group in groupby(
            enumerate(self.difference.places), lambda item: (item[0] in shown, item[1].left)
        ):
            places = [place for _, place in group]
            if not near:
                yield "", "", Text(f"⋯ {len(places):,} unchanged", style=QUIET)
            elif left:
                yield from self._make_pointers(places)
            else:
                yield from (self._make_row(self.difference.passages[place.number]) for place in places)

    def _make_row(self, passage: Passage) -> tuple[str, str, Text]:
        mark = MARKS[passage.kind] + (">" if passage.moved else "")
        label = f"{numbers(passage.old)} → {numbers(passage.new)}".strip()
        if passage.kind == "edited":
            return mark, label, _mark_text(inline(self.difference, passage))
        (piece,) = passage.pieces
        text = line(self.difference.text(piece, "new" if piece.new else "old"))
        return mark, label, Text(text, style=MOVED if passage.moved else STYLES[passage.kind])

    def _make_pointers(self, places: Sequence[Place]) -> Iterator[tuple[str, str, Text]]:
        for run in side_by_side([self.difference.passages[place.number] for place in places]):
            yield "<", numbers(run.old), Text(f"moved to {numbers(run.new)}", style=MOVED)


def _select_places(difference: Difference, context: int) -> set[int]:
    """Return the indices of places to draw: changes, and those near one."""
    changed = [
        k
        for k, place in enumerate(difference.places)
        if place.left or (passage := difference.passages[place.number]).kind != "same" or passage.moved
    ]
    return {near for k in changed for near in range(k - context, k + context + 1)}


def _mark_text(pieces: Iterator[Inline]) -> Text:
    text = Text()
    for piece, old, new, blank, _ in pieces:
        text.append(" " if blank else "")
        match piece.fate:
            case "kept":
                text.append(new)
            case "removed":
                text.append(f"[-{old}-]", OLD)
            case "added":
                text.append(f"{{+{new}+}}", NEW)
            case "reworded":
                arrow = " → " if old and new else "→" if new else ""
                text.append(f"[~{old}{arrow}{new}{'' if new else '→'}~]", REWORDED)
            case "moved":
                number = f"{(piece.unit or 0) + 1}:"
                text.append(f"{{{number}{new}}}" if new else f"[{number}{old}]", MOVED)
    return text
