"""Random sentence pairs with a prediction and a gold."""

import numpy as np
from hypothesis import strategies as st

from otalign.metrics import Counts, count_pair


@st.composite
def drawn_pair(draw):
    """(predicted, gold, n, m), sentences of no words among them."""
    n, m = draw(st.integers(0, 5)), draw(st.integers(0, 5))
    cells = [(i, j) for i in range(n) for j in range(m)]
    links = st.frozensets(st.sampled_from(cells)) if cells else st.just(frozenset())
    return draw(links), draw(links), n, m


drawn_corpus = st.lists(drawn_pair(), min_size=1, max_size=8)


def counted(pairs, level="sure") -> Counts:
    return Counts.concatenate(count_pair(*pair, level=level) for pair in pairs)


def two_systems(pairs: int, seed: int, first_right=0.6, second_right=0.8) -> tuple[Counts, Counts]:
    """Two systems on one gold of diagonals, each right as often as is said."""
    rng = np.random.default_rng(seed)
    found = []
    for right in (first_right, second_right):
        rows = []
        for n in 3 + np.arange(pairs) % 7:
            guess = {(i, i if rng.random() < right else int(rng.integers(n))) for i in range(n)}
            rows.append((guess, {(i, i) for i in range(n)}, n, n))
        found.append(counted(rows))
    return found[0], found[1]
