"""A difference as an HTML page: a single file that shows the new text with the changes from the old one.

Removed and added words are `del` and `ins` elements, and each change has a tooltip; lines distinguish them
without colour. Moved passages link to their former position. Long unchanged parts are folded. The script only
adds to this: steps from change to change, a filter by kind, and both versions side by side. The page is light
or dark as the reader prefers, and can be printed. Any text gives well-formed HTML.
"""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from string import Template

from otalign.diff.difference import KINDS, TRAITS, Difference, Passage, Place
from otalign.render.assets import asset
from otalign.render.inline import (
    Inline,
    describe_change,
    group_paragraphs,
    inline,
    list_origins,
    numbers,
    side_by_side,
    summarize,
)

# Nothing in a text is run, since it is escaped, and nothing is fetched.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
MIN_FOLDED = 6  # unchanged passages in a row that are folded
FLAG_TITLES = {"number": "a number changed", "negation": "a negation was added or removed"}

# Name: on light, on dark. Each text has a contrast of at least 4.5 to its background, each border of 3.
COLOURS = {
    "back": ("#ffffff", "#15191f"),
    "text": ("#1f2328", "#e6edf3"),
    "quiet": ("#59636e", "#9aa5b1"),
    "edge": ("#868e97", "#68727d"),
    "removed": ("#a40e26", "#ff9a9a"),
    "removed-back": ("#ffebe9", "#3c1a1d"),
    "added": ("#0a5c26", "#7fdc96"),
    "added-back": ("#dafbe1", "#15301d"),
    "reworded": ("#7a4a00", "#f0c060"),
    "reworded-back": ("#fff3d1", "#352a10"),
    "moved": ("#0b4fa8", "#8fc1ff"),
    "moved-back": ("#e3efff", "#142b49"),
    "flag": ("#8a1573", "#ff9be6"),
}
LEGEND = (
    '<del title="removed">removed</del> <ins title="added">added</ins> '
    '<span><del class="reworded" title="now: new words">reworded</del> '
    '<ins class="reworded" title="was: reworded">new words</ins></span> '
    '<span><del class="minor" title="now: Case">case</del> '
    '<ins class="minor" title="was: case">Case, punctuation</ins></span> '
    '<mark class="moved" title="moved">moved</mark> '
    '<span class="flag" title="the meaning changed">number, negation</span>'
)


def changes_page(difference: Difference, title: str) -> str:
    """Return the page as text."""
    return Template(asset("changes.html")).substitute(
        policy=POLICY,
        title=escape(title),
        style=_write_colours() + asset("changes.css"),
        summary=escape(summarize(difference)),
        legend=LEGEND,
        filters=_write_filters(difference),
        changes="\n".join(_write_list(difference)),
        body="\n".join(_write_body(difference)),
        script=asset("changes.js"),
    )


def _write_colours() -> str:
    light, dark = (
        "".join(f"--{name}:{colours[scheme]};" for name, colours in COLOURS.items()) for scheme in (0, 1)
    )
    dark = f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    return f":root{{color-scheme:light dark;{light}}}\n{dark}\n"


def _write_filters(difference: Difference) -> str:
    counts = difference.counts
    total = sum(passage.changed for passage in difference)
    options = [("", f"all changes ({total:,})")]
    options += [(name, f"{name} ({counts[name]:,})") for name in (*KINDS[1:], *TRAITS) if counts[name]]
    return "".join(f'<option value="{name}">{text}</option>' for name, text in options)


def _list_kinds(passage: Passage) -> list[str]:
    """Return the kind and the traits of a change."""
    return [*([] if passage.kind == "same" else [passage.kind]), *passage.traits]


def _write_list(difference: Difference) -> Iterator[str]:
    for number, passage in enumerate(difference.passages):
        if passage.changed:
            kinds = _list_kinds(passage)
            text = f"<b>{', '.join(kinds)}</b> {escape(describe_change(difference, passage))}"
            yield f'<li data-kinds="{" ".join(kinds)}"><a href="#change-{number}">{text}</a></li>'


