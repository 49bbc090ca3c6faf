r"""Readers and writers of files of words and links, and the gold corpora.

Example:
    >>> from pathlib import Path
    >>> from otalign.io import read, write
    >>> _ = Path("links.txt").write_text("0-0 1p2")
    >>> write(read("links.txt", "pharaoh"), "links.talp", "talp")
    1
    >>> Path("links.talp").read_text()
    '1-1 2p3\n'
"""

from otalign.gold import WordlessLinks
from otalign.io.corpora import CORPORA, Corpus, load
from otalign.io.files import Reading, read, write
from otalign.io.formats import FORMATS, Format
from otalign.io.guessing import guess_format
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
    "WordlessLinks",
    "guess_format",
    "load",
    "read",
    "write",
]
