"""The drawings of the page, at any width and in two views side by side, and checks by axe-core."""

import re
from urllib.parse import parse_qs, urlsplit

from otalign.server.app import make_app
from tests.accessibility import find_violations
from tests.server.local_server import run_server
from tests.server.page_driver import (
    SOURCE,
    choose,
    read,
    settled,
    slide,
    type_into,
    value,
)


def test_words_stay_and_keep_the_focus_while_links_move(opened):
    choose(opened, "uot")
    places = "[...document.querySelectorAll('.word')].map(word => word.getBoundingClientRect().y)"
    opened.evaluate("document.querySelector('.word').classList.add('known')")
    before = opened.evaluate(places)
    slide(opened, "tau", "ArrowRight")
    assert opened.evaluate("document.activeElement.id") == "tau"
    assert opened.evaluate("document.querySelectorAll('.word.known').length") == 1
    assert opened.evaluate(places) == before


def test_the_detail_of_a_word_is_beside_it(opened):
    for side in ("source", "target"):
        opened.hover(f".word.{side}:last-child")
        opened.wait_for("document.querySelector('.detail').textContent")
        gap = opened.evaluate(
            "(() => { const [one, two] = ['.detail', '.word:hover'].map(s =>"
            " document.querySelector(s).getBoundingClientRect());"
            " return [Math.max(one.top - two.bottom, two.top - one.bottom), one.right] })()"
        )
        assert 0 <= gap[0] < 5
        assert gap[1] <= opened.evaluate(
            "document.querySelector('.drawing').getBoundingClientRect().right + 1"
        )


def test_it_fits_any_width_and_links_meet_their_words(opened):
    type_into(opened, "target", " ".join(["Her grandfather died suddenly last winter"] * 4))
    type_into(opened, "source", "Donaudampfschifffahrtsgesellschaftskapitän " * 2 + SOURCE * 3)
    choose(opened, "uot")
    opened.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    for width in (320, 360, 480, 768, 881, 1280, 1600):
        opened.resize(width, 740)
        opened.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert opened.evaluate("document.documentElement.scrollWidth") == width
        regions = "[...document.querySelectorAll('.matrix, .drawing')]"
        inside = f"{regions}.every(one => one.scrollWidth <= one.clientWidth + 1)"
        assert opened.evaluate(inside)
        gaps = opened.evaluate(
            "(() => { const figure = document.querySelector('figure');"
            " const origin = figure.getBoundingClientRect();"
            " return [...figure.querySelectorAll('.link')].flatMap(path => ['source', 'target'].map(side => {"
            "  const end = path.getPointAtLength(side === 'source' ? 0 : path.getTotalLength());"
            "  return Math.min(...path.dataset[side].split(' ').map(word => {"
            "   const box = figure.words[side][word].getBoundingClientRect();"
            "   const x = end.x + origin.x, y = end.y + origin.y;"
            "   return Math.max(box.left - x, x - box.right, box.top - y, y - box.bottom); })) })) })()"
        )
        assert gaps
        assert max(gaps) < 7  # at the word, or at the bracket of its phrase


def test_too_large_a_matrix_is_not_drawn(opened):
    for side in ("source", "target"):
        type_into(opened, side, "word " * 100)
    settled(opened)
    assert "too many" in read(opened, ".matrix")


def test_a_long_matrix_is_folded_until_it_is_asked_for(opened):
    is_open = "document.querySelector('.weights').open"
    assert opened.evaluate(is_open)
    for side in ("source", "target"):
        type_into(opened, side, "word " * 60)
    settled(opened)
    assert not opened.evaluate(is_open)
    opened.click(".weights summary")
    type_into(opened, "source", "word " * 61)
    settled(opened)
    assert opened.evaluate(is_open)
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
    type_into(opened, "source", "word")
    settled(opened)
    assert opened.evaluate(is_open)


