"""Pairs in the vocabulary of the tiny models, with phrases, nulls and possible links."""

from otalign.gold import Gold
from otalign.training import CorpusSplits

TEXT = """
he bought a used car | he purchased a second hand car yesterday | 0-0 1-1 2-2 3-3 3-4 4-5 |
she sold the old house | the old house she sold today | 0-3 1-4 2-0 3-1 4-2 |
rain fell on the town | on the town fell rain | 0-4 1-3 2-0 3-1 4-2 |
the panel will not sell it | the panel cannot sell it | 0-0 1-1 4-3 5-4 | 2-2 3-2
results of the panel | findings and results of the panel | 0-2 1-3 2-4 3-5 | 0-0
he cannot | she can not | 1-1 1-2 |
a quick car | a big new house | 0-0 |
today it fell | yesterday it fell on hills | 1-1 2-2 | 0-0
the big house in the town | the small house in the hills | 0-0 2-2 3-3 4-4 |
she bought cars | she purchased cars this week | 0-0 1-1 2-2 |
public results | the findings will be public | 0-4 | 1-1
old and new | new and old | 0-2 1-1 2-0 |
he sold a car to the public | the public bought a car | 2-3 3-4 5-0 6-1 | 1-2
rain in the hills will not fall today | no rain today | 0-1 7-2 | 5-0
"""


def gold(line: str) -> Gold:
    source, target, sure, possible = (part.split() for part in line.split("|"))
    links = ({tuple(map(int, link.split("-"))) for link in level} for level in (sure, possible))
    return Gold(tuple(source), tuple(target), *map(frozenset, links))


GOLDS = [gold(line) for line in TEXT.strip().splitlines()]
SURE = [Gold(one.source, one.target, one.sure) for one in GOLDS]
SOURCES = {"examples": CorpusSplits(GOLDS, GOLDS)}
EMPTY = [Gold((), ("the", "car"), frozenset()), Gold(("rain",), (), frozenset()), Gold((), (), frozenset())]
LONG = Gold(
    tuple(word for one in GOLDS for word in one.source),
    tuple(word for one in GOLDS for word in one.target),
    frozenset({(0, 0), (50, 55)}),
)
