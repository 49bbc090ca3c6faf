"""Pairs and files for the tests of the formats."""

from otalign.gold import Gold, WordlessLinks
from otalign.io import FORMATS, TextPair, read

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


def example(format):
    """Return three pairs as the format represents them; the second is empty."""
    items = [GOLD, EMPTY, Gold(TARGET, SOURCE, frozenset({(3, 4)}))]
    if format in ("pharaoh", "talp", "naacl"):
        return [WordlessLinks(gold.sure, gold.possible) for gold in items]
    if format in ("bars", "parallel", "tsv"):
        return [TextPair(" ".join(gold.source), " ".join(gold.target)) for gold in items]
    return [gold.alignment("sure") for gold in items] if format in ("a3", "columns", "ists") else items


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
