"""Laws of reports: valid HTML for any words, the figures of the metrics, and nothing from other servers."""

import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given

from otalign.alignment import Alignment, Link
from otalign.gold import Gold
from otalign.metrics import count, per_pair, scores
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
        return json.loads(self.texts["data"])


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
def test_each_link_and_null_is_there_and_each_word_is_in_one_column(alignment):
    (pair,) = Parsed(report([alignment])).data["pairs"]
    assert [(i, j) for i, j, _, _ in pair["links"]] == [(i, j) for i, j, _ in alignment.links]
    assert [k for k, _ in pair["sourceNulls"]] == [*alignment.source_nulls]
    assert [k for k, _ in pair["targetNulls"]] == [*alignment.target_nulls]
    for side, words in enumerate((alignment.source, alignment.target)):
        assert [k for column in pair["columns"] for k in column[side]] == [*range(len(words))]
    assert all(0 <= strength <= 1 for _, _, _, strength in pair["links"])


@pytest.mark.parametrize("level", ["sure", "possible"])
def test_beside_gold_it_says_what_the_metrics_say(level):
    data = Parsed(report([PREDICTED, PREDICTED], [GOLD, GOLD], level)).data
    counts = count([PREDICTED, PREDICTED], [GOLD, GOLD], level)
    each = per_pair(counts)
    for pair in data["pairs"]:
        assert pair["f1"] == pytest.approx(each["f1"][0], abs=1e-4)
        assert pair["nullRate"] == pytest.approx(each["null_rate"][0], abs=1e-4)
        assert pair["length"] == 7
    assert data["scores"] == scores(counts, ["f1", "precision", "recall"]) | {"level": level}
    verdicts = {(i, j): verdict for i, j, _, _, verdict in data["pairs"][0]["links"]}
    possible = "right" if level == "possible" else "wrong"
    assert verdicts == {(0, 0): "right", (2, 2): possible, (2, 3): "wrong", (1, 1): "missed"}
    nulls = [[1, "wrong"], [2, "missed"]] if level == "sure" else [[1, "wrong"]]
    assert data["pairs"][0]["sourceNulls"] == nulls


def test_gold_of_other_sentences_is_refused():
    with pytest.raises(ValueError, match="pair 0, counted from 0"):
        report([PREDICTED], [Gold(("x",), ("y",), frozenset())])


def test_nothing_is_fetched_from_outside():
    page = report([PREDICTED], [GOLD])
    assert Parsed(page).addresses == ["data:,"]
    assert re.findall(r"https?://[^\"']+|url\(|@import|fetch\(|XMLHttp", page) == [
        "http://www.w3.org/2000/svg"
    ]
    assert "default-src 'none'" in page


def test_confidences_of_nulls_are_told_if_they_are_known():
    sure = Alignment(("a",), (), (), source_null_confidence=(0.123456,), target_null_confidence=())
    (pair,) = Parsed(report([sure])).data["pairs"]
    assert pair["sourceConfidence"] == [0.1235]
    assert Parsed(report([PREDICTED])).data["pairs"][0]["sourceConfidence"] is None
