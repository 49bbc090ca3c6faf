"""A matrix of two sentences in a figure: darker squares for larger weights, frames for links, word labels."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from otalign.render.canvas import FAINT, INK, find_fonts
from otalign.render.svg import COLOURS
from otalign.render.words import stands_upright

PALE = "#6b6b6b"
CELL = 0.21  # inches
SHADE = tuple(int(COLOURS["links"][1][k : k + 2], 16) / 255 for k in (1, 3, 5))  # of weight 1


def squares(ax: Any, weights: np.ndarray, linked: np.ndarray) -> None:
    """Draw a square for each of the weights (n, m), from 0 to 1, with a frame around links."""
    from matplotlib.patches import Rectangle  # pyright: ignore[reportMissingImports]

    for (i, j), weight in np.ndenumerate(weights):
        colour = tuple(1 - weight * (1 - part) for part in SHADE)
        edge, width = (INK, 0.9) if linked[i, j] else (FAINT, 0.3)
        square = Rectangle((j - 0.5, i - 0.5), 1, 1, facecolor=colour, edgecolor=edge, linewidth=width)
        square.set_zorder(2 if linked[i, j] else 1)  # frames are above the grid
        ax.add_patch(square)
    n, m = weights.shape
    ax.set_xlim(-0.55, m - 0.45)
    ax.set_ylim(n - 0.45, -0.55)
    ax.set_aspect("equal")
    ax.tick_params(length=0, pad=2)
    ax.spines[:].set_visible(False)


def label_words(axis: Any, words: Sequence[str], linked: Any, *, upright: bool = True) -> None:
    """Label the ticks of an axis with words; those without a link are pale and marked with ∅.

    Words that are not upright are turned, unless their letters may stand below each other.
    """
    names = [word if is_linked else f"{word} ∅" for word, is_linked in zip(words, linked, strict=True)]
    stacked = [not upright and stands_upright(word) for word in words]
    names = [
        "\n".join(name.replace(" ", "")) if stack else name
        for name, stack in zip(names, stacked, strict=True)
    ]
    axis.set_ticks(range(len(names)), names)
    for label, is_linked, stack in zip(axis.get_ticklabels(), linked, stacked, strict=True):
        label.set_color(INK if is_linked else PALE)
        label.set_rotation(0 if upright or stack else 90)
        label.set_fontfamily(find_fonts())
        label.set_parse_math(False)  # a $ is not mathematics
