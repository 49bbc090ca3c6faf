"""Files of words and links: readers and writers for the formats of the field, and the gold corpora."""

from otalign.corpus.datasets import CORPORA, Corpus, load
from otalign.corpus.formats import FORMATS, Format, Reading, read, write
from otalign.corpus.items import Item, Tally, TextPair, Unaligned, WordPair
from otalign.corpus.limits import ReaderLimits
from otalign.corpus.text import BadLine, Line

__all__ = [
    "CORPORA",
    "FORMATS",
    "BadLine",
    "Corpus",
    "Format",
    "Item",
    "Line",
    "ReaderLimits",
    "Reading",
    "Tally",
    "TextPair",
    "Unaligned",
    "WordPair",
    "load",
    "read",
    "write",
]
