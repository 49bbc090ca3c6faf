"""An alignment as a standalone SVG picture, for papers, pages and notebooks.

Two rows of words, a curve for each link, the fainter the lighter it is, and ∅ with a broken line at each word
without a counterpart. Sentences too long for the width are in two columns instead, one word per line, so that
a page never scrolls sideways. The picture brings its own background, light or dark as the reader prefers,
needs nothing from outside, and says in its description what it shows. Any words make well-formed XML.
"""

from collections.abc import Iterable, Iterator, Sequence
from xml.sax.saxutils import escape

from otalign.alignment import Alignment
from otalign.render.layout import SIZE, Layout, Word, columns, rows
from otalign.render.words import join_words, shown, strengths

FAINTEST = 0.25  # the opacity of a link of weight 0, which must still be seen

FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', Helvetica, Arial, sans-serif"
# Part: property, its colour on light and on dark. The light one is in the elements themselves, for
# programs that know no style sheets. Words have a contrast of at least 4.5 to their background.
COLOURS = {
    "back": ("fill", "#ffffff", "#15191f"),
    "links": ("stroke", "#2f6fde", "#79b0ff"),
    "words": ("fill", "#1f2328", "#e6edf3"),
    "nulls": ("fill", "#a04100", "#f0a35e"),
    "lines": ("stroke", "#a04100", "#f0a35e"),
}


def svg(alignment: Alignment, width: float = 900) -> str:
    """Return the picture as text: rows of words if they fit into `width` pixels, else columns.

    Example:
        >>> from otalign import Alignment, Link
        >>> svg(Alignment(("a",), ("a",), (Link(0, 0),)))[:4]
        '<svg'
    """
    if not width > 0:
        raise ValueError(f"width must be a positive number of pixels, got {width}")
    layout = rows(alignment)
    return _write(alignment, layout if layout.width <= width else columns(alignment))


def _write(alignment: Alignment, layout: Layout) -> str:
    nulls = [layout.source[i] for i in alignment.source_nulls]
    nulls += [layout.target[j] for j in alignment.target_nulls]
    linked = [layout.source[i] for i in sorted({i for i, _, _ in alignment.links})]
    linked += [layout.target[j] for j in sorted({j for _, j, _ in alignment.links})]
    wide, high = _format(layout.width), _format(layout.height)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{wide}" height="{high}"'
        f' viewBox="0 0 {wide} {high}" style="max-width:100%;height:auto"'
        f' font-family="{FONT}" font-size="{SIZE}">',
        f"<title>{escape(_make_title(alignment))}</title>",
        f"<desc>{escape(_describe(alignment))}</desc>",
        f"<style>{_write_style()}</style>",
        f'<rect {_class("back")} width="{wide}" height="{high}" rx="8"/>',
        f'<g {_class("links")} fill="none" stroke-width="2" stroke-linecap="round">',
        *_write_curves(alignment, layout),
        f"</g><g {_class('words')}>",
        *map(_write_text, linked),
        f"</g><g {_class('nulls')}>",
        *(_write_text(word) + _write_sign(word) for word in nulls),
        f'</g><g {_class("lines")} stroke-width="1.5" stroke-dasharray="4 3">',
        *map(_write_line, nulls),
        "</g></svg>\n",
    ]
    return "\n".join(parts)


def _class(part: str) -> str:
    name, light, _ = COLOURS[part]
    return f'class="otalign-{part}" {name}="{light}"'


def _write_style() -> str:
    # The class names are unique, since inside a page a style sheet applies to the whole page.
    dark = "".join(f".otalign-{part}{{{name}:{dark}}}" for part, (name, _, dark) in COLOURS.items())
    return f"@media (prefers-color-scheme:dark){{{dark}}}"


def _write_curves(alignment: Alignment, layout: Layout) -> Iterator[str]:
    strength = strengths(alignment)
    for i, j, weight in alignment.links:
        source, target = layout.source[i], layout.target[j]
        start, *bends, end = layout.curve(i, j)
        course = f"M{_format_all(*start)} C{_format_all(*bends[0], *bends[1])} {_format_all(*end)}"
        opacity = _format(FAINTEST + (1 - FAINTEST) * strength[i, j])
        name = escape(f"{source.text} – {target.text}: {weight:.2f}")
        yield f'<path d="{course}" stroke-opacity="{opacity}"><title>{name}</title></path>'


def _write_text(word: Word) -> str:
    place = f'x="{_format(word.x)}" y="{_format(word.y)}" text-anchor="{word.anchor}"'
    return f"<text {place}>{escape(word.text)}</text>"


def _write_sign(word: Word) -> str:
    x, y = map(_format, word.sign)
    return f'<text x="{x}" y="{y}" text-anchor="middle" font-size="{SIZE - 3}">∅</text>'


def _write_line(word: Word) -> str:
    start, end, y = map(_format, word.line)
    return f'<line x1="{start}" y1="{y}" x2="{end}" y2="{y}"/>'


def _format_all(*values: float) -> str:
    return " ".join(map(_format, values))


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
