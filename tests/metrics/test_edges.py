"""Edge cases: nothing predicted, nothing to find, no words; and invalid arguments."""

import numpy as np
import pytest

from otalign.alignment import Alignment
from otalign.gold import Gold
from otalign.metrics import (
    MEASURES,
    Counts,
    Resampling,
    break_down,
    compare,
    compute_intervals,
    compute_scores,
    count,
    count_pair,
    describe_score,
)

NONE = count([], [])
ONE = count_pair({(0, 0)}, {(0, 0)}, 1, 1)


@pytest.mark.parametrize(
    ("pair", "both", "links", "nulls"),
    [
        # Words without links are predicted nulls, so an empty prediction still makes predictions.
        (([], [(0, 0)], 2, 2), (1 / 2, 2 / 3), (0, 0), (1 / 2, 1)),
        (([(0, 0)], [], 2, 2), (2 / 3, 1 / 2), (0, 0), (1, 1 / 2)),
        (([], [(0, 0)], 1, 1), (0, 0), (0, 0), (0, 0)),
        (([], [], 2, 2), (1, 1), (1, 1), (1, 1)),
        (([], [], 0, 2), (1, 1), (1, 1), (1, 1)),
        (([], [], 2, 0), (1, 1), (1, 1), (1, 1)),
        (([], [], 0, 0), (1, 1), (1, 1), (1, 1)),
        (([(0, 0)], [(0, 0)], 1, 1), (1, 1), (1, 1), (1, 1)),
    ],
    ids=[
        *("empty prediction", "empty gold", "nothing right", "both empty", "no source", "no target"),
        *("no words", "no nulls"),
    ],
)
def test_nothing_is_agreed_on_or_missed(pair, both, links, nulls):
    found = compute_scores(count_pair(*pair))
    for prefix, (precision, recall) in (("", both), ("links_", links), ("nulls_", nulls)):
        for average in ("", "micro_"):
            assert found[f"{average}{prefix}precision"] == pytest.approx(precision)
            assert found[f"{average}{prefix}recall"] == pytest.approx(recall)


def test_without_links_on_either_side_there_is_no_alignment_error():
    assert compute_scores(count_pair([], [], 2, 2))["aer"] == 0
    assert compute_scores(count_pair([], [(0, 0)], 2, 2))["aer"] == 1
    assert compute_scores(count_pair([(0, 0)], [], 2, 2))["aer"] == 1
    assert compute_scores(count_pair([(0, 0)], [], 2, 2, possible=[(0, 0)]))["aer"] == 0


def test_a_pair_without_words_has_no_nulls_and_no_phrases():
    counts = count_pair([], [], 0, 0)
    assert (counts.null_rate[0], counts.phrase_share[0], counts.length[0]) == (0, 0, 0)


def test_a_link_given_twice_counts_once():
    assert compute_scores(count_pair([(0, 0), (0, 0)], [(0, 0)], 1, 1))["precision"] == 1


def test_a_corpus_of_no_pairs_can_be_counted_but_has_no_score():
    assert len(NONE) == 0
    assert break_down(NONE, "length") == ()
    for ask in (lambda: compute_scores(NONE), lambda: compute_intervals(NONE), lambda: compare(NONE, NONE)):
        with pytest.raises(ValueError, match="counts must hold at least one pair, got none"):
            ask()


def test_gold_with_levels_and_gold_without_are_counted():
    words, links = (("a", "b"), ("c", "d")), frozenset({(0, 0), (1, 1)})
    guess = Alignment(*words, tuple(links))
    gold = Gold(*words, frozenset({(0, 0)}), frozenset({(1, 1)}))
    assert compute_scores(count([guess], [gold], "sure"))["precision"] == 1 / 2
    assert compute_scores(count([guess], [gold], "possible"))["precision"] == 1
    assert compute_scores(count([guess], [Alignment(*words, tuple(links))], "possible"))["exact_match"] == 1
    assert count([guess] * 3, iter([gold] * 3)).table.shape == (3, count([guess], [gold]).table.shape[1])


def test_words_may_differ_in_case_only():
    assert len(count([Alignment(("The",), ("Straße",), ())], [Alignment(("the",), ("STRASSE",), ())])) == 1


GOLD = Alignment(("a", "red", "car"), ("a", "bus"), ())


