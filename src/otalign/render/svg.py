"""An alignment as a standalone SVG picture, for papers, pages and notebooks.

Lines of two rows of words, a curve for each link or bracketed phrase, the fainter the lighter it is, and ∅
with a dashed frame for each word without a counterpart. A link between two lines is a number at its ends, and
a curve while the pointer is on one of them. The picture brings its own background, light or dark as readers
prefer, needs nothing from outside, and describes itself. Any words make well-formed XML.
"""

from collections.abc import Iterable, Iterator, Sequence
from xml.sax.saxutils import escape

from otalign.alignment import Alignment
from otalign.render.layout import ROW, SIZE, Curve, Layout, PlacedWord, Point, Stroke, lay_out
from otalign.render.phrases import format_detail, list_phrases
from otalign.render.words import join_words, shown, strengths

FONTS = (
    *("system-ui", "-apple-system", "Segoe UI", "Noto Sans", "DejaVu Sans", "Helvetica", "Arial"),
    *("Noto Sans CJK JP", "Hiragino Sans", "Yu Gothic", "Microsoft YaHei", "Noto Sans Arabic", "sans-serif"),
)
FONT = ", ".join(f"'{name}'" if " " in name else name for name in FONTS)
# Part: property, its colour on light and on dark. The light one is in the elements themselves, for programs
# that know no style sheets. Words and strong links have a contrast of at least 4.5 to their background, the
# faintest links of 3.
COLOURS = {
    "back": ("fill", "#ffffff", "#15191f"),
    "links": ("stroke", "#1a56c4", "#79b0ff"),
    "numbers": ("fill", "#1a56c4", "#79b0ff"),
    "words": ("fill", "#1f2328", "#e6edf3"),
    "gutter": ("fill", "#59626d", "#9aa7b4"),
    "nulls": ("fill", "#a04100", "#f0a35e"),
    "frames": ("stroke", "#a04100", "#f0a35e"),
}
FAINTEST = 0.66  # opacity of a link of weight 0
THINNEST, THICKEST = 1.2, 2.6  # width of links of weight 0 and 1
FAR_STYLE = (
    ".otalign-far path{visibility:hidden}.otalign-far:hover path{visibility:visible}"
    ".otalign-far:hover text{font-weight:bold}"
)


def svg(alignment: Alignment, width: float = 900) -> str:
    """Return the picture as text, in lines of at most `width` pixels.

    Example:
        >>> from otalign import Alignment, Link
        >>> svg(Alignment(("a",), ("a",), (Link(0, 0),)))[:4]
        '<svg'
    """
    if not width > 0:
        raise ValueError(f"width must be a positive number of pixels, got {width}")
    layout = lay_out(alignment, width)
    words = layout.source + layout.target
    nulls = [word for word in words if word.null]
    wide, high = _format(layout.width), _format(layout.height)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{wide}" height="{high}"'
        f' viewBox="0 0 {wide} {high}" style="max-width:100%;height:auto"'
        f' font-family="{FONT}" font-size="{SIZE}">',
        f"<title>{escape(_make_title(alignment))}</title>",
        f"<desc>{escape(_describe(alignment))}</desc>",
        f"<style>{_write_style()}</style>",
        f'<rect {_class("back")} width="{wide}" height="{high}" rx="8"/>',
        f'<g {_class("gutter")} font-size="{SIZE - 4}">',
        *(f"<text{_at(x, y + 4)}>{text}</text>" for text, x, y in layout.gutter),
        f'</g><g {_class("links")} fill="none" stroke-linecap="round">',
        *_write_links(alignment, layout),
        f'</g><g {_class("numbers")} text-anchor="middle" font-size="{SIZE - 4}">',
        *(_write_numbers(stroke, layout) for stroke in layout.strokes if stroke.number),
        f'</g><g {_class("words")} text-anchor="middle">',
        *(_write_word(word) for word in words if not word.null),
        f'</g><g {_class("nulls")} text-anchor="middle">',
        *map(_write_word, nulls),
        f'</g><g {_class("frames")} fill="none" stroke-dasharray="4 3">',
        *map(_write_frame, nulls),
        "</g></svg>\n",
    ]
    return "\n".join(parts)


def _class(part: str) -> str:
    name, light, _ = COLOURS[part]
    return f'class="otalign-{part}" {name}="{light}"'


