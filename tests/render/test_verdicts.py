"""Laws of verdicts: they agree with the counts of the metrics."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from otalign.alignment import Alignment, Link
from otalign.gold import Gold
from otalign.metrics import count
from otalign.render.verdicts import at_level, count_verdicts, mistakes, verdicts
from tests.alignment_strategies import golds


@given(golds(), st.sampled_from(["sure", "possible"]), st.randoms())
def test_there_are_as_many_of_each_as_the_metrics_count(gold, level, random):
    n, m = gold.shape
    every = [(i, j) for i in range(n) for j in range(m)]
    links = tuple(Link(*pair) for pair in random.sample(every, min(len(every), n)))
    predicted = Alignment(gold.source, gold.target, links)
    judged = verdicts(predicted, at_level(gold, level))
    found = Counter([*judged.links.values(), *judged.source_nulls.values(), *judged.target_nulls.values()])
    (tally,) = count_verdicts(count([predicted], [gold], level))
    assert tally == {name: found[name] for name in ("right", "wrong", "missed")}


@given(golds())
def test_the_gold_itself_is_right_and_has_no_mistakes(gold):
    alignment = gold.alignment("possible")
    assert mistakes(alignment, verdicts(alignment, alignment)) == ""


def test_mistakes_are_described_in_words():
    gold = Gold(("he", "bought", "cars"), ("he", "purchased", "\tcars"), {(0, 0), (1, 1)}, {(2, 2)})
    predicted = Alignment(gold.source, gold.target, (Link(0, 0), Link(2, 2), Link(2, 0)))
    assert mistakes(predicted, verdicts(predicted, at_level(gold, "sure"))) == (
        "wrong: “cars” – “he”, “cars” – “␉cars”, “bought” ∅, “purchased” ∅\n"
        "missed: “bought” – “purchased”, “cars” ∅, “␉cars” ∅"
    )
    assert at_level(predicted, "sure") is predicted
