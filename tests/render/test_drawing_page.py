"""The drawing of an alignment in a real browser, as every page has it."""

import json
import re

import pytest

from otalign.render.assets import DRAWING_SCRIPTS, asset
from tests.browser import Page
from tests.contrast import contrast, mix

MOVED = {
    "source": ["Last", "winter", "her", "old", "grandfather", "passed", "away", "."],
    "target": ["Her", "grandfather", "died", "suddenly", "last", "winter", "."],
    "links": [[0, 4], [1, 5], [2, 0], [4, 1], [5, 2], [6, 2], [7, 6]],
    "sourceNulls": [[3, None]],
    "targetNulls": [[3, None]],
}
ARABIC = {
    "source": ["اشترى", "الرجل", "سيارة"],
    "target": ["The", "man", "bought", "cars"],
    "links": [[0, 2], [1, 0], [1, 1], [2, 3]],
    "sourceNulls": [],
    "targetNulls": [],
}
LONG = {
    "source": [f"source{k}" for k in range(70)],
    "target": [f"target{k}" for k in range(70)],
    "links": [[k, (k + 3) % 70] for k in range(70)],
    "sourceNulls": [],
    "targetNulls": [],
}
OVERLAPS = """(() => {
  const boxes = [...document.querySelectorAll('.word')].map(word => word.getBoundingClientRect());
  return boxes.filter((one, k) => boxes.some((two, l) => k < l &&
    one.left < two.right - 0.5 && two.left < one.right - 0.5 &&
    one.top < two.bottom - 0.5 && two.top < one.bottom - 0.5)).length })()"""
JUDGED = {
    "source": [f"source{k}" for k in range(40)],
    "target": [f"target{k}" for k in range(40)],
    "links": [[k, (k + 20) % 40] for k in range(40)] + [[k, k] for k in range(0, 40, 3)],
    "sourceNulls": [[k, "missed"] for k in range(0, 40, 2)],
    "targetNulls": [[k, "wrong"] for k in range(0, 40, 2)],
}
HIDDEN_LABELS = """(() => {
  const labels = [...document.querySelectorAll('.sign, .number')]
    .map(label => [label, label.getBoundingClientRect()]);
  return labels.flatMap(([label, one], k) => labels.slice(k + 1)
    .filter(([other, two]) => one.left < two.right - 2 && two.left < one.right - 2 &&
      one.top < two.bottom - 4 && two.top < one.bottom - 4)
    .map(([other]) => `${label.textContent} over ${other.textContent}`)) })()"""
PLACES = "document.querySelector('figure').words.{}.map(word => word.getBoundingClientRect().x)"


@pytest.fixture
def draw(page: Page, tmp_path):
    """Return a function that opens a page with the drawing of a pair."""

    def show(pair: dict, width: int) -> Page:
        links = [[i, j, 0.9, 0.9, *verdict] for i, j, *verdict in pair["links"]]
        script = (
            f"{asset(*DRAWING_SCRIPTS)}\nconst figure = newFigure({json.dumps(pair | {'links': links})});"
        )
        (tmp_path / "page.html").write_text(
            f"<!doctype html><meta charset=utf-8><style>{asset('linked.css')}</style><body>"
            f"<script type=module>{script} document.body.append(figure); link([figure]);</script>",
            encoding="utf-8",
        )
        page.resize(width, 800)
        page.open(tmp_path / "page.html")
        assert page.errors == []
        return page

    return show


def test_a_phrase_is_one_link_with_a_bracket_and_rows_are_named(draw):
    page = draw(MOVED, 1000)
    strokes = (
        "[...document.querySelectorAll('.stroke')].map(one => one.dataset.source + '-' + one.dataset.target)"
    )
    assert page.evaluate(strokes) == ["0-4", "1-5", "2-0", "4-1", "5 6-2", "7-6"]
    assert page.evaluate("document.querySelectorAll('.bracket').length") == 1
    gutter = "[...document.querySelectorAll('.gutter span')].map(one => one.textContent)"
    assert page.evaluate(gutter) == ["Source", "Target"]
    names = page.evaluate("[...document.querySelectorAll('.word')].map(one => one.ariaLabel)")
    assert names[:4] == ["Last – last (0.90)", "winter – winter (0.90)", "her – Her (0.90)", "old – null"]


