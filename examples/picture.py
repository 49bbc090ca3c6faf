"""Write the picture of an alignment: python examples/picture.py docs/alignment.svg"""

import sys
from pathlib import Path

from otalign.alignment import Alignment, Link
from otalign.render.svg import svg

ALIGNMENT = Alignment(
    ("He", "bought", "a", "used", "car", "."),
    ("He", "purchased", "a", "second-hand", "car", "yesterday", "."),
    tuple(Link(*pair) for pair in [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 6)]),
)

if __name__ == "__main__":
    Path(sys.argv[1]).write_text(svg(ALIGNMENT), encoding="utf-8")
