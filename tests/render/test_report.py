"""Laws of reports: valid HTML for any words, the figures of the metrics, and nothing from other servers."""

import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given

from otalign.alignment import Alignment, Link
from otalign.gold import Gold
from otalign.metrics import compute_scores, count, score_pairs
from otalign.render.report import report
from otalign.render.words import shown
from tests.render.alignment_strategies import plain_alignments, unusual_alignments

GOLD = Gold(("he", "bought", "cars"), ("he", "purchased", "cars", "yesterday"), {(0, 0), (1, 1)}, {(2, 2)})
PREDICTED = Alignment(GOLD.source, GOLD.target, (Link(0, 0, 0.75), Link(2, 2, 0.5), Link(2, 3, 2.0)))


class Parsed(HTMLParser):
    """The elements of a page, the text of each script, and the title."""

    def __init__(self, page: str):
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str | None] = []
        self.texts: dict[str, str] = {}
        self.inside = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        of = dict(attrs)
        self.tags.append(tag)
        self.addresses += [of[name] for name in ("src", "href", "action", "data") if name in of]
        self.inside = of.get("id") or tag

    def handle_data(self, data):
        self.texts[self.inside] = self.texts.get(self.inside, "") + data

    def handle_endtag(self, tag):
        self.inside = ""

    @property
    def data(self) -> dict:
        index, *pairs = map(json.loads, self.texts["data"].split("\n"))
        return index | {"pairs": pairs}


TAGS = Parsed(report([])).tags


@given(unusual_alignments())
def test_any_words_leave_the_page_as_it_is_and_come_back_from_it(alignment):
    page = Parsed(report([alignment], title="".join(alignment.source)))
    assert page.tags == TAGS
    (pair,) = page.data["pairs"]
    assert pair["source"] == [*map(shown, alignment.source)]
    assert pair["target"] == [*map(shown, alignment.target)]


def test_words_that_look_like_html_are_words():
    words = (
        "<script>",
        "</script>",
        "<!--",
        "-->",
        "]]>",
        "&amp;",
        '"',
        "'",
        "\\",
        "\u2028",
        "$title",
        "${x}",
    )
    page = report([Alignment(words, words, ())], title="</title><script>alert(1)</script> & $data")
    parsed = Parsed(page)
    assert parsed.tags == TAGS
    assert parsed.data["pairs"][0]["source"] == [shown(word) for word in words]
    assert parsed.texts["title"] == "</title><script>alert(1)</script> & $data"
    assert page.count("<script") == page.count("</script>") == 2


@given(plain_alignments())
def test_each_link_and_each_word_is_there(alignment):
    (pair,) = Parsed(report([alignment])).data["pairs"]
    assert pair["systems"][0]["links"] == [[i, j, round(weight, 4)] for i, j, weight in alignment.links]
    assert (pair["source"], pair["target"]) == ([*alignment.source], [*alignment.target])


@pytest.mark.parametrize("level", ["sure", "possible"])
def test_scores_beside_gold_are_those_of_the_metrics(level):
    systems = {"one": [PREDICTED, PREDICTED], "other": [GOLD.alignment("sure"), PREDICTED]}
    data = Parsed(report(systems, [GOLD, GOLD], level)).data
    for number, (name, alignments) in enumerate(systems.items()):
        counts = count(alignments, [GOLD, GOLD], level)
        each = score_pairs(counts)
        assert [f1[number] for f1 in data["f1"]] == pytest.approx(each["f1"], abs=1e-4)
        assert [rate[number] for rate in data["nullRate"]] == pytest.approx(each["null_rate"], abs=1e-4)
        assert data["systems"][number] == {"name": name} | compute_scores(
            counts, ["f1", "precision", "recall"]
        )
    assert data["pairs"][0]["sure"] == [[0, 0], [1, 1]]
    assert data["pairs"][0]["possible"] == [[2, 2]]
    assert data["level"] == level


@given(plain_alignments(), plain_alignments())
def test_differences_are_the_links_and_nulls_that_not_all_systems_have(one, other):
    links = [link for link in other.links if link.source < len(one.source) and link.target < len(one.target)]
    other = Alignment(one.source, one.target, tuple(links))
    data = Parsed(report({"one": [one], "other": [other], "again": [one]})).data
    found = [
        {
            *alignment.pairs,
            *((i, None) for i in alignment.source_nulls),
            *((None, j) for j in alignment.target_nulls),
        }
        for alignment in (one, other)
    ]
    assert data["differs"] == [len(found[0] ^ found[1])]


def test_systems_of_other_pairs_are_refused():
    with pytest.raises(ValueError, match="one has 1 pair, but other has 2; all systems must align the same"):
        report({"one": [PREDICTED], "other": [PREDICTED, PREDICTED]})
    with pytest.raises(ValueError, match="pair 1 has other words in one than in other"):
        report({"one": [PREDICTED], "other": [Alignment(("x",), ("y",), ())]})
    with pytest.raises(ValueError, match="there is no system to show"):
        report({})
    with pytest.raises(ValueError, match="give the system another name"):
        report({"gold": [PREDICTED]}, [GOLD])


def test_gold_of_other_sentences_is_refused():
    with pytest.raises(ValueError, match="pair 0, counted from 0"):
        report([PREDICTED], [Gold(("x",), ("y",), frozenset())])


def test_nothing_is_fetched_from_outside():
    page = report([PREDICTED], [GOLD])
    assert Parsed(page).addresses == ["data:,", "#pairs"]
    assert re.findall(r"https?://[^\"']+|url\(|@import|fetch\(|XMLHttp", page) == [
        "http://www.w3.org/2000/svg"
    ]
    assert "default-src 'none'" in page


def test_null_confidences_are_shown_if_they_are_known():
    sure = Alignment(("a",), (), (), source_null_confidence=(0.123456,), target_null_confidence=())
    (pair,) = Parsed(report([sure])).data["pairs"]
    assert pair["systems"][0]["sourceConfidence"] == [0.1235]
    assert "sourceConfidence" not in Parsed(report([PREDICTED])).data["pairs"][0]["systems"][0]


def test_words_are_kept_as_they_are_for_the_export():
    (pair,) = Parsed(report([Alignment(("a", "\n"), ("b",), ())])).data["pairs"]
    assert pair["source"] == ["a", "␊"]
    assert pair["sourceRaw"] == {"1": "\n"}
    assert "targetRaw" not in pair
