"""The output of a notebook cell with several alignments: their pictures, and how many are left out."""

from collections.abc import Sequence

from otalign.alignment import Alignment
from otalign.render.svg import svg

MAX_PICTURES = 20  # a notebook saves everything that it shows


def gallery(alignments: Sequence[Alignment]) -> str:
    """Return HTML with the pictures of alignments below each other."""
    pictures = "\n".join(
        f'<div style="margin:0.5em 0">{svg(alignment)}</div>' for alignment in alignments[:MAX_PICTURES]
    )
    left = len(alignments) - MAX_PICTURES
    return pictures + (f"\n<p>… {left:,} more</p>" if left > 0 else "")
