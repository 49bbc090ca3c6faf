"""Write the picture of an alignment: python examples/picture.py docs/alignment.svg"""

import sys
from dataclasses import replace
from pathlib import Path

from otalign import Aligner, Link
from otalign.render.svg import svg

SOURCE = "She gave up smoking last year."
TARGET = "Last year she quit smoking for good."

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    alignment = Aligner.load().align(SOURCE, TARGET)
    # Weights differ in the last digit between processors; without them the picture is always the same.
    plain = replace(alignment, links=tuple(Link(i, j) for i, j, _ in alignment.links))
    Path(sys.argv[1]).write_text(svg(plain), encoding="utf-8")