def _write_body(difference: Difference) -> Iterator[str]:
    """Yield the paragraphs; many unchanged sentences in a row are folded."""
    origins = list_origins(difference)
    paragraphs = group_paragraphs(difference)
    for unchanged, group in groupby(paragraphs, lambda places: _has_no_change(difference, places)):
        block = list(group)
        count = sum(map(len, block))
        folded = unchanged and count >= MIN_FOLDED
        if folded:
            yield f'<details>\n<summary lang="en">{count:,} unchanged</summary>'
        for places in block:
            yield f'<p dir="auto">{" ".join(_write_parts(difference, places, origins))}</p>'
        if folded:
            yield "</details>"


def _has_no_change(difference: Difference, places: Sequence[Place]) -> bool:
    return not any(difference.passages[place.number].changed for place in places)


def _write_parts(difference: Difference, places: Sequence[Place], origins: dict[int, str]) -> Iterator[str]:
    for left, group in groupby(places, lambda place: place.left):
        numbered = [place.number for place in group]
        if left:
            yield from _write_pointers(difference, numbered)
        else:
            yield from (_write_passage(difference, k, origins.get(k)) for k in numbered)


def _write_pointers(difference: Difference, numbered: Sequence[int]) -> Iterator[str]:
    for run in side_by_side([difference.passages[k] for k in numbered]):
        anchors = "".join(f'<span id="left-{numbered[k]}"></span>' for k in run.places)
        link = f'<a href="#change-{numbered[run.places[0]]}">{numbers(run.new)}</a>'
        note = f"{anchors}sentence{'s' * (len(run.old) > 1)} {numbers(run.old)} moved to {link}"
        yield f'<small class="note moved only-old" lang="en" data-kinds="moved">{note}</small>'


def _write_passage(difference: Difference, number: int, origin: str | None) -> str:
    passage = difference.passages[number]
    origin_title = f"moved from {numbers(passage.old)}" if passage.moved else ""
    text = "".join(_mark_html(item, origin_title) for item in inline(difference, passage))
    if not passage.changed:
        return f'<span class="passage">{text}</span>'
    if passage.kind in ("split", "joined"):
        text += f' <small class="note" lang="en">{passage.kind}</small>'
    if origin:
        link = f'<a href="#left-{number}">{escape(origin)}</a>'
        text += f' <small class="note moved only-new" lang="en">{link}</small>'
    kinds = " ".join(_list_kinds(passage))
    classes = "passage" + {"new": " only-new", "gone": " only-old"}.get(passage.kind, "")
    return f'<span class="{classes}" id="change-{number}" data-kinds="{kinds}">{text}</span>'


def _mark_html(item: Inline, origin: str = "") -> str:
    """Return a piece as HTML, given the origin of its passage if that has moved."""
    piece, old, new, blank, blank_between, other = item
    text = _write_element("mark", new, origin, "moved") if origin else escape(new)
    match piece.fate:
        case "removed":
            text = _write_element("del", old, "removed")
        case "added":
            text = _write_element("ins", new, "added")
        case "reworded" | "minor":
            now, was = new or other, old or other
            removed = (
                _write_element("del", old, f"now: {now}" if now else "removed", piece.fate) if old else ""
            )
            added = _write_element("ins", new, f"was: {was}" if was else "added", piece.fate) if new else ""
            # Side by side, each keeps the space before it.
            text = (" " if blank_between else "").join(filter(None, (removed, added)))
        case "moved" if new:
            text = _write_element(
                "ins", new, "moved here" if new == other else f"moved, was: {other}", "moved"
            )
        case "moved":
            text = _write_element(
                "del", old, "moved away" if old == other else f"moved, now: {other}", "moved"
            )
    return (" " if blank else "") + text + _write_flag(item)


def _write_flag(item: Inline) -> str:
    flag = item.piece.flag
    side = "" if item.old and item.new else " only-old" if item.old else " only-new"
    return f'<small class="flag{side}" lang="en" title="{FLAG_TITLES[flag]}">{flag}</small>' if flag else ""


def _write_element(name: str, text: str, title: str, kind: str = "") -> str:
    attribute = f' class="{kind}"' if kind else ""
    return f'<{name}{attribute} title="{escape(title)}">{escape(text)}</{name}>'