@pytest.mark.parametrize(
    ("predicted", "message"),
    [
        ([GOLD], r"same pairs, got 1 and 2; a pair without links must still have an entry"),
        ([GOLD] * 5, r"same pairs, got 5 and 2"),
        (
            [GOLD, Alignment(("a", "car"), ("a", "bus"), ())],
            r"pair 1, counted from 0: predicted has 2 and 2 words, gold has 3 and 2; align the words of",
        ),
        (
            [GOLD.transpose(), GOLD],
            r"pair 0.* has 2 and 3 words, gold has 3 and 2; .*swapped",
        ),
        (
            [GOLD, Alignment(("a", "red", "cat"), ("a", "bus"), ())],
            r"pair 1.*source word 2 is 'cat' in predicted and 'car' in gold",
        ),
        (
            [GOLD, Alignment(GOLD.source, ("the", "bus"), ())],
            r"pair 1.*target word 0 is 'the' .* and 'a' in gold",
        ),
    ],
)
def test_a_prediction_of_other_sentences_is_refused_and_both_are_named(predicted, message):
    with pytest.raises(ValueError, match=message):
        count(predicted, [GOLD, GOLD])


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: count_pair([(-1, 0)], [], 1, 1), "predicted link -1-0 is outside"),
        (lambda: count_pair([], [], 1, 1, possible=[(0, 1)]), "gold link 0-1 is outside"),
        (lambda: count([], [], "s"), r"level must be 'sure' or 'possible', got 's'"),
        (lambda: count_pair([], [], 1, 1, level="S"), "level must be .*got 'S'"),
        (lambda: Counts(np.zeros((2, 3))), r"table must have the shape \(pairs, 20\), got \(2, 3\)"),
        (lambda: Counts.concatenate([]), r"one level of the gold, got \[\]"),
        (
            lambda: Counts.concatenate([ONE, count([], [], "possible")]),
            r"one level of the gold, got \['possible', 'sure'\]",
        ),
        (
            lambda: ONE.tally("words"),
            "counted must be one of links.nulls, links, nulls, phrases, got 'words'",
        ),
        (lambda: compute_scores(ONE, ["F1"]), "measures must be among precision, recall, f1, .*got 'F1'"),
        (lambda: break_down(ONE, "words"), "by must be one of null_rate, length, phrase_share, got 'words'"),
        (lambda: break_down(ONE, "length", bins=0), "bins must be at least 1, got 0"),
        (lambda: Resampling(trials=0), "trials must be at least 1, got 0"),
        (lambda: Resampling(confidence=95), "confidence must be between 0 and 1, got 95; 0.95"),
        (lambda: compare(ONE, ONE[[0, 0]]), "baseline and system must hold the same pairs, got 1 and 2"),
        (
            lambda: compare(ONE, count_pair([], [], 1, 1, level="possible")),
            r"one level, got 'sure' and 'possible'",
        ),
        (
            lambda: compare(ONE[[0, 0]], Counts.concatenate([ONE, count_pair([], [], 1, 1)])),
            "same gold, got 1 and 0 links_gold in pair 1, counted from 0; count both against the same gold",
        ),
        (lambda: describe_score(ONE, more={"level": "sure"}), "more must not name 'level' again"),
        (lambda: describe_score(ONE, more={"model": "a|b"}), r"not contain '\|'.*got 'model': 'a\|b'"),
    ],
)
def test_bad_arguments_are_named(ask, message):
    with pytest.raises(ValueError, match=message):
        ask()


def test_the_signature_says_what_was_counted_how_and_by_which_version():
    counts = count([], [], "possible")
    assert describe_score(counts).startswith(
        "measure:f1|average:macro|counted:links+nulls|level:possible|pairs:0|version:"
    )
    more = {"aligner": "Unbalanced(tau=0.4)", "layer": 4}
    assert (
        "micro_links_f1|average:micro|counted:links|level:sure|pairs:1|trials:100|seed:7|confidence:0.95"
        "|aligner:Unbalanced(tau=0.4)|layer:4|version:"
    ) in describe_score(ONE, "micro_links_f1", Resampling(100, seed=7), more)


def test_every_measure_can_be_signed():
    assert len({describe_score(ONE, name) for name in MEASURES}) == len(MEASURES)
