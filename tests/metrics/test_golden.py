"""Small cases computed by hand."""

import re
from fractions import Fraction as F
from pathlib import Path

import numpy as np
import pytest

from otalign.metrics import MEASURES, Counts, break_down, compute_scores, count_pair, score_pairs
from tests.metrics.random_counts import count_pairs

# He bought a used car . / He purchased a second-hand car yesterday .
# The prediction links `used` to `car`. Links: 5 of 6 right, gold 6. Nulls: predicted `second-hand` and
# `yesterday`, gold `yesterday`. In all: 6 right, 8 predicted, 7 gold.
CAR = (
    {(0, 0), (1, 1), (2, 2), (3, 4), (4, 4), (5, 6)},
    {(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 6)},
    6,
    7,
)
# One link where the gold has none. Nulls: 2 of 2 right, gold 4. In all: 2 right, 3 predicted, 4 gold.
STRAY = ({(0, 0)}, set(), 2, 2)
# As many links and nulls as the gold, and not one of them right.
CROSSED = ({(1, 0)}, {(0, 1)}, 2, 2)


def near(value):
    return pytest.approx(float(value), abs=1e-12)


def tallies(pair, kind):
    tally = count_pair(*pair).tally(kind)
    return [int(x[0]) for x in (tally.correct, tally.predicted, tally.gold)]


@pytest.mark.parametrize(
    ("pair", "links", "nulls"),
    [(CAR, [5, 6, 6], [1, 2, 1]), (STRAY, [0, 1, 0], [2, 2, 4]), (CROSSED, [0, 1, 1], [0, 2, 2])],
    ids=["car", "stray", "crossed"],
)
def test_links_and_nulls_are_counted(pair, links, nulls):
    assert tallies(pair, "links") == links
    assert tallies(pair, "nulls") == nulls
    assert tallies(pair, "links+nulls") == [a + b for a, b in zip(links, nulls, strict=True)]


def test_nulls_are_counted_on_each_side():
    counts = count_pair(*CAR)
    assert [counts.column(f"source_nulls_{part}")[0] for part in ("correct", "predicted", "gold")] == [
        0,
        0,
        0,
    ]
    assert [counts.column(f"target_nulls_{part}")[0] for part in ("correct", "predicted", "gold")] == [
        1,
        2,
        1,
    ]


def test_one_pair_scores_its_shares():
    found = compute_scores(count_pair(*CAR))
    assert found["precision"] == near(F(6, 8))
    assert found["recall"] == near(F(6, 7))
    assert found["f1"] == near(F(12, 15))
    assert found["links_f1"] == near(F(5, 6))
    assert found["nulls_precision"] == near(F(1, 2))
    assert found["nulls_recall"] == 1
    assert found["exact_match"] == 0
    assert compute_scores(count_pair(*CROSSED))["f1"] == 0


def test_f1_is_of_the_two_means_and_neither_the_mean_of_f1_nor_the_f1_of_all_counts():
    counts = count_pairs([CAR, STRAY])
    found = compute_scores(counts)
    assert found["precision"] == near((F(3, 4) + F(2, 3)) / 2)
    assert found["recall"] == near((F(6, 7) + F(1, 2)) / 2)
    assert found["f1"] == near(F(323, 466))
    assert found["micro_f1"] == near(F(8, 11))
    assert np.mean(score_pairs(counts)["f1"]) == near((F(4, 5) + F(4, 7)) / 2)


def test_links_alone_average_over_pairs_too():
    # One source word and three target words: one link of three found, then three links for one.
    found = compute_scores(
        count_pairs([({(0, 0)}, {(0, 0), (0, 1), (0, 2)}, 1, 3), ({(0, 0), (0, 1), (0, 2)}, {(0, 0)}, 1, 3)])
    )
    assert found["links_precision"] == near(F(2, 3))
    assert found["links_recall"] == near(F(2, 3))
    assert found["links_f1"] == near(F(2, 3))
    assert found["micro_links_f1"] == near(F(1, 2))
    assert found["f1"] == near(F(1, 3))


