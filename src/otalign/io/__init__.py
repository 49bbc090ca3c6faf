r"""Readers and writers of files of words and links, and the gold corpora.

Example:
    >>> import tempfile
    >>> from pathlib import Path
    >>> from otalign.io import read, write
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     links = Path(folder) / "links.txt"
    ...     _ = links.write_text("0-0 1p2")
    ...     [item] = read(links, "pharaoh")
    ...     number = write([item], Path(folder) / "links.talp", "talp")
    ...     number, (Path(folder) / "links.talp").read_text()
    (1, '1-1 2p3\n')
"""

from otalign.io.corpora import CORPORA, Corpus, load
from otalign.io.formats import FORMATS, Format, Reading, read, write
from otalign.io.items import Item, LineTally, TextPair, Unaligned, WordPair
from otalign.io.limits import ReaderLimits
from otalign.io.lines import BadLine, Line

__all__ = [
    "CORPORA",
    "FORMATS",
    "BadLine",
    "Corpus",
    "Format",
    "Item",
    "Line",
    "LineTally",
    "ReaderLimits",
    "Reading",
    "TextPair",
    "Unaligned",
    "WordPair",
    "load",
    "read",
    "write",
]
