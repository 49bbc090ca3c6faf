"""An alignment as a standalone SVG picture, for papers, pages and notebooks.

Two rows of words, a curve for each link, the fainter the lighter it is, and ∅ with a broken line at each word
without a counterpart. Sentences too long for the width stand in two columns instead, a word a line, so that
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
# Part: property, its colour on light and on dark. The light one stands in the elements themselves, for
# programs that know no style sheets. Words have a contrast of at least 4.5 to their background.
COLOURS = {
    "back": ("fill", "#ffffff", "#15191f"),
    "links": ("stroke", "#2f6fde", "#79b0ff"),
    "words": ("fill", "#1f2328", "#e6edf3"),
    "nulls": ("fill", "#a04100", "#f0a35e"),
    "lines": ("stroke", "#a04100", "#f0a35e"),
}


def svg(alignment: Alignment, width: float = 900) -> str:
    """The picture as text: rows of words if they fit into `width` pixels, else columns."""
    if not width > 0:
        raise ValueError(f"width must be a positive number of pixels, got {width}")
    layout = rows(alignment)
    return _written(alignment, layout if layout.width <= width else columns(alignment))


def _written(alignment: Alignment, layout: Layout) -> str:
    nulls = [layout.source[i] for i in alignment.source_nulls]
    nulls += [layout.target[j] for j in alignment.target_nulls]
    linked = [layout.source[i] for i in sorted({i for i, _, _ in alignment.links})]
    linked += [layout.target[j] for j in sorted({j for _, j, _ in alignment.links})]
    wide, high = _number(layout.width), _number(layout.height)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{wide}" height="{high}"'
        f' viewBox="0 0 {wide} {high}" style="max-width:100%;height:auto"'
        f' font-family="{FONT}" font-size="{SIZE}">',
        f"<title>{escape(_title(alignment))}</title>",
        f"<desc>{escape(_description(alignment))}</desc>",
        f"<style>{_style()}</style>",
        f'<rect {_part("back")} width="{wide}" height="{high}" rx="8"/>',
        f'<g {_part("links")} fill="none" stroke-width="2" stroke-linecap="round">',
        *_curves(alignment, layout),
        f"</g><g {_part('words')}>",
        *map(_text, linked),
        f"</g><g {_part('nulls')}>",
        *(_text(word) + _sign(word) for word in nulls),
        f'</g><g {_part("lines")} stroke-width="1.5" stroke-dasharray="4 3">',
        *map(_line, nulls),
        "</g></svg>\n",
    ]
    return "\n".join(parts)


def _part(part: str) -> str:
    name, light, _ = COLOURS[part]
    return f'class="otalign-{part}" {name}="{light}"'


def _style() -> str:
    # The names are ours alone: inside a page, a style sheet holds for all of the page.
    dark = "".join(f".otalign-{part}{{{name}:{dark}}}" for part, (name, _, dark) in COLOURS.items())
    return f"@media (prefers-color-scheme:dark){{{dark}}}"


def _curves(alignment: Alignment, layout: Layout) -> Iterator[str]:
    strength = strengths(alignment)
    for i, j, weight in alignment.links:
        source, target = layout.source[i], layout.target[j]
        start, *bends, end = layout.curve(i, j)
        course = f"M{_numbers(*start)} C{_numbers(*bends[0], *bends[1])} {_numbers(*end)}"
        opacity = _number(FAINTEST + (1 - FAINTEST) * strength[i, j])
        name = escape(f"{source.text} – {target.text}: {weight:.2f}")
        yield f'<path d="{course}" stroke-opacity="{opacity}"><title>{name}</title></path>'


def _text(word: Word) -> str:
    place = f'x="{_number(word.x)}" y="{_number(word.y)}" text-anchor="{word.anchor}"'
    return f"<text {place}>{escape(word.text)}</text>"


def _sign(word: Word) -> str:
    x, y = map(_number, word.sign)
    return f'<text x="{x}" y="{y}" text-anchor="middle" font-size="{SIZE - 3}">∅</text>'


def _line(word: Word) -> str:
    start, end, y = map(_number, word.line)
    return f'<line x1="{start}" y1="{y}" x2="{end}" y2="{y}"/>'


def _numbers(*values: float) -> str:
    return " ".join(map(_number, values))


def _number(value: float) -> str:
    """At most two decimals: no one sees more, and an alignment gives the same text everywhere."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _title(alignment: Alignment) -> str:
    return f"Word alignment of “{join_words(alignment.source)}” and “{join_words(alignment.target)}”"


def _description(alignment: Alignment) -> str:
    """What there is to see, for those who do not see it."""
    source, target = alignment.source, alignment.target
    phrases = [
        f"{_those(source, phrase.source)} – {_those(target, phrase.target)}" for phrase in alignment.phrases
    ]
    said = [f"Linked: {'; '.join(phrases) or 'nothing'}"]
    for side, words, nulls in (
        ("source", source, alignment.source_nulls),
        ("target", target, alignment.target_nulls),
    ):
        if nulls:
            said.append(f"Without a counterpart in the {side}: {'; '.join(shown(words[k]) for k in nulls)}")
    return "\n".join(said)


def _those(words: Sequence[str], places: Iterable[int]) -> str:
    return join_words([words[k] for k in places])
