"""The page in a real browser: typing, sliders, keys, a phone, and links that restore the state."""

import json
from urllib.parse import parse_qs, urlsplit

from otalign import Aligner
from otalign.server.app import make_app
from tests.screenshots import take_page
from tests.server.local_server import run_server
from tests.server.page_driver import (
    FRAMED,
    LINKS,
    SHOWN,
    SOURCE,
    TARGET,
    WORDS,
    choose,
    read,
    settled,
    slide,
    type_into,
    value,
)


def test_it_opens_with_an_example_and_shows_what_the_server_says(opened, server):
    answer = server.align({"source": SOURCE, "target": TARGET}).json
    assert opened.evaluate(WORDS) == [answer["source"], answer["target"]]
    drawn = "[...document.querySelectorAll('.stroke')].flatMap(({group}) => group.links)"
    assert sorted(opened.evaluate(f"{drawn}.map(([i, j, weight]) => [i, j, weight])")) == answer["links"]
    assert opened.evaluate(FRAMED) == len(answer["links"])
    assert read(opened, "#signature") == answer["signature"]
    assert read(opened, "h1") == "otalign"
    assert opened.evaluate("document.querySelector('header a').href") == f"{server.url}/docs"


def test_the_example_comes_out_right_with_the_model_of_the_package():
    found = Aligner.load(threads=1).align(SOURCE, TARGET)
    assert found.pharaoh() == "0-4 1-5 2-0 3-1 4-2 5-2 6-6"
    assert found.target_nulls == (3,)


def test_what_is_typed_is_aligned_at_once(opened):
    for side, text in (("source", "Rain fell"), ("target", "It rained <b>today</b>")):
        type_into(opened, side, text)
    settled(opened)
    assert opened.evaluate(WORDS) == [
        ["Rain", "fell"],
        ["It", "rained", "<", "b", ">", "today", "<", "/", "b", ">"],
    ]
    assert opened.evaluate("document.querySelectorAll('.matrix tbody tr').length") == 2
    opened.evaluate("document.querySelector('#target').select()")
    opened.press("Delete")
    settled(opened)
    assert read(opened, ".summary") == "Type two sentences."
    assert opened.evaluate(LINKS) == []


def test_sliders_move_the_links_and_each_problem_has_its_own(opened):
    choose(opened, "uot")
    assert opened.evaluate(SHOWN) == ["tau", "epsilon", "distortion", "threshold"]
    before = opened.evaluate(LINKS)
    slide(opened, "threshold", "End")
    assert value(opened, "threshold") == 1
    assert opened.evaluate(LINKS) == []
    slide(opened, "threshold", "Home")
    drawn = "[...document.querySelectorAll('.stroke')].flatMap(({group}) => group.links).length"
    assert opened.evaluate(FRAMED) == opened.evaluate(drawn) > len(before)
    choose(opened, "pot")
    assert opened.evaluate(SHOWN) == ["fraction", "epsilon", "distortion", "threshold"]
    assert value(opened, "threshold") == 0.34  # another problem has a threshold of its own
    weights = "[...document.querySelectorAll('.matrix tbody td')].map(cell => cell.textContent).join()"
    whole = opened.evaluate(weights)
    slide(opened, "fraction", "Home")
    assert value(opened, "fraction") == 0.05
    assert opened.evaluate(weights) != whole
    choose(opened, "none")
    assert opened.evaluate(SHOWN) == ["distortion", "threshold"]
    choose(opened, "learned")
    assert opened.evaluate(SHOWN) == ["threshold"]
    opened.click("input[value=possible]")
    settled(opened)
    assert value(opened, "threshold") == 0.3
    opened.click(".reset")
    settled(opened)
    assert value(opened, "threshold") == 0.4


def test_all_can_be_done_by_keys_alone(opened):
    reached = []
    for _ in range(25):
        opened.press("Tab")
        reached.append(
            opened.evaluate(
                "document.activeElement.id || document.activeElement.name || document.activeElement.className"
            )
        )
    stops = (
        "source",
        "target",
        "examples",
        "swap",
        "compare",
        "copy-pharaoh",
        "problem",
        "threshold",
        "reset",
    )
    assert {*stops} <= {*reached}
    assert any("word" in stop for stop in reached)
    opened.evaluate("document.querySelector('input[value=learned]').focus()")
    opened.press("ArrowRight")
    settled(opened)
    assert opened.evaluate("document.activeElement.value") == "bot"
    opened.evaluate("document.querySelector('.word').focus()")
    opened.press("ArrowRight")
    assert opened.evaluate("document.activeElement.textContent").startswith("winter")
    opened.wait_for("document.querySelector('.detail').textContent.startsWith('winter –')")
    opened.press("Escape")
    opened.wait_for("!document.querySelector('figure.lit')")


