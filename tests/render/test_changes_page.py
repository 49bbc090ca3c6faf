"""The page of a difference in a real browser: steps, keys, filter, both views, sizes and printing."""

import re

import pytest

from otalign.diff import difference
from otalign.render.changes_page import changes_page
from tests.browser import Page
from tests.diff.toy_aligner import NEW, OLD, make_toy_aligner

CURRENT = "document.querySelector('main .current')?.id"
LISTED = "[...document.querySelectorAll('#list li:not([hidden])')].map(item => item.textContent)"
POSITION = "document.querySelector('#position').textContent"


@pytest.fixture(scope="module")
def text() -> str:
    """A page with each kind of change, and many unchanged sentences."""
    unchanged = "\n\n".join(f"Line {k} is here." for k in range(9))
    old, new = OLD + " It snowed for 3 days.", NEW + " It never snowed for 4 days."
    return changes_page(
        difference(f"{old}\n\n{unchanged}", f"{new}\n\n{unchanged}", make_toy_aligner()), "Texts"
    )


@pytest.fixture
def opened(page: Page, tmp_path, text) -> Page:
    """Open a page, and check afterwards that it had no errors and fetched nothing."""
    place = tmp_path / "changes.html"
    place.write_text(text, encoding="utf-8")
    page.open(place)
    yield page
    assert page.errors == []
    assert page.requests == [place.as_uri()]


def choose(page: Page, kind: str) -> None:
    page.evaluate(
        f"Object.assign(document.querySelector('#filter'), {{value: '{kind}'}})"
        ".dispatchEvent(new Event('change'))"
    )


def test_keys_and_buttons_go_from_change_to_change(opened):
    changes = opened.evaluate(LISTED)
    assert opened.evaluate(POSITION) == f"{len(changes)} changes"
    opened.press("n")
    first = opened.evaluate(CURRENT)
    assert opened.evaluate(POSITION) == f"1 of {len(changes)} changes: {changes[0]}"
    opened.click("#next")
    assert opened.evaluate(CURRENT) != first
    opened.press("p")
    assert opened.evaluate(CURRENT) == first
    assert opened.evaluate("document.querySelector('#list [aria-current]').hash") == f"#{first}"
    opened.press("p")  # before the first is the last
    assert opened.evaluate(POSITION).startswith(f"{len(changes)} of ")
    assert opened.evaluate("document.querySelectorAll('main .current').length") == 1
    assert opened.evaluate("location.hash") == f"#{opened.evaluate(CURRENT)}"


def test_a_link_of_the_list_leads_to_its_change(opened):
    opened.click("#list summary")
    opened.click("#list li:nth-child(4) a")
    assert opened.evaluate("'#' + document.querySelector('main .current').id") == opened.evaluate(
        "document.querySelector('#list li:nth-child(4) a').hash"
    )
    address = opened.evaluate("location.href")
    opened.open("about:blank")
    opened.open(address)
    assert opened.evaluate(CURRENT) == address.partition("#")[2]
    opened.requests[:] = opened.requests[:1]


def test_the_list_says_how_many_more_edits_a_sentence_has(opened):
    (listed,) = [item for item in opened.evaluate(LISTED) if "number" in item and "negation" in item]
    assert re.fullmatch(r"edited, number, negation .+, and \d more", listed)


def test_a_kind_can_be_chosen(opened):
    for kind, count in opened.evaluate(
        "[...document.querySelectorAll('#filter option')]"
        ".map(option => [option.value, Number(option.textContent.match(/[0-9]+/)[0])])"
    ):
        choose(opened, kind)
        listed = opened.evaluate(LISTED)
        assert len(listed) == count
        assert all(kind in item for item in listed)
    choose(opened, "new")
    shown = "[...document.querySelectorAll('main del')].filter(part => part.checkVisibility()).length"
    assert opened.evaluate(shown) == 0
    assert "Bookings open in January." in opened.evaluate("document.querySelector('main').innerText")
    opened.press("n")
    assert opened.evaluate(POSITION).startswith("1 of 2 changes: new")


