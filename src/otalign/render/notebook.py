"""What a notebook shows of several alignments: their pictures below each other, and how many are left out."""

from collections.abc import Sequence

from otalign.alignment import Alignment
from otalign.render.svg import svg

MOST = 20  # pictures; a notebook keeps all that it shows


def gallery(alignments: Sequence[Alignment]) -> str:
    pictures = "\n".join(f'<div style="margin:0.5em 0">{svg(one)}</div>' for one in alignments[:MOST])
    left = len(alignments) - MOST
    return pictures + (f"\n<p>… {left:,} more</p>" if left > 0 else "")