def _write_style() -> str:
    # The class names are unique, since inside a page a style sheet applies to the whole page.
    dark = "".join(f".otalign-{part}{{{name}:{dark}}}" for part, (name, _, dark) in COLOURS.items())
    far = f".otalign-far path{{stroke:{COLOURS['links'][2]}}}"
    return f"{FAR_STYLE}@media (prefers-color-scheme:dark){{{dark}{far}}}"


def _write_links(alignment: Alignment, layout: Layout) -> Iterator[str]:
    strength = strengths(alignment)
    weights = {(i, j): weight for i, j, weight in alignment.links}
    details = {i: f" (phrase {format_detail(one)})" for one in list_phrases(alignment) for i in one.source}
    for stroke in layout.strokes:
        pairs = [(i, j) for i in stroke.group.source for j in stroke.group.target]
        share = sum(strength[pair] for pair in pairs) / len(pairs)
        paths = [f"<path d='{_format_curve(curve)}'/>" for curve in stroke.curves]
        paths += [f"<path d='{_format_corners(corners)}'/>" for corners in stroke.brackets]
        name = _name(stroke, layout, [weights[pair] for pair in pairs])
        yield (
            f'<g stroke-opacity="{_format(FAINTEST + (1 - FAINTEST) * share)}"'
            f' stroke-width="{_format(THINNEST + (THICKEST - THINNEST) * share)}">'
            f"<title>{escape(name + details.get(stroke.group.source[0], ''))}</title>{''.join(paths)}</g>"
        )


def _name(stroke: Stroke, layout: Layout, weights: Sequence[float] = ()) -> str:
    sides = ((layout.source, stroke.group.source), (layout.target, stroke.group.target))
    name = " – ".join(" ".join(words[k].text for k in chosen) for words, chosen in sides)
    least, most = (f"{pick(weights):.2f}" if weights else "" for pick in (min, max))
    return f"{name}: {least}" + (f" to {most}" if most != least else "") if weights else name


def _write_numbers(stroke: Stroke, layout: Layout) -> str:
    # The hidden curves are in the group of their number, so that pointing at it shows them.
    paths = "".join(f"<path d='{_format_curve(curve)}'/>" for curve in stroke.far)
    look = f'fill="none" stroke="{COLOURS["links"][1]}" stroke-width="2" visibility="hidden"'
    texts = "".join(f"<text{_at(x, y)}>{stroke.number}</text>" for x, y in stroke.labels)
    title = f"<title>{escape(_name(stroke, layout))}</title>"
    return f'<g class="otalign-far">{title}<g {look}>{paths}</g>{texts}</g>'


def _write_word(word: PlacedWord) -> str:
    text = f"<text{_at(word.x, word.top + ROW / 2 + SIZE / 3)}>{escape(word.text)}</text>"
    return f'{text}<text{_at(*word.sign)} font-size="{SIZE - 3}">∅</text>' if word.null else text


def _write_frame(word: PlacedWord) -> str:
    left, top, width = _format(word.x - word.width / 2), _format(word.top), _format(word.width)
    return f'<rect x="{left}" y="{top}" width="{width}" height="{ROW}" rx="5"/>'


def _at(x: float, y: float) -> str:
    return f' x="{_format(x)}" y="{_format(y)}"'


def _format_curve(curve: Curve) -> str:
    start, *bends = curve
    return f"M{_format_point(start)}C{' '.join(map(_format_point, bends))}"


def _format_corners(corners: Iterable[Point]) -> str:
    return "M" + "L".join(map(_format_point, corners))


def _format_point(point: Point) -> str:
    return " ".join(map(_format, point))


def _format(value: float) -> str:
    """Format a number with at most two decimals, so that the text is the same on every machine."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _make_title(alignment: Alignment) -> str:
    return f"Word alignment of “{join_words(alignment.source)}” and “{join_words(alignment.target)}”"


def _describe(alignment: Alignment) -> str:
    """Describe the picture in words, for screen readers."""
    source, target = alignment.source, alignment.target
    phrases = [
        f"{_select(source, phrase.source)} – {_select(target, phrase.target)}" for phrase in alignment.phrases
    ]
    lines = [f"Linked: {'; '.join(phrases) or 'nothing'}"]
    for side, words, nulls in (
        ("source", source, alignment.source_nulls),
        ("target", target, alignment.target_nulls),
    ):
        if nulls:
            lines.append(f"Without a counterpart in the {side}: {'; '.join(shown(words[k]) for k in nulls)}")
    return "\n".join(lines)


def _select(words: Sequence[str], indices: Iterable[int]) -> str:
    return join_words([words[k] for k in indices])
