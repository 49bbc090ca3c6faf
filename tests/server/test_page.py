"""The page in a real browser: typing, sliders, keys, a phone, and links that restore the state."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from otalign.server.app import make_app
from tests.browser import Page
from tests.screenshots import take_page
from tests.server.local_server import run_server

SOURCE, TARGET = "He bought a used car.", "He purchased a second-hand car yesterday."
LINKS = "[...document.querySelectorAll('path.link')].map(p => p.dataset.source + '-' + p.dataset.target)"
WORDS = (
    "[...document.querySelectorAll('.side')].map(side =>"
    " [...side.querySelectorAll('bdi')].map(word => word.textContent))"
)
SHOWN = (
    "[...document.querySelectorAll('.slider')].filter(one => !one.hidden)"
    ".map(one => one.querySelector('input').id)"
)
FRAMED = "document.querySelectorAll('td.linked').length"
STATUS = "document.querySelector('#status').textContent"
IDLE = "document.body.ariaBusy !== 'true'"


@pytest.fixture
def opened(page: Page, server) -> Page:
    """Open the page, and check afterwards that it had no errors and sent no requests elsewhere."""
    page.open(f"{server.url}/")
    settled(page)
    yield page
    assert page.errors == []
    assert {urlsplit(request).netloc for request in page.requests} == {f"127.0.0.1:{server.port}"}


def settled(page: Page) -> None:
    """Wait until the answer to the last change is drawn."""
    page.wait_for(f"{IDLE} && document.querySelector('figure')")


def choose(page: Page, problem: str) -> None:
    page.click(f"input[value={problem}]")
    settled(page)


def slide(page: Page, name: str, key: str) -> None:
    page.evaluate(f"document.querySelector('#{name}').focus()")
    page.press(key)
    settled(page)


def value(page: Page, name: str) -> float:
    return float(
        page.evaluate(f"document.querySelector('#{name}').parentElement.querySelector('output').textContent")
    )


def test_it_opens_with_an_example_and_shows_what_the_server_says(opened, server):
    answer = server.align({"source": SOURCE, "target": TARGET}).json
    assert opened.evaluate(WORDS) == [answer["source"], answer["target"]]
    assert opened.evaluate(LINKS) == [f"{i}-{j}" for i, j, _ in answer["links"]]
    assert opened.evaluate(FRAMED) == len(answer["links"])
    assert opened.evaluate("document.querySelector('#signature').textContent") == answer["signature"]


def test_what_is_typed_is_aligned_at_once(opened):
    for side, text in (("source", "Rain fell"), ("target", "It rained <b>today</b>")):
        opened.click(f"#{side}")
        opened.evaluate(f"document.querySelector('#{side}').select()")
        opened.type(text)
    settled(opened)
    assert opened.evaluate(WORDS) == [
        ["Rain", "fell"],
        ["It", "rained", "<", "b", ">", "today", "<", "/", "b", ">"],
    ]
    assert opened.evaluate("document.querySelectorAll('tbody tr').length") == 2
    opened.evaluate("document.querySelector('#target').select()")
    opened.press("Delete")
    settled(opened)
    assert opened.evaluate(STATUS) == "Type two sentences."
    assert opened.evaluate(LINKS) == []


def test_sliders_move_the_links_and_each_problem_has_its_own(opened):
    choose(opened, "uot")
    assert opened.evaluate(SHOWN) == ["tau", "epsilon", "distortion", "threshold"]
    before = opened.evaluate(LINKS)
    slide(opened, "threshold", "End")
    assert value(opened, "threshold") == 1
    assert opened.evaluate(LINKS) == []
    slide(opened, "threshold", "Home")
    assert len(opened.evaluate(LINKS)) > len(before)
    assert opened.evaluate(f"{LINKS}.length === {FRAMED}")
    choose(opened, "pot")
    assert opened.evaluate(SHOWN) == ["fraction", "epsilon", "distortion", "threshold"]
    assert value(opened, "threshold") == 0.34  # another problem has a threshold of its own
    weights = "[...document.querySelectorAll('tbody td')].map(cell => cell.textContent).join()"
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
    opened.click("#reset")
    settled(opened)
    assert value(opened, "threshold") == 0.4


def test_words_stay_and_keep_the_focus_while_links_move(opened):
    choose(opened, "uot")
    places = "[...document.querySelectorAll('.word')].map(word => word.getBoundingClientRect().y)"
    opened.evaluate("document.querySelector('.word').classList.add('known')")
    before = opened.evaluate(places)
    slide(opened, "tau", "ArrowRight")
    assert opened.evaluate("document.activeElement.id") == "tau"
    assert opened.evaluate("document.querySelectorAll('.word.known').length") == 1
    assert opened.evaluate(places) == before


def test_all_can_be_done_by_keys_alone(opened):
    reached = []
    for _ in range(25):
        opened.press("Tab")
        reached.append(
            opened.evaluate(
                "document.activeElement.id || document.activeElement.name || document.activeElement.className"
            )
        )
    for stop in (
        "source",
        "target",
        "examples",
        "swap",
        "copy-pharaoh",
        "problem",
        "threshold",
        "reset",
        "matrix",
    ):
        assert stop in reached
    assert any("word" in stop for stop in reached)
    opened.evaluate("document.querySelector('input[value=learned]').focus()")
    opened.press("ArrowRight")
    settled(opened)
    assert opened.evaluate("document.activeElement.value") == "bot"
    assert "weighs 1" in opened.evaluate("document.querySelector('#explanation').textContent")
    opened.evaluate("document.querySelector('.word').focus()")
    opened.press("ArrowRight")
    assert opened.evaluate("document.activeElement.textContent").startswith("bought")
    opened.wait_for("document.querySelector('.detail').textContent.startsWith('bought –')")


def test_the_result_is_told_in_words(opened):
    slide(opened, "threshold", "End")
    status = opened.evaluate(STATUS)
    assert status.startswith(
        "0 links. Without a counterpart: He, bought, a, used, car, . (source); He, purchased"
    )
    assert opened.evaluate("document.querySelector('#status').getAttribute('role')") == "status"
    unnamed = opened.send("Accessibility.getFullAXTree")["nodes"]
    controls = [
        node
        for node in unnamed
        if node.get("role", {}).get("value") in ("button", "slider", "radio", "textbox", "combobox")
    ]
    assert len(controls) > 15
    assert [node for node in controls if not node.get("name", {}).get("value")] == []
    heads = opened.evaluate("[...document.querySelectorAll('th')].map(head => head.scope)")
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
        for expression in (WORDS, LINKS, STATUS):
            assert other.evaluate(expression) == opened.evaluate(expression)
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
    opened.click("#copy-pharaoh")
    opened.wait_for("document.querySelector('#copied').textContent === 'Links copied.'")
    assert opened.evaluate("copied") == " ".join(f"{i}-{j}" for i, j, _ in answer["links"])
    opened.click("#copy-json")
    opened.wait_for("document.querySelector('#copied').textContent === 'JSON copied.'")
    assert json.loads(opened.evaluate("copied")) == answer
    # As on a machine elsewhere without https, where there is no clipboard to write to.
    opened.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed'))")
    opened.evaluate("addEventListener('copy', () => { window.copied = document.activeElement.value })")
    opened.click("#copy-link")
    opened.wait_for("document.querySelector('#copied').textContent === 'Link copied.'")
    assert opened.evaluate("copied === location.href")
    assert opened.evaluate("document.activeElement.id") == "copy-link"


def test_examples_are_put_in(opened):
    opened.evaluate(
        "Object.assign(document.querySelector('#examples'), {value: '1'})"
        ".dispatchEvent(new Event('change', {bubbles: true}))"
    )
    settled(opened)
    assert opened.evaluate(WORDS)[1] == ["Her", "grandfather", "died", "last", "winter", "."]


def test_it_fits_any_width_and_links_meet_their_words(opened):
    for width, lying in ((360, True), (768, False), (1400, False)):
        opened.resize(width, 740)
        choose(opened, "learned")
        choose(opened, "bot")
        assert opened.evaluate("document.documentElement.scrollWidth") == width
        assert opened.evaluate("document.querySelector('figure').classList.contains('lying')") is lying
        gaps = opened.evaluate(
            "(() => { const figure = document.querySelector('figure');"
            " const origin = figure.getBoundingClientRect();"
            " return [...figure.querySelectorAll('path')].flatMap(path => ['source', 'target'].map(side => {"
            "  const box = figure.words[side][path.dataset[side]].getBoundingClientRect();"
            "  const end = path.getPointAtLength(side === 'source' ? 0 : path.getTotalLength());"
            "  const x = end.x + origin.x, y = end.y + origin.y;"
            "  return Math.max(box.left - x, x - box.right, box.top - y, y - box.bottom); })) })()"
        )
        assert gaps
        assert max(gaps) < 0.5


def test_long_sentences_stand_in_columns_and_too_large_a_matrix_is_not_drawn(opened):
    opened.evaluate("document.querySelector('#source').value = 'word '.repeat(120)")
    opened.click("#source")
    opened.press(".")
    opened.evaluate("document.querySelector('#target').value = 'term '.repeat(120)")
    opened.click("#target")
    opened.press(".")
    settled(opened)
    assert opened.evaluate("document.querySelector('figure').classList.contains('lying')")
    assert "too many" in opened.evaluate("document.querySelector('#matrix').textContent")
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_hebrew_reads_from_the_right(opened):
    opened.evaluate("document.querySelector('#source').select()")
    opened.evaluate("document.querySelector('#source').focus()")
    opened.type("שלום לך חבר")
    settled(opened)
    places = opened.evaluate(
        "document.querySelector('figure').words.source.map(w => w.getBoundingClientRect().x)"
    )
    assert places == sorted(places, reverse=True)


def test_a_refusal_is_shown_and_gone_with_its_cause(page, server):
    page.open(f"{server.url}/")
    settled(page)
    page.evaluate("document.querySelector('#source').value = 'a '.repeat(300)")
    page.click("#source")
    page.press("b")
    page.wait_for("document.querySelector('#status.failed')")
    assert page.evaluate(STATUS).startswith("a sentence must have at most 256 words, got 30")
    page.evaluate("document.querySelector('#source').select()")
    page.type("short")
    page.wait_for("!document.querySelector('#status.failed')")


def test_words_stand_out_in_both_schemes(opened):
    choose(opened, "bot")
    slide(opened, "threshold", "Home")
    for scheme in ("light", "dark"):
        opened.emulate(prefers_color_scheme=scheme)
        colours = opened.evaluate(
            "[...document.querySelectorAll('#status, label, legend, td, th, p')].map(one => {"
            " let back = one;"
            " while (getComputedStyle(back).backgroundColor.endsWith(', 0)')) back = back.parentElement;"
            " const canvas = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});"
            " return [getComputedStyle(one).color, getComputedStyle(back).backgroundColor].map(colour => {"
            "  canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);"
            "  return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3); }); })"
        )
        assert len(colours) > 40
        for text, back in colours:
            darker, lighter = sorted(map(_luminance, (text, back)))
            assert (lighter + 0.05) / (darker + 0.05) >= 4.5, (text, back)


def _luminance(colour):
    linear = [(c / 255) / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_screenshots_for_the_documents_can_be_taken(browser, trained, tmp_path):
    take_page(browser, trained, tmp_path)
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert sorted(sizes) == ["serve-phone.png", "serve.png"]
    assert all(10_000 < size < 150_000 for size in sizes.values())


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
