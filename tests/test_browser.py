"""The browser of the tests reports what happens in a page, so that tests of pages are meaningful."""

import pytest

from tests.browser import Page, PageError

HTML = """<!doctype html><meta charset="utf-8"><title>t</title>
<style>#a:hover, input:focus { outline: 3px solid red } @media print { #a { display: none } }
:root { color-scheme: light dark } body { height: 3000px }</style>
<button id="a" onclick="this.textContent = 'done'">go</button> <input id="b">"""


@pytest.fixture
def opened(page: Page, tmp_path) -> Page:
    (tmp_path / "page.html").write_text(HTML)
    page.open(tmp_path / "page.html")
    return page


def test_keys_and_pointer_do_what_a_persons_do(opened):
    opened.press("Tab")
    assert opened.evaluate("document.activeElement.id") == "a"
    opened.press("Enter")
    assert opened.evaluate("document.querySelector('#a').textContent") == "done"
    opened.press("Tab")
    opened.press("x")
    opened.type("yz")
    opened.press("Backspace")
    assert opened.evaluate("document.querySelector('#b').value") == "xy"
    opened.press("Tab", "Shift")
    assert opened.evaluate("document.activeElement.id") == "a"
    opened.hover("#a")
    assert opened.evaluate("document.querySelector('#a').matches(':hover')")
    opened.click("#b")
    assert opened.evaluate("document.activeElement.id") == "b"
    assert not opened.errors


def test_sizes_and_media_are_as_requested(opened):
    opened.resize(360, 640)
    assert opened.evaluate("[innerWidth, innerHeight]") == [360, 640]
    opened.emulate(prefers_color_scheme="dark")
    assert opened.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    opened.emulate("print")
    assert opened.evaluate("getComputedStyle(document.querySelector('#a')).display") == "none"
    assert opened.printed().startswith(b"%PDF")


def test_errors_and_requests_are_collected(opened, tmp_path):
    opened.evaluate("console.error('one', 2); setTimeout(() => { throw new Error('three') }, 0)")
    opened.evaluate("new Promise(go => { const i = new Image(); i.onerror = go; i.src = 'none.png' })")
    assert opened.errors[:2] == ["one 2", opened.errors[1]]
    assert "three" in opened.errors[1]
    assert [request.rpartition("/")[2] for request in opened.requests] == ["page.html", "none.png"]


def test_what_a_script_throws_is_raised_and_promises_are_awaited(opened):
    assert opened.evaluate("Promise.resolve({a: [1, null]})") == {"a": [1, None]}
    opened.evaluate("setTimeout(() => { window.late = 1 }, 50)")
    opened.wait_for("window.late")
    opened.wait_for("document.querySelector('#a')")
    with pytest.raises(PageError, match="no such"):
        opened.evaluate("(() => { throw new Error('no such') })()")
    with pytest.raises(PageError, match="there is no #nowhere"):
        opened.hover("#nowhere")
    with pytest.raises(TimeoutError):
        opened.wait_for("false", seconds=0.1)
    with pytest.raises(PageError, match="ERR_FILE_NOT_FOUND"):
        opened.open("file:///nowhere")


def test_pages_are_separate_and_pictures_are_taken(browser, tmp_path):
    (tmp_path / "page.html").write_text(HTML)
    for name in ("one", "two"):
        with browser.page(200, 100) as page:
            page.open(tmp_path / "page.html")
            assert page.requests == [(tmp_path / "page.html").as_uri()]
            page.screenshot(tmp_path / f"{name}.png", whole=name == "two")
    one, two = ((tmp_path / f"{name}.png").read_bytes() for name in ("one", "two"))
    assert [int.from_bytes(png[20:24]) for png in (one, two)] == [100, 3016]


def test_the_shared_page_keeps_nothing_of_the_test_before(browser, tmp_path):
    (tmp_path / "page.html").write_text(HTML)
    kept = (
        "[innerWidth, sessionStorage.kept ?? null, matchMedia('(prefers-color-scheme: dark)').matches,"
        " document.querySelector('#a').matches(':hover'), history.length]"
    )
    for number, width in enumerate((360, 640)):
        page = browser.shared_page(width, 300)
        assert page.errors == page.requests == []
        page.open(tmp_path / "page.html")
        assert page.evaluate(kept) == [width, None, False, False, 2]  # the empty page and this one
        page.emulate(prefers_color_scheme="dark")
        page.hover("#a")
        page.evaluate(f"sessionStorage.kept = 1; location.hash = 'next'; console.error({number})")
        assert page.evaluate(kept) == [width, "1", True, True, 3]
        assert page.errors == [str(number)]