def test_the_result_is_described_in_words_and_only_changes_are_announced(opened):
    choose(opened, "none")
    slide(opened, "threshold", "Home")
    count = opened.evaluate(FRAMED)
    slide(opened, "threshold", "End")
    nulls = read(opened, ".summary")
    assert nulls.startswith("0 links. Without a counterpart: Last, winter, her, grandfather, passed")
    assert nulls.endswith("last, winter, “.” (target).")
    assert read(opened, ".changes").startswith(f"{count} links removed: Last – Her, ")
    slide(opened, "distortion", "ArrowRight")  # which changes no link
    live = "[...document.querySelectorAll('[role=status]')].map(one => one.textContent)"
    assert opened.evaluate(f"{live}.filter(Boolean)") == []
    described = opened.evaluate(
        "[...document.querySelectorAll('.problems input')].map(one =>"
        " document.getElementById(one.getAttribute('aria-describedby')).textContent)"
    )
    assert len(set(described)) == len(described) == 5
    assert "above the threshold" in described[1]
    name = opened.evaluate("document.querySelector('figure').ariaLabel")
    assert name.startswith("Alignment of 7 source and 7 target words: ")
    heads = opened.evaluate("[...document.querySelectorAll('.matrix th')].map(head => head.scope)")
    assert set(heads) == {"row", "col"}


def test_a_link_carries_the_state(opened, server, browser):
    choose(opened, "uot")
    slide(opened, "tau", "Home")
    slide(opened, "threshold", "ArrowRight")
    opened.click("#swap")
    settled(opened)
    address = opened.evaluate("location.href")
    state = parse_qs(urlsplit(address).fragment)
    assert state == {
        "source": [TARGET],
        "target": [SOURCE],
        "problem": ["uot"],
        "tau": ["0.02"],
        "threshold": ["0.37"],
    }
    with browser.page() as other:
        other.open(address)
        settled(other)
        for expression in (WORDS, LINKS):
            assert other.evaluate(expression) == opened.evaluate(expression)
        assert read(other, ".summary") == read(opened, ".summary")
        assert value(other, "tau") == 0.02
        assert other.errors == []


def test_a_link_that_says_nonsense_is_taken_for_what_it_can_be(page, server):
    page.open(f"{server.url}/#source=a&target=b&problem=best&tau=much&links=all")
    settled(page)
    assert page.evaluate(WORDS) == [["a"], ["b"]]
    assert page.evaluate("document.querySelector('input[name=problem]:checked').value") == "learned"


def test_links_and_json_are_copied(opened, server):
    answer = server.align({"source": SOURCE, "target": TARGET}).json
    opened.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text }")
    opened.click(".copy-pharaoh")
    opened.wait_for("document.querySelector('.copied').textContent === 'Links copied.'")
    assert opened.evaluate("copied") == " ".join(f"{i}-{j}" for i, j, _ in answer["links"])
    opened.click(".copy-json")
    opened.wait_for("document.querySelector('.copied').textContent === 'JSON copied.'")
    assert json.loads(opened.evaluate("copied")) == answer
    # As on a machine elsewhere without https, where there is no clipboard to write to.
    opened.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed'))")
    opened.evaluate("addEventListener('copy', () => { window.copied = document.activeElement.value })")
    opened.click("#copy-link")
    opened.wait_for("document.querySelector('#link-copied').textContent === 'Link copied.'")
    assert opened.evaluate("copied === location.href")
    assert opened.evaluate("document.activeElement.id") == "copy-link"


def test_examples_are_put_in(opened):
    opened.evaluate(
        "Object.assign(document.querySelector('#examples'), {value: '1'})"
        ".dispatchEvent(new Event('change', {bubbles: true}))"
    )
    settled(opened)
    assert opened.evaluate(WORDS)[0] == ["He", "bought", "a", "used", "car", "."]


def test_screenshots_for_the_documents_can_be_taken(browser, trained, tmp_path):
    take_page(browser, trained, tmp_path)
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert sorted(sizes) == ["serve-phone.png", "serve.png"]
    assert all(10_000 < size < 250_000 for size in sizes.values())  # links of random weights, so many


def test_the_page_asks_for_the_token_that_the_server_needs(page, trained):
    with run_server(make_app(trained, token="right")) as server:
        page.open(f"{server.url}/")
        for token in ("wrong", "right"):
            page.wait_for("!document.querySelector('#unlock').hidden")
            page.click("#token")
            page.type(token)
            page.press("Enter")
        settled(page)
        assert page.evaluate("document.querySelector('#unlock').hidden")
        assert page.evaluate("location.search + location.hash").find("right") == -1
        page.open(f"{server.url}/")  # the tab remembers it
        settled(page)
