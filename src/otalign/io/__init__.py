"""Files of words and links: readers and writers for the formats of the field, and the gold corpora."""

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
