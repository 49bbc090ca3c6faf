"""Laws of SVG pictures: valid XML for any words, with each link, word and null."""

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given

from otalign.alignment import Alignment, Link
from otalign.render.groups import group_links
from otalign.render.svg import COLOURS, FAINTEST, THICKEST, svg
from otalign.render.words import shown
from tests.contrast import contrast, mix
from tests.render.alignment_strategies import plain_alignments, unusual_alignments

ROOT = Path(__file__).parents[2]
NS = "{http://www.w3.org/2000/svg}"
CROSSED = Alignment(tuple("abc"), tuple("xyz"), (Link(0, 2, 0.5), Link(2, 0)))


def parse_svg(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text.encode())


def group(picture: ElementTree.Element, part: str) -> ElementTree.Element:
    found = picture.find(f"{NS}g[@class='otalign-{part}']")
    assert found is not None
    return found


def texts(element: ElementTree.Element) -> list[str | None]:
    return [text.text for text in element.iter(f"{NS}text")]


@given(unusual_alignments())
def test_any_words_give_xml_with_each_word_each_link_and_each_null(alignment):
    for width in (1e9, 1):  # one line, a line for each word
        picture = parse_svg(svg(alignment, width))
        assert len(group(picture, "links")) == len(group_links(alignment.pairs))
        nulls = [alignment.source[i] for i in alignment.source_nulls]
        nulls += [alignment.target[j] for j in alignment.target_nulls]
        assert texts(group(picture, "nulls")) == [text for word in nulls for text in (shown(word), "∅")]
        assert len(group(picture, "frames")) == len(nulls)
        drawn = texts(group(picture, "words")) + texts(group(picture, "nulls"))[::2]
        assert sorted(map(str, drawn)) == sorted(map(shown, alignment.source + alignment.target))


@given(unusual_alignments())
def test_nothing_overflows_the_page(alignment):
    for width in (1e9, 1):
        picture = parse_svg(svg(alignment, width))
        wide, high = float(picture.attrib["width"]), float(picture.attrib["height"])
        for frame in group(picture, "frames"):
            assert (
                0 < float(frame.attrib["x"]) < float(frame.attrib["x"]) + float(frame.attrib["width"]) < wide
            )
        for text in picture.iter(f"{NS}text"):
            assert 0 < float(text.attrib["x"]) < wide
            assert 0 < float(text.attrib["y"]) < high


@given(plain_alignments())
def test_words_of_a_side_keep_their_order_and_share_a_row(alignment):
    picture = parse_svg(svg(alignment, 1e9))
    # Groups hold the source words first: by their rows the sides are told apart.
    places = [
        (float(text.attrib["y"]), float(text.attrib["x"]), text.text)
        for part in ("words", "nulls")
        for text in group(picture, part)
        if text.text != "∅"
    ]
    assert [word for _, _, word in sorted(places)] == [*alignment.source, *alignment.target]


def test_words_are_escaped():
    words = ("<script>alert(1)</script>", "a&b", '"', "]]>", "\x00")
    text = svg(Alignment(words, words, tuple(Link(k, k) for k in range(5))))
    assert "<script" not in text
    assert texts(group(parse_svg(text), "words")) == [*words[:4], "␀"] * 2


def test_a_heavier_link_is_drawn_stronger():
    links = (Link(0, 0, 0.0), Link(1, 1, 0.5), Link(2, 2, 1.0))
    picture = parse_svg(svg(Alignment(tuple("abc"), tuple("xyz"), links)))
    for look, most in (("stroke-opacity", 1), ("stroke-width", THICKEST)):
        values = [float(link.attrib[look]) for link in group(picture, "links")]
        assert values == sorted(set(values))
        assert values[-1] == most


def test_a_phrase_is_one_curve_with_brackets():
    words, other = ("He", "passed", "away"), ("He", "died", "there")
    both = tuple(Link(i, j, 0.5) for i in (1, 2) for j in (1, 2))
    _, phrase = group(parse_svg(svg(Alignment(words, other, (Link(0, 0), *both)))), "links")
    assert len(phrase.findall(f"{NS}path")) == 3
    assert phrase.findtext(f"{NS}title") == "passed away – died there: 0.50 (phrase n-m, 0.50)"


def test_long_sentences_break_into_lines_and_links_between_them_have_numbers():
    words = tuple(f"word{k}" for k in range(60))
    moved = Alignment(words, words, (*(Link(k, k) for k in range(1, 60)), Link(0, 59)))
    picture = parse_svg(svg(moved))
    assert float(picture.attrib["width"]) <= 900
    assert float(picture.attrib["height"]) > 500
    numbers = group(picture, "numbers")
    assert {*texts(numbers)} >= {"1"}
    assert all(path.get("visibility") == "hidden" for path in numbers.findall(f"{NS}g/{NS}g"))
    assert [*texts(group(picture, "gutter"))][:2] == ["Source", "Target"]


def test_hebrew_reads_from_the_right():
    hebrew = Alignment(("הוא", "קנה"), ("He", "bought"), (Link(0, 0), Link(1, 1)))
    he, bought = [float(text.attrib["x"]) for text in group(parse_svg(svg(hebrew)), "words")][:2]
    assert he > bought


def test_the_picture_says_what_it_shows():
    picture = parse_svg(svg(CROSSED))
    assert picture.attrib["role"] == "img"
    assert [child.tag for child in picture][:2] == [f"{NS}title", f"{NS}desc"]
    assert picture.findtext(f"{NS}title") == "Word alignment of “a b c” and “x y z”"
    assert picture.findtext(f"{NS}desc") == (
        "Linked: a – z; c – x\nWithout a counterpart in the source: b\nWithout a counterpart in the target: y"
    )


def test_empty_sides_are_drawn():
    assert texts(parse_svg(svg(Alignment((), (), ())))) == []
    assert texts(parse_svg(svg(Alignment((), ("a",), ())))) == ["Target", "a", "∅"]


@pytest.mark.parametrize("scheme", [1, 2], ids=["light", "dark"])
def test_words_and_the_faintest_links_stand_out_from_the_background(scheme):
    back = COLOURS["back"][scheme]
    for part in COLOURS.keys() - {"back"}:
        assert contrast(COLOURS[part][scheme], back) >= 4.5, part
    assert contrast(mix(COLOURS["links"][scheme], back, FAINTEST), back) >= 3


def test_a_width_must_be_positive():
    with pytest.raises(ValueError, match="width must be a positive number of pixels, got 0"):
        svg(CROSSED, 0)


def test_the_picture_in_the_documents_is_the_one_that_the_example_writes(tmp_path):
    example = ROOT / "examples" / "picture.py"
    subprocess.run([sys.executable, example, tmp_path / "alignment.svg"], check=True)
    assert (tmp_path / "alignment.svg").read_bytes() == (ROOT / "docs" / "alignment.svg").read_bytes()


def test_nothing_is_fetched_from_outside():
    assert re.findall(r"https?://\S+?\"|url\(|href|@import", svg(CROSSED)) == ['http://www.w3.org/2000/svg"']