def test_a_link_between_lines_is_a_number_with_a_line_while_pointed_at(draw):
    page = draw(MOVED, 300)
    gutter = page.evaluate("[...document.querySelectorAll('.gutter span')].map(one => one.textContent)")
    assert len(gutter) > 2
    assert {*gutter} == {"S", "T"}
    numbers = page.evaluate("[...document.querySelectorAll('.number')].map(one => one.textContent)")
    assert numbers
    assert all(numbers.count(number) >= 2 for number in numbers)
    far = "[...document.querySelectorAll('.far')].map(one => getComputedStyle(one).visibility)"
    assert {*page.evaluate(far)} == {"hidden"}
    word = page.evaluate("document.querySelector('.far').dataset.source.split(' ')[0]")
    page.hover(f".word.source:nth-child({int(word) + 1})")
    page.wait_for("document.querySelector('figure.lit')")
    assert "visible" in page.evaluate(far)
    page.hover(".number")
    page.wait_for(
        "document.querySelectorAll('.stroke.on').length === 1 && document.querySelector('.word.on')"
    )


@pytest.mark.parametrize("width", [360, 1280])
def test_seventy_words_a_side_are_legible(draw, width):
    page = draw(LONG, width)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate(OVERLAPS) == 0
    assert page.evaluate("parseFloat(getComputedStyle(document.querySelector('.word')).fontSize)") >= 14


def test_numbers_do_not_hide_each_other_nor_the_signs_of_nulls(draw):
    page = draw(JUDGED, 1280)
    assert page.evaluate("document.querySelectorAll('.number').length") > 40
    assert page.evaluate(HIDDEN_LABELS) == []


def test_marks_of_verdicts_do_not_hide_each_other(draw):
    links = [[0, 1, "wrong"], [1, 0, "wrong"]]
    words = {"source": ["on", "foot"], "target": ["by", "bus"]}
    page = draw(words | {"links": links, "sourceNulls": [], "targetNulls": []}, 800)
    one, two = page.evaluate(
        "[...document.querySelectorAll('.mark')].map(mark => [mark.x, mark.y].map(at => at.baseVal[0].value))"
    )
    assert abs(one[0] - two[0]) + abs(one[1] - two[1]) > 10


def test_on_paper_each_line_is_a_block_that_no_page_cuts(draw):
    page = draw(LONG, 1280)
    words = "[...document.querySelectorAll('.word')].map(word => word.textContent)"
    before = page.evaluate("document.querySelector('figure').outerHTML")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    lines = page.evaluate(
        "[...document.querySelectorAll('.line')].map(line => [line, ...line.querySelectorAll('*')]"
        ".map(part => part.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom]))"
    )
    assert len(lines) > 4
    for (top, bottom), *parts in lines:
        assert all(top - 1 <= first and last <= bottom + 1 for first, last in parts)
    assert sorted(page.evaluate(words)) == sorted(LONG["source"] + LONG["target"])
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.querySelector('figure').outerHTML") == before


def test_a_sign_reads_from_left_to_right_in_every_script(draw):
    page = draw(ARABIC | {"links": [], "sourceNulls": [[0, "wrong"]], "targetNulls": [[0, "wrong"]]}, 800)
    directions = "[...document.querySelectorAll('.sign')].map(one => getComputedStyle(one).direction)"
    assert page.evaluate(directions) == ["ltr", "ltr"]


def test_each_side_has_its_own_direction(draw):
    page = draw(ARABIC, 800)
    source, target = (page.evaluate(PLACES.format(side)) for side in ("source", "target"))
    assert source == sorted(source, reverse=True)
    assert target == sorted(target)
    page.evaluate("document.querySelector('.word.source').focus()")
    page.press("ArrowLeft")
    assert page.evaluate("document.activeElement.textContent") == "الرجل"
    page.press("ArrowDown")
    page.press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent") == "man"


def test_borders_and_the_faintest_links_have_a_contrast_of_three():
    style = asset("linked.css")
    faintest = float(re.search(r"const FAINTEST = ([\d.]+)", asset("strokes.js"))[1])
    light, dark = (dict(re.findall(r"--(\w+): (#\w{6})", part)) for part in style.split("@media screen")[:2])
    for colours in (light, dark):
        for back in ("back", "raised"):
            for border in ("edge", "null", "wrong", "missed"):
                assert contrast(colours[border], colours[back]) >= 3, (border, back)
        for link in ("link", "wrong", "missed"):
            faint = mix(colours[link], colours["back"], faintest)
            assert contrast(faint, colours["back"]) >= 3, link