def test_both_versions_are_read_side_by_side(opened):
    opened.click("[value=columns]")
    for column, text, other in ((1, OLD, "ins"), (2, NEW, "del")):
        cells = f"[...document.querySelectorAll('main .row:not(.titles) > :nth-child({column})')]"
        assert opened.evaluate(f"{cells}.flatMap(cell => [...cell.querySelectorAll('{other}')]).length") == 0
        read = opened.evaluate(
            f"{cells}.map(cell => {{ cell = cell.cloneNode(true);"
            " cell.querySelectorAll('small').forEach(note => note.remove());"
            " return cell.textContent; })"
        )
        assert not any(re.search(r"\s[.,;]", one) for one in read)
        read = ["".join(one.split()) for one in read]
        last = text.split("\n\n")[-1].split(". ")[0]
        assert any(sentence.startswith("".join(last.split())) for sentence in read)
    ids = opened.evaluate("[...document.querySelectorAll('[id]')].map(element => element.id)")
    assert len(ids) == len(set(ids))
    opened.press("n")
    assert opened.evaluate(CURRENT)
    opened.click("[value=inline]")
    assert opened.evaluate("document.querySelectorAll('.row').length") == 0
    assert opened.evaluate(CURRENT)


def test_side_by_side_each_version_keeps_its_spaces(page, tmp_path):
    old = "The crew will help. Please keep the ticket.\n\nWe met on Monday – early.\n\nIt was (eight) days."
    new = "The crew will help; please keep the ticket.\n\nWe met on Monday, early.\n\nIt was (nine) days."
    (tmp_path / "changes.html").write_text(changes_page(difference(old, new, make_toy_aligner()), "Texts"))
    page.open(tmp_path / "changes.html")
    page.evaluate("document.querySelectorAll('small').forEach(note => note.remove())")
    page.click("[value=columns]")
    for column, text in ((1, old), (2, new)):
        cells = f"[...document.querySelectorAll('main .row:not(.titles) > :nth-child({column})')]"
        assert " ".join(page.evaluate(f"{cells}.map(cell => cell.textContent.trim())")) == " ".join(
            text.split()
        )


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_is_wider_than_the_window(opened, width):
    opened.resize(width, 800)
    for view in ("inline", "columns"):
        opened.evaluate(f"document.querySelector('[value={view}]').click()")
        assert opened.evaluate("document.documentElement.scrollWidth") == width


def test_no_name_of_the_legend_is_broken_on_a_phone(opened):
    opened.resize(360, 800)
    heights = "[...document.querySelectorAll('.legend > *')].map(one => one.getBoundingClientRect().height)"
    assert max(opened.evaluate(heights)) < 30


def test_every_control_has_a_name_and_the_page_has_its_landmarks(opened):
    opened.click("#list summary")
    nodes = opened.send("Accessibility.getFullAXTree")["nodes"]
    roles = [
        (node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if "role" in node
    ]
    controls = {"button", "radio", "combobox", "link", "navigation", "region", "group"}
    assert all(name for role, name in roles if role in controls - {"group"})
    assert {"banner", "main", "navigation"} <= {role for role, _ in roles}
    assert ("button", "Next (n) →") in roles
    assert ("heading", "Texts") in roles


def test_on_paper_there_is_the_text_and_nothing_else(opened):
    opened.emulate("print", prefers_color_scheme="dark")
    assert not opened.evaluate("document.querySelector('#tools').checkVisibility()")
    assert opened.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    opened.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert opened.evaluate("document.querySelectorAll('main details:not([open])').length") == 0
    opened.evaluate("dispatchEvent(new Event('afterprint'))")
    assert opened.evaluate("document.querySelectorAll('main details:not([open])').length") == 1
    assert opened.printed().startswith(b"%PDF")
