"""Pairs and files for the tests of the formats."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args, get_type_hints

from otalign.alignment import Alignment
from otalign.gold import Gold, WordlessLinks
from otalign.io import FORMATS, BadLine, TextPair, read, write

SOURCE, TARGET = ("Ann", "sold", "her", "old", "boat"), ("She", "sold", "it", "today")
GOLD = Gold(SOURCE, TARGET, frozenset({(0, 0), (1, 1)}), frozenset({(2, 2), (3, 2), (4, 2)}))
EMPTY = Gold((), (), frozenset())
TEXT = TextPair(" ".join(SOURCE), " ".join(TARGET))
ISTS = """<sentence id="1" status="">
// Ann sold her boat
// It was sold
<source>
1 Ann :
2 sold :
3 her :
4 boat :
</source>
<translation>
1 It :
2 was :
3 sold :
</translation>
<alignment>
3 4 <==> 1 // EQUI // 5 // her boat <==> It
2 <==> 2 3 // SPE1 // 4 // sold <==> was sold
1 <==> 0 // NOALI // NIL // Ann <==> -not aligned-
</alignment>
</sentence>
"""


def get_item_types(format):
    """Return the types of the items that a format yields."""
    result = get_type_hints(FORMATS[format].parse)["return"]
    return get_args(result) or (result,)


def example(format):
    """Return three pairs as the format represents them; the second is empty."""
    convert = {
        Gold: lambda gold: gold,
        Alignment: lambda gold: gold.alignment("sure"),
        WordlessLinks: lambda gold: WordlessLinks(gold.sure, gold.possible),
        TextPair: lambda gold: TextPair(" ".join(gold.source), " ".join(gold.target)),
    }
    type_ = next(type_ for type_ in convert if type_ in get_item_types(format))
    return [convert[type_](gold) for gold in (GOLD, EMPTY, Gold(TARGET, SOURCE, frozenset({(3, 4)})))]


def paths_for(format, folder, suffix=""):
    paths = [folder / f"{name}{suffix}" for name in "ab"[: len(FORMATS[format].write)]]
    return tuple(paths) if len(paths) > 1 else paths[0]


def rewrite(paths, change):
    for path in paths if isinstance(paths, tuple) else (paths,):
        path.write_bytes(change(path.read_bytes()))


def file(folder, content):
    path = folder / "file"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read_all(folder, format, content, **options):
    return list(read(file(folder, content), format, **options))


def classify_blank_line(format):
    """Return what a blank line after a pair is in a format: "empty pair", "ignored" or "bad"."""
    with TemporaryDirectory() as folder:
        paths = paths_for(format, Path(folder))
        write(example(format)[:1], paths, format)
        rewrite(paths, lambda content: content + b"\n")
        try:
            return "ignored" if len(list(read(paths, format))) == 1 else "empty pair"
        except BadLine:
            return "bad"


BLANK_LINES = {format: classify_blank_line(format) for format in FORMATS}


def formats_with_blank_line(outcome):
    return [format for format, found in BLANK_LINES.items() if found == outcome]
