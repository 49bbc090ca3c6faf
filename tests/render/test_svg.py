"""Laws of SVG pictures: valid XML for any words, with each link, word and null."""

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given

from otalign.alignment import Alignment, Link
from otalign.render.svg import COLOURS, svg
from otalign.render.words import shown
from tests.render.alignment_strategies import plain_alignments, unusual_alignments

ROOT = Path(__file__).parents[2]
NS = "{http://www.w3.org/2000/svg}"
CROSSED = Alignment(tuple("abc"), tuple("xyz"), (Link(0, 2, 0.5), Link(2, 0)))


def parsed(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text.encode())


def group(picture: ElementTree.Element, part: str) -> ElementTree.Element:
    found = picture.find(f"{NS}g[@class='otalign-{part}']")
    assert found is not None
    return found


def texts(element: ElementTree.Element) -> list[str | None]:
    return [text.text for text in element.iter(f"{NS}text")]


@given(unusual_alignments())
def test_any_words_give_xml_with_each_word_each_link_and_each_null(alignment):
    for width in (1e9, 1):  # rows, columns
        picture = parsed(svg(alignment, width))
        assert len([*picture.iter(f"{NS}path")]) == len(alignment.links)
        nulls = [alignment.source[i] for i in alignment.source_nulls]
        nulls += [alignment.target[j] for j in alignment.target_nulls]
        assert texts(group(picture, "nulls")) == [text for word in nulls for text in (shown(word), "∅")]
        assert len(group(picture, "lines")) == len(nulls)
        drawn = texts(group(picture, "words")) + texts(group(picture, "nulls"))[::2]
        assert sorted(map(str, drawn)) == sorted(map(shown, alignment.source + alignment.target))


@given(unusual_alignments())
def test_nothing_sticks_out(alignment):
    for width in (1e9, 1):
        picture = parsed(svg(alignment, width))
        wide, high = float(picture.attrib["width"]), float(picture.attrib["height"])
        for line in picture.iter(f"{NS}line"):
            assert 0 < float(line.attrib["x1"]) < float(line.attrib["x2"]) < wide
        for text in picture.iter(f"{NS}text"):
            assert 0 < float(text.attrib["x"]) < wide
            assert 0 < float(text.attrib["y"]) < high


@given(plain_alignments())
def test_words_of_a_side_keep_their_order_and_share_a_row_or_a_column(alignment):
    for width, along, across in ((1e9, "x", "y"), (1, "y", "x")):
        picture = parsed(svg(alignment, width))
        # Groups hold the source words first: by their rows or columns the sides are told apart.
        places = [
            (float(text.attrib[across]), float(text.attrib[along]), text.text)
            for part in ("words", "nulls")
            for text in group(picture, part)
            if text.text != "∅"
        ]
        in_order = [word for _, _, word in sorted(places)]
        assert in_order == [*alignment.source, *alignment.target]


def test_words_are_escaped():
    words = ("<script>alert(1)</script>", "a&b", '"', "]]>", "\x00")
    text = svg(Alignment(words, words, tuple(Link(k, k) for k in range(5))))
    assert "<script" not in text
    assert texts(group(parsed(text), "words")) == [*words[:4], "␀"] * 2


def test_a_heavier_link_is_drawn_stronger_and_the_lightest_is_seen():
    links = (Link(0, 0, 0.0), Link(1, 1, 0.5), Link(2, 2, 1.0))
    paths = parsed(svg(Alignment(tuple("abc"), tuple("xyz"), links))).iter(f"{NS}path")
    opacities = [float(path.attrib["stroke-opacity"]) for path in paths]
    assert opacities == sorted(opacities)
    assert opacities[0] >= 0.2
    assert opacities[-1] == 1


def test_short_sentences_stand_in_rows_and_long_ones_in_columns():
    def shape(count):
        words = ("word",) * count
        picture = parsed(svg(Alignment(words, words, tuple(Link(k, k) for k in range(count)))))
        return float(picture.attrib["width"]), float(picture.attrib["height"])

    assert shape(12)[0] > shape(12)[1]
    assert shape(60)[0] < 400 < shape(60)[1]


def test_hebrew_reads_from_the_right():
    hebrew = Alignment(("הוא", "קנה"), ("He", "bought"), (Link(0, 0), Link(1, 1)))
    he, bought = [float(text.attrib["x"]) for text in group(parsed(svg(hebrew)), "words")][:2]
    assert he > bought


def test_the_picture_says_what_it_shows():
    picture = parsed(svg(CROSSED))
    assert picture.attrib["role"] == "img"
    assert [child.tag for child in picture][:2] == [f"{NS}title", f"{NS}desc"]
    assert picture.findtext(f"{NS}title") == "Word alignment of “a b c” and “x y z”"
    assert picture.findtext(f"{NS}desc") == (
        "Linked: a – z; c – x\nWithout a counterpart in the source: b\nWithout a counterpart in the target: y"
    )


def test_empty_sides_are_drawn():
    assert texts(parsed(svg(Alignment((), (), ())))) == []
    assert texts(parsed(svg(Alignment((), ("a",), ())))) == ["a", "∅"]


@pytest.mark.parametrize("scheme", [1, 2], ids=["light", "dark"])
def test_words_stand_out_from_the_background(scheme):
    def luminance(colour):
        parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for part in ("words", "nulls", "lines", "links"):
        lighter, darker = sorted((luminance(COLOURS[p][scheme]) for p in ("back", part)), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, part


def test_a_width_must_be_positive():
    with pytest.raises(ValueError, match="width must be a positive number of pixels, got 0"):
        svg(CROSSED, 0)


def test_the_picture_in_the_documents_is_the_one_that_the_example_writes(tmp_path):
    example = ROOT / "examples" / "picture.py"
    subprocess.run([sys.executable, example, tmp_path / "alignment.svg"], check=True)
    assert (tmp_path / "alignment.svg").read_bytes() == (ROOT / "docs" / "alignment.svg").read_bytes()


def test_nothing_is_fetched_from_outside():
    assert re.findall(r"https?://\S+?\"|url\(|href|@import", svg(CROSSED)) == ['http://www.w3.org/2000/svg"']
