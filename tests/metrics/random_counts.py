"""Hypothesis strategies for sentence pairs with a prediction and a gold, and random counts."""

import numpy as np
from hypothesis import strategies as st

from otalign.metrics import Counts, count_pair


@st.composite
def scored_pairs(draw):
    """Draw (predicted, gold, n, m); sentences may be empty."""
    n, m = draw(st.integers(0, 5)), draw(st.integers(0, 5))
    cells = [(i, j) for i in range(n) for j in range(m)]
    links = st.frozensets(st.sampled_from(cells)) if cells else st.just(frozenset())
    return draw(links), draw(links), n, m


corpora = st.lists(scored_pairs(), min_size=1, max_size=8)


def count_pairs(pairs, level="sure") -> Counts:
    return Counts.concatenate(count_pair(*pair, level=level) for pair in pairs)


def two_systems(pairs: int, seed: int, first_right=0.6, second_right=0.8) -> tuple[Counts, Counts]:
    """Return the counts of two systems with given accuracies, on a gold of diagonals."""
    rng = np.random.default_rng(seed)
    found = []
    for right in (first_right, second_right):
        rows = []
        for n in 3 + np.arange(pairs) % 7:
            guess = {(i, i if rng.random() < right else int(rng.integers(n))) for i in range(n)}
            rows.append((guess, {(i, i) for i in range(n)}, n, n))
        found.append(count_pairs(rows))
    return found[0], found[1]