def test_possible_links_are_gold_or_not_by_the_level():
    # Sure 0-0; possible 1-1 and 1-0. The prediction has 0-0 and 1-1.
    pair = {"predicted": {(0, 0), (1, 1)}, "gold": {(0, 0)}, "n": 2, "m": 2, "possible": {(1, 1), (1, 0)}}
    sure, both = (compute_scores(count_pair(**pair, level=level)) for level in ("sure", "possible"))
    assert (sure["precision"], sure["recall"]) == (near(F(1, 2)), near(F(1, 3)))
    assert (both["precision"], both["recall"]) == (1, near(F(2, 3)))
    # For AER a possible link is neither asked for nor wrong, whatever the level.
    assert sure["aer"] == both["aer"] == 0
    assert both["exact_match"] == 0


def test_aer_weighs_sure_and_possible_links():
    # A = 0-0 1-2 2-2, S = 0-0 1-1, S ∪ P = S and 1-2: 1 − (1 + 2) / (3 + 2).
    one = count_pair({(0, 0), (1, 2), (2, 2)}, {(0, 0), (1, 1)}, 3, 3, possible={(1, 2)})
    assert compute_scores(one)["aer"] == near(F(2, 5))
    # Over two pairs the counts are added first: 1 − (3 + 2) / (5 + 2).
    assert compute_scores(Counts.concatenate([one, count_pair({(0, 0)}, {(0, 0)}, 1, 1)]))["aer"] == near(
        F(2, 7)
    )


def test_a_phrase_is_several_links_that_hang_together():
    # 0-0 | 1-1 1-2 2-2, joined through words 1 and 2 | 3-3 3-4: two of three groups are phrases.
    gold = {(0, 0), (1, 1), (1, 2), (2, 2), (3, 3), (3, 4)}
    assert count_pair(set(), gold, 5, 5).phrase_share[0] == near(F(2, 3))
    assert count_pair(gold, set(), 5, 5).phrase_share[0] == 0


def test_null_rate_and_length_are_of_both_sentences_of_the_gold():
    counts = count_pairs([CAR, STRAY])
    assert counts.null_rate.tolist() == [near(F(1, 13)), 1]
    assert counts.length.tolist() == [13, 4]


def test_bins_have_equal_counts_and_never_part_equal_values():
    lengths = [1, 1, 1, 1, 1, 1, 2, 3, 4, 5]
    counts = count_pairs([(set(), set(), n, 0) for n in lengths])
    found = [(b.low, b.high, len(b.counts)) for b in break_down(counts, "length", bins=5)]
    assert found == [(1, 1, 6), (2, 3, 2), (4, 5, 2)]


def test_scores_keep_their_names():
    rates = {
        f"{average}{counted}{rate}"
        for average in ("", "micro_")
        for counted in ("", "links_", "nulls_", "phrases_", "soft_phrases_")
        for rate in ("precision", "recall", "f1")
    }
    assert MEASURES.keys() == {*rates, "exact_match", "aer"}
    assert all(name == measure.name for name, measure in MEASURES.items())


def test_the_page_about_scoring_lists_every_measure():
    page = (Path(__file__).parents[2] / "docs" / "score.md").read_text(encoding="utf-8")
    table = page.partition("| name | over a corpus |")[2].partition("\n\n")[0]
    names = [name for row in table.splitlines() for name in re.findall("`(.*?)`", row.partition(" | ")[0])]
    prefixes = [name.removesuffix("…") for name in names if name.endswith("…")]
    for measure in MEASURES:
        while measure not in names:
            prefix = max((one for one in prefixes if measure.startswith(one)), key=len, default="")
            assert prefix, f"{measure} has no row in docs/score.md"
            measure = measure.removeprefix(prefix)
