"""Hypothesis strategies for alignments and gold."""

from hypothesis import strategies as st

from otalign.alignment import Alignment, Link
from otalign.gold import Gold, WordlessLinks

# What every text format can hold: no space, line end, byte order mark, nor half of a surrogate pair.
# Characters that other tools take for spaces or line ends are included, and digits and symbols that formats
# use.
letters = st.characters(exclude_categories=["Cs"], exclude_characters=" \t\r\n\ufeff")
words = st.lists(
    st.text(letters, min_size=1, max_size=4).filter(lambda word: "|||" not in word)
    | st.sampled_from(["0-0", "p", "NULL", "/", "//", ":", "#", "\x85", "\u2028", "\xa0", "'", '"']),
    max_size=6,
)
weights = st.floats(0, 1)


@st.composite
def _pairs(draw, n: int, m: int):
    if not n or not m:
        return frozenset()
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, m - 1))
    return draw(st.frozensets(pair, max_size=2 * max(n, m)))


@st.composite
def golds(draw, possible: bool = True) -> Gold:
    source, target = draw(words), draw(words)
    links = _pairs(len(source), len(target))
    return Gold(tuple(source), tuple(target), draw(links), draw(links) if possible else frozenset())


plain_alignments = golds(possible=False).map(lambda gold: gold.alignment("sure"))
links_without_words = golds().map(lambda gold: WordlessLinks(gold.sure, gold.possible))


@st.composite
def alignments(draw) -> Alignment:
    """Draw an alignment with weights, and with or without spans and confidences."""
    gold = draw(golds())

    def perhaps(each, count):
        return draw(st.none() | st.lists(each, min_size=count, max_size=count).map(tuple))

    spans = st.tuples(st.integers(0, 9), st.integers(9, 20))
    (n, m), links = gold.shape, [Link(i, j, draw(weights)) for i, j in gold.sure]
    return Alignment(
        gold.source,
        gold.target,
        tuple(draw(st.permutations(links))),
        perhaps(spans, n),
        perhaps(spans, m),
        perhaps(weights, n),
        perhaps(weights, m),
    )
