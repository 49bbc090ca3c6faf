"""Write the picture of an alignment: python examples/picture.py docs/alignment.svg"""

import sys
from pathlib import Path

from otalign import Aligner
from otalign.render.svg import svg

SOURCE = "She gave up smoking last year."
TARGET = "Last year she quit smoking for good."

if __name__ == "__main__":
    Path(sys.argv[1]).write_text(svg(Aligner.load().align(SOURCE, TARGET)), encoding="utf-8")
