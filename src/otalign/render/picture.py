"""Figures of an alignment: `arcs`, two rows of words with a curve for each link, or `matrix`.

Figures need matplotlib (`pip install 'otalign[plot]'`) and are saved as PDF, PNG or SVG. Arcs as SVG are
written by `otalign.render.svg` and need no extra.
"""

from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from otalign.alignment import Alignment
from otalign.atomic import write_atomic
from otalign.render.canvas import blank, write
from otalign.render.grid import CELL, label_words, squares
from otalign.render.layout import SIZE, Layout, columns, rows
from otalign.render.svg import COLOURS, FAINTEST, svg
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
        width: Width in inches. Wider arcs are drawn in two columns, with a word on each line.

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
    label_words(ax.set_xticks, ax.get_xticklabels, target, linked.any(0), rotation=90)
    label_words(ax.set_yticks, ax.get_yticklabels, source, linked.any(1))
    return ax.figure


def _draw_arcs(alignment: Alignment, ax: Any, width: float) -> Any:
    layout = rows(alignment)
    if layout.width > width * PER_INCH:
        layout = columns(alignment)
    if ax is None:
        new_figure, (ax,) = blank(layout.width / PER_INCH, layout.height / PER_INCH, 1)
        new_figure.set_layout_engine("none")
        ax.set_position((0, 0, 1, 1))  # the whole figure, so that lengths are in proportion to the letters
    ax.set_axis_off()
    ax.set_xlim(0, layout.width)
    ax.set_ylim(layout.height, 0)
    ax.set_aspect("equal")
    _draw_curves(ax, alignment, layout)
    for words, nulls in (
        (layout.source, set(alignment.source_nulls)),
        (layout.target, set(alignment.target_nulls)),
    ):
        for k, word in enumerate(words):
            colour = COLOURS["nulls" if k in nulls else "words"][1]
            look = {
                "ha": ALIGNED[word.anchor],
                "color": colour,
                "parse_math": False,
            }  # a $ is not mathematics
            ax.text(word.x, word.y, word.text, fontsize=POINTS, **look)
            if k in nulls:
                x, y = word.sign
                ax.text(x, y, "∅", fontsize=POINTS - 1, ha="center", color=colour)
                start, end, y = word.line
                ax.plot([start, end], [y, y], color=colour, linewidth=0.8, linestyle=(0, (4, 3)))
    return ax.figure


ALIGNED = {"start": "left", "middle": "center", "end": "right"}


def _draw_curves(ax: Any, alignment: Alignment, layout: Layout) -> None:
    from matplotlib.patches import PathPatch  # pyright: ignore[reportMissingImports]
    from matplotlib.path import Path as Course  # pyright: ignore[reportMissingImports]

    steps = [Course.MOVETO, Course.CURVE4, Course.CURVE4, Course.CURVE4]
    for (i, j), strength in strengths(alignment).items():
        course = Course(layout.curve(i, j), steps)
        look = {"edgecolor": COLOURS["links"][1], "alpha": FAINTEST + (1 - FAINTEST) * strength}
        ax.add_patch(PathPatch(course, facecolor="none", linewidth=1.2, capstyle="round", **look))
