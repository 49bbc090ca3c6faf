"""Phrases in words, and in the details of drawings."""

from otalign.alignment import Alignment, Link
from otalign.render.phrases import describe_phrases
from otalign.render.svg import svg

EXAMPLE = Alignment(
    ("He", "passed", "away", "\t"), ("He", "died", "-"), (Link(0, 0), Link(1, 1, 0.9), Link(2, 1, 0.8))
)


def test_phrases_of_several_words_are_listed_with_type_and_weight():
    assert describe_phrases(EXAMPLE) == "phrases: “passed away” – “died” (n-1, 0.85)"
    more = Alignment(EXAMPLE.source, EXAMPLE.target, (*EXAMPLE.links, Link(3, 1), Link(3, 2)))
    assert describe_phrases(more) == "phrases: “passed away ␉” – “died -” (n-m, 0.93)"
    assert describe_phrases(Alignment(("a",), ("b",), (Link(0, 0),))) == ""


def test_the_tooltip_of_a_bracket_has_type_and_weight_of_its_phrase():
    text = svg(EXAMPLE)
    assert "<title>passed away – died: 0.80 to 0.90 (phrase n-1, 0.85)</title>" in text
    assert "<title>He – He: 1.00</title>" in text