def test_a_cell_of_the_matrix_lights_its_words_up(opened):
    opened.hover(".matrix tbody tr:nth-child(2) td:nth-child(4)")
    opened.wait_for("document.querySelector('figure.lit')")
    lit = "[...document.querySelectorAll('.word.on bdi')].map(word => word.textContent)"
    assert opened.evaluate(lit) == ["winter", "died"]
    assert read(opened, ".detail").startswith("winter – died: ")
    opened.hover("h1")
    opened.wait_for("!document.querySelector('figure.lit')")


def test_east_asian_headers_stand_upright(opened):
    type_into(opened, "target", "彼は死んだ。 today")
    settled(opened)
    heads = (
        "[...document.querySelectorAll('.matrix thead span.upright')].map(one => [one.textContent,"
        " getComputedStyle(one).textOrientation, getComputedStyle(one).transform])"
    )
    assert opened.evaluate(heads)[0] == ["彼", "upright", "none"]
    upright = [text for text, *_ in opened.evaluate(heads)]
    assert "。" in upright
    assert "today" not in upright


def test_two_settings_are_shown_side_by_side_and_in_the_address(opened, browser):
    opened.click("#compare")
    settled(opened)
    choose(opened, "pot", "b.")
    slide(opened, "b.fraction", "Home")
    views = (
        "[...document.querySelectorAll('.view')].map(one => one.querySelector('.problems :checked').value)"
    )
    assert opened.evaluate(views) == ["learned", "pot"]
    assert opened.evaluate("document.querySelectorAll('figure').length") == 2
    assert find_violations(opened) == []
    state = parse_qs(urlsplit(opened.evaluate("location.href")).fragment)
    assert (state["b.problem"], state["b.fraction"]) == (["pot"], ["0.05"])
    with browser.page() as other:
        other.open(opened.evaluate("location.href"))
        settled(other)
        assert other.evaluate(views) == ["learned", "pot"]
        assert value(other, "b.fraction") == 0.05
    problems = re.findall(r'"problem":"(\w+)"', read(opened, "#curl"))
    assert problems == re.findall(r'"problem": "(\w+)"', read(opened, "#python")) == ["learned", "pot"]
    opened.click("#compare")
    assert opened.evaluate("document.querySelectorAll('.view').length") == 1
    assert read(opened, "#curl").count("curl") == 1


def test_two_models_are_shown_side_by_side(page, trained, untrained):
    with run_server(make_app(trained, other=untrained)) as server:
        assert server.get("/v1/aligner").json["other"] == "other/"
        assert server.get("/other/v1/aligner").json["signature"] == untrained.signature
        page.open(f"{server.url}/")
        settled(page)
        page.click("#compare")
        settled(page)
        found = page.evaluate("[...document.querySelectorAll('#signature span')].map(one => one.textContent)")
        assert found == [trained.signature, untrained.signature]
        assert page.errors == []


def test_the_page_passes_the_checks_of_axe(opened):
    opened.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    slide(opened, "threshold", "Home")
    assert find_violations(opened) == []


def test_hebrew_reads_from_the_right_beside_english(opened):
    type_into(opened, "source", "שלום לך חבר")
    settled(opened)
    places = "document.querySelector('figure').words.{}.map(w => w.getBoundingClientRect().x)"
    assert opened.evaluate(places.format("source")) == sorted(opened.evaluate(places.format("source")))[::-1]
    english = opened.evaluate(places.format("target"))
    assert english == sorted(english)


def test_hebrew_words_of_a_list_stand_in_the_order_of_the_list(opened):
    choose(opened, "none")
    slide(opened, "threshold", "End")
    type_into(opened, "source", "שלום לך חבר")
    settled(opened)
    xs = opened.evaluate(
        "(() => { const text = document.querySelector('.summary').firstChild, range = document.createRange();"
        " return ['שלום', 'לך', 'חבר', '(source)'].map(word => { const at = text.data.indexOf(word);"
        "  range.setStart(text, at); range.setEnd(text, at + word.length);"
        "  return range.getBoundingClientRect().x; }) })()"
    )
    assert xs == sorted(xs)
