"""A difference as a standalone HTML page: the new text with the changes from the old one.

Removed and added words are `del` and `ins` elements, and each change has a tooltip; lines distinguish them
without colour. Moved passages link to their former position. Long unchanged parts are folded. The page is
light or dark as the reader prefers, can be printed, and has no scripts. Any text gives well-formed HTML.
"""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from otalign.diff.difference import Difference, Passage, Place
from otalign.render.inline import Inline, inline, numbers, side_by_side, summarize

POLICY = "default-src 'none'; style-src 'unsafe-inline'"  # nothing in a text is run or fetched
MIN_FOLDED = 6  # unchanged passages in a row that are folded

# Name: on light, on dark. Each text has a contrast of at least 4.5 to its background.
COLOURS = {
    "back": ("#ffffff", "#15191f"),
    "text": ("#1f2328", "#e6edf3"),
    "quiet": ("#59636e", "#9aa5b1"),
    "edge": ("#d5dae0", "#343b45"),
    "removed": ("#a40e26", "#ff9a9a"),
    "removed-back": ("#ffebe9", "#3c1a1d"),
    "added": ("#0a5c26", "#7fdc96"),
    "added-back": ("#dafbe1", "#15301d"),
    "reworded": ("#7a4a00", "#f0c060"),
    "reworded-back": ("#fff3d1", "#352a10"),
    "moved": ("#0b4fa8", "#8fc1ff"),
    "moved-back": ("#e3efff", "#142b49"),
}
RULES = """
body{margin:0;background:var(--back);color:var(--text);font:1.05rem/1.65 system-ui,-apple-system,'Segoe UI',
'Noto Sans',Helvetica,Arial,sans-serif}
main{max-width:46rem;margin:0 auto;padding:1.5rem 1.25rem 4rem;overflow-wrap:anywhere}
h1{font-size:1.3rem;line-height:1.3;margin:.5rem 0}
header{border-bottom:1px solid var(--edge);margin-bottom:1.5rem;padding-bottom:1rem}
header p,summary,.note{color:var(--quiet);font-size:.9rem;margin:.4rem 0}
summary{cursor:pointer}
ins,del,mark{border-radius:.2em;padding:0 .15em;-webkit-box-decoration-break:clone;box-decoration-break:clone}
del{color:var(--removed);background:var(--removed-back);text-decoration:line-through}
ins{color:var(--added);background:var(--added-back);text-decoration:underline;text-underline-offset:.2em}
.reworded{color:var(--reworded);background:var(--reworded-back)}
ins.reworded{text-decoration-style:double}
.moved{color:var(--moved);background:var(--moved-back)}
ins.moved,mark.moved{text-decoration:underline dashed;text-underline-offset:.2em}
span:target{outline:2px solid var(--moved)}
a{color:var(--moved)}
.note{display:inline-block;border:1px dashed var(--moved);border-radius:.3em;padding:0 .4em;margin:0}
@media print{body{font-size:11pt;-webkit-print-color-adjust:exact;print-color-adjust:exact}
main{max-width:none;padding:0}details::details-content{content-visibility:visible}}
"""
LEGEND = (
    '<del title="removed">removed</del> <ins title="added">added</ins> '
    '<del class="reworded" title="now: new words">reworded</del>'
    '<ins class="reworded" title="was: reworded">new words</ins> '
    '<mark class="moved" title="moved">moved</mark>'
)


def changes_page(difference: Difference, title: str) -> str:
    """Return the page as text."""
    return "\n".join(
        [
            '<!doctype html>\n<html lang="und">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            f"<title>{escape(title)}</title>\n<style>{_write_style()}</style>\n</head>\n<body>\n<main>",
            f"<header>\n<h1>{escape(title)}</h1>\n<p>{summarize(difference)}</p>\n<p>{LEGEND}</p>\n</header>",
            *_write_body(difference),
            "</main>\n</body>\n</html>\n",
        ]
    )


def _write_style() -> str:
    light, dark = (
        "".join(f"--{name}:{colours[scheme]};" for name, colours in COLOURS.items()) for scheme in (0, 1)
    )
    dark = f"@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    return f"\n:root{{color-scheme:light dark;{light}}}\n{dark}{RULES}"


def _write_body(difference: Difference) -> Iterator[str]:
    """Yield the paragraphs; many unchanged sentences in a row are folded."""
    paragraphs = _group_paragraphs(difference)
    for unchanged, group in groupby(paragraphs, lambda places: _has_no_change(difference, places)):
        block = list(group)
        count = sum(map(len, block))
        folded = unchanged and count >= MIN_FOLDED
        if folded:
            yield f"<details>\n<summary>{count:,} unchanged</summary>"
        yield from (f"<p>{' '.join(_write_parts(difference, places))}</p>" for places in block)
        if folded:
            yield "</details>"


def _has_no_change(difference: Difference, places: Sequence[Place]) -> bool:
    passages = [difference.passages[place.number] for place in places]
    return all(passage.kind == "same" and not passage.moved for passage in passages)


def _group_paragraphs(difference: Difference) -> list[list[Place]]:
    paragraphs: list[list[Place]] = []
    for place in difference.places:
        passage = difference.passages[place.number]
        side = "old" if place.left or not passage.new else "new"
        if not paragraphs or getattr(passage, side)[0] in getattr(difference, side).paragraph_starts:
            paragraphs.append([])
        paragraphs[-1].append(place)
    return paragraphs


def _write_parts(difference: Difference, places: Sequence[Place]) -> Iterator[str]:
    for left, group in groupby(places, lambda place: place.left):
        numbered = [place.number for place in group]
        if left:
            yield from _write_pointers(difference, numbered)
        else:
            yield from (_write_passage(difference, difference.passages[k], k) for k in numbered)


def _write_pointers(difference: Difference, numbered: Sequence[int]) -> Iterator[str]:
    for run in side_by_side([difference.passages[k] for k in numbered]):
        anchors = "".join(f'<span id="left-{numbered[k]}"></span>' for k in run.places)
        link = f'<a href="#moved-{numbered[run.places[0]]}">{numbers(run.new)}</a>'
        yield f'<small class="note">{anchors}{numbers(run.old)} moved to {link}</small>'


def _write_passage(difference: Difference, passage: Passage, number: int) -> str:
    text = "".join(map(_mark_html, inline(difference, passage)))
    if not passage.moved:
        return text
    back = f'<a href="#left-{number}" title="where it stood">from {numbers(passage.old)}</a>'
    if passage.kind == "same":
        text = f'<mark class="moved" title="moved from {numbers(passage.old)}">{text}</mark>'
    return f'<span id="moved-{number}">{text} <small>({back})</small></span>'


def _mark_html(item: Inline) -> str:
    piece, old, new, blank, other = item
    before = " " if blank else ""
    match piece.fate:
        case "kept":
            return before + escape(new)
        case "removed":
            return before + _write_element("del", old, "removed")
        case "added":
            return before + _write_element("ins", new, "added")
        case "reworded":
            was, now = old or other, new or other
            parts = [_write_element("del", old, f"now: {now}", "reworded")] if old else []
            parts += [_write_element("ins", new, f"was: {was}", "reworded")] if new else []
            return before + " ".join(parts)
    away = _write_element("del", old, "moved away" if old == other else f"moved, now: {other}", "moved")
    here = _write_element("ins", new, "moved here" if new == other else f"moved, was: {other}", "moved")
    return before + (here if new else away)


def _write_element(name: str, text: str, title: str, kind: str = "") -> str:
    attribute = f' class="{kind}"' if kind else ""
    return f'<{name}{attribute} title="{escape(title)}">{escape(text)}</{name}>'
