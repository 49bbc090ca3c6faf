"""Figures of an alignment: `arcs`, lines of two rows of words with curves between them, or `matrix`.

Figures need matplotlib (`pip install 'otalign[plot]'`) and are saved as PDF, PNG or SVG. Arcs as SVG are
written by `otalign.render.svg` and need no extra.
"""

from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from otalign.alignment import Alignment
from otalign.atomic import write_atomic
from otalign.render.canvas import blank, find_fonts, write
from otalign.render.grid import CELL, label_words, squares
from otalign.render.layout import ROW, SIZE, Layout, PlacedWord, lay_out
from otalign.render.svg import COLOURS, FAINTEST, THICKEST, THINNEST, svg
from otalign.render.words import shown, strengths

Kind = Literal["arcs", "matrix"]
ENDINGS = (".svg", ".png", ".pdf")

WIDTH = 7.0  # inches, about the text width of a page
PER_INCH = 125.0  # pixels of a layout: letters of 16 pixels then have 9 points
POINTS = 72 * SIZE / PER_INCH


def figure(alignment: Alignment, kind: Kind = "arcs", *, ax: Any = None, width: float = WIDTH) -> Any:
    """Draw an alignment with matplotlib.

    Args:
        alignment: The alignment.
        kind: `arcs` or `matrix`.
        ax: Axes to draw into; None makes a new figure.
        width: Width in inches, at which arcs break into lines.

    Returns:
        The matplotlib figure.

    Raises:
        ValueError: If the kind is unknown or the width is not positive.
    """
    if kind not in get_args(Kind):
        raise ValueError(f"kind must be one of {', '.join(get_args(Kind))}, got {kind!r}")
    if not width > 0:
        raise ValueError(f"width must be a positive number of inches, got {width}")
    return _draw_matrix(alignment, ax) if kind == "matrix" else _draw_arcs(alignment, ax, width)


def check_picture(path: Path, kind: str) -> None:
    """Check the name and the kind of a picture before anything is drawn.

    Raises:
        ValueError: If the ending of the name or the kind is unknown.
    """
    if path.suffix.lower() not in ENDINGS:
        raise ValueError(f"a picture's name must end in {', '.join(ENDINGS)}, got {path}")
    if kind not in get_args(Kind):
        raise ValueError(f"kind must be one of {', '.join(get_args(Kind))}, got {kind!r}")


def write_picture(alignment: Alignment, path: Path, kind: Kind = "arcs") -> None:
    """Write a picture in the format of its file name."""
    check_picture(path, kind)
    if kind == "arcs" and path.suffix.lower() == ".svg":
        write_atomic(path, svg(alignment))
    else:
        write(figure(alignment, kind), path)


def _draw_matrix(alignment: Alignment, ax: Any) -> Any:
    n, m = alignment.shape
    if ax is None:
        _, (ax,) = blank(CELL * m + 1.0, CELL * n + 1.0, 1)
    weights, linked = np.zeros((n, m)), np.zeros((n, m), dtype=bool)
    for pair, strength in strengths(alignment).items():
        weights[pair], linked[pair] = FAINTEST + (1 - FAINTEST) * strength, True
    squares(ax, weights, linked)
    source, target = ([*map(shown, words)] for words in (alignment.source, alignment.target))
    label_words(ax.xaxis, target, linked.any(0), upright=False)
    label_words(ax.yaxis, source, linked.any(1))
    return ax.figure


def _draw_arcs(alignment: Alignment, ax: Any, width: float) -> Any:
    layout = lay_out(alignment, width * PER_INCH)
    if ax is None:
        new_figure, (ax,) = blank(layout.width / PER_INCH, layout.height / PER_INCH, 1)
        new_figure.set_layout_engine("none")
        ax.set_position((0, 0, 1, 1))  # the whole figure, so that lengths are in proportion to the letters
    ax.set_axis_off()
    ax.set_xlim(0, layout.width)
    ax.set_ylim(layout.height, 0)
    ax.set_aspect("equal")
    look = {"fontfamily": find_fonts(), "parse_math": False}  # a $ is not mathematics
    for text, x, y in layout.gutter:
        ax.text(x, y + SIZE / 4, text, fontsize=POINTS - 2, color=COLOURS["gutter"][1], **look)
    _draw_links(ax, alignment, layout)
    for word in layout.source + layout.target:
        _draw_word(ax, word, look)
    return ax.figure


def _draw_word(ax: Any, word: PlacedWord, look: dict[str, Any]) -> None:
    from matplotlib.patches import FancyBboxPatch  # pyright: ignore[reportMissingImports]

    colour = COLOURS["nulls" if word.null else "words"][1]
    y = word.top + ROW / 2 + SIZE / 3
    ax.text(word.x, y, word.text, fontsize=POINTS, ha="center", color=colour, **look)
    if word.null:
        x, y = word.sign
        ax.text(x, y, "∅", fontsize=POINTS - 1.5, ha="center", color=colour)
        corner = (word.x - word.width / 2 + 4, word.top + 4)
        shape = {"boxstyle": "round,pad=4,rounding_size=5", "linestyle": (0, (4, 3)), "linewidth": 0.6}
        ax.add_patch(
            FancyBboxPatch(corner, word.width - 8, ROW - 8, facecolor="none", edgecolor=colour, **shape)
        )


def _draw_links(ax: Any, alignment: Alignment, layout: Layout) -> None:
    from matplotlib.patches import PathPatch  # pyright: ignore[reportMissingImports]
    from matplotlib.path import Path as Course  # pyright: ignore[reportMissingImports]

    steps = [Course.MOVETO, Course.CURVE4, Course.CURVE4, Course.CURVE4]
    strength = strengths(alignment)
    colour = COLOURS["links"][1]
    for stroke in layout.strokes:
        pairs = [(i, j) for i in stroke.group.source for j in stroke.group.target]
        share = sum(strength[pair] for pair in pairs) / len(pairs)
        look = {"alpha": FAINTEST + (1 - FAINTEST) * share, "linewidth": 0.6 * _compute_width(share)}
        courses = [Course(curve, steps) for curve in stroke.curves] + [*map(Course, stroke.brackets)]
        for course in courses:
            ax.add_patch(PathPatch(course, facecolor="none", edgecolor=colour, capstyle="round", **look))
        for x, y in stroke.labels:
            ax.text(x, y, str(stroke.number), fontsize=POINTS - 2, ha="center", color=colour)


def _compute_width(share: float) -> float:
    return THINNEST + (THICKEST - THINNEST) * share
