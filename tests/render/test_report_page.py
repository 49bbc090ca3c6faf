"""The report in a real browser: highlighting, keys, filters, sizes, dark mode and printing."""

from itertools import pairwise

import pytest

from otalign import Aligner
from otalign.alignment import Alignment, Link
from otalign.gold import Gold
from otalign.render.report import report
from tests.browser import Page
from tests.screenshots import take_difference, take_report

ODD = ("<b>bold</b>", "</script><script>alert(1)</script>", '"&quot;', "a" * 300, "", "\n")


def pair(source: str, target: str, sure: set[tuple[int, int]], *links: Link) -> tuple[Alignment, Gold]:
    words = tuple(source.split()), tuple(target.split())
    return Alignment(*words, links), Gold(*words, frozenset(sure))


PAIRS = [
    pair(
        "My old neighbour passed away last year",
        "Last year my neighbour died",
        {(0, 2), (2, 3), (3, 4), (4, 4), (5, 0), (6, 1)},
        *(Link(0, 2), Link(2, 3, 0.5), Link(3, 4, 0.9), Link(5, 0), Link(6, 1), Link(1, 3, 0.2)),
    ),
    pair("It rains", "It is raining", {(0, 0), (1, 2)}, Link(0, 0), Link(1, 2)),
    pair("Good morning", "Nothing alike here", set(), Link(0, 0)),
    pair("", "", set()),
    (Alignment(ODD, ODD, tuple(Link(k, k) for k in range(6))), Gold(ODD, ODD, {(k, k) for k in range(6)})),
    pair("שלום לך חבר", "שלום חבר", {(0, 0), (2, 1)}, Link(0, 0), Link(2, 1)),
    pair(
        " ".join(f"w{k}" for k in range(90)),
        " ".join(f"w{k}" for k in range(90)),
        {(k, k) for k in range(90)},
    ),
]
FIRST = "article:first-of-type"
NUMBERS = "[...document.querySelectorAll('main article')].map(article => article.pair.number)"
COUNT = "document.querySelector('#count').textContent"
LIT = "[...document.querySelectorAll('.word.on bdi')].map(word => word.textContent)"


@pytest.fixture
def opened(page: Page, tmp_path) -> Page:
    """Open a report with gold, and check afterwards that the page had no errors and fetched nothing."""
    alignments, golds = zip(*PAIRS, strict=True)
    place = tmp_path / "report.html"
    place.write_text(report(alignments, golds, title="Seven pairs"), encoding="utf-8")
    page.resize(1000, 2500)  # room for all pairs, which are drawn only near the window
    page.open(place)
    page.wait_for("document.querySelector('article .link')")
    yield page
    assert page.errors == []
    assert page.requests == [place.as_uri()]


def frame(page: Page) -> None:
    """Wait until what was done is drawn."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def fill_in(page: Page, field: str, text: str) -> None:
    page.click(f"#{field}")
    page.evaluate(f"document.querySelector('#{field}').select()")
    page.type(text)
    frame(page)


def choose(page: Page, order: str) -> None:
    """Choose an entry of a menu, which is not part of the page and cannot be clicked."""
    page.evaluate(
        f"Object.assign(document.querySelector('#sort'), {{value: '{order}'}})"
        ".dispatchEvent(new Event('input', {bubbles: true}))"
    )


def test_hovering_over_a_word_lights_its_partners_up(opened):
    opened.hover('.word[aria-label="passed – died (0.90, right)"]')
    opened.wait_for("document.querySelector('figure.lit')")
    assert sorted(opened.evaluate(LIT)) == ["died", "passed"]
    lit = "[...document.querySelectorAll('.stroke.on')].map(one => [one.dataset.source, one.dataset.target])"
    assert opened.evaluate(lit) == [["3", "4"]]
    detail = opened.evaluate(f"document.querySelector('{FIRST} .detail').textContent")
    assert detail == "passed – died (0.90, right)"
    opened.hover("h1")
    opened.wait_for("!document.querySelector('figure.lit')")
    assert opened.evaluate(LIT) == []
    assert opened.evaluate(f"document.querySelector('{FIRST} .detail').textContent") == ""


def test_the_detail_of_a_word_has_type_and_weight_of_its_phrase(opened):
    label = "neighbour – neighbour (0.50, right); phrase n-1, 0.35"
    opened.hover(f'.word.source[aria-label="{label}"]')
    opened.wait_for(f"document.querySelector('{FIRST} .detail').textContent")
    assert opened.evaluate(f"document.querySelector('{FIRST} .detail').textContent") == label


def test_keys_walk_along_the_words_and_light_them_up(opened):
    opened.evaluate(f"document.querySelector('{FIRST} .word[tabindex=\"0\"]').focus()")
    focused = "document.activeElement.textContent"
    assert opened.evaluate(focused) == "My"
    opened.press("ArrowDown")
    assert opened.evaluate(focused) == "my"
    frame(opened)
    assert sorted(opened.evaluate(LIT)) == ["My", "my"]
    opened.press("ArrowRight")
    assert opened.evaluate(focused) == "neighbour"
    opened.press("ArrowUp")
    assert opened.evaluate(focused) == "neighbour"
    opened.press("ArrowLeft")
    assert opened.evaluate(focused) == "old∅○"
    opened.press("End")
    assert opened.evaluate(focused) == "year"
    opened.press("Home")
    opened.press("Tab")  # one stop for each pair, after the link to it
    opened.press("Tab")
    assert opened.evaluate(focused) == "It"
    opened.press("Tab", "Shift")
    opened.press("Tab", "Shift")
    assert opened.evaluate(focused) == "My"
    opened.press("Escape")
    frame(opened)
    assert opened.evaluate(LIT) == []
    opened.press("/")
    assert opened.evaluate("document.activeElement.id") == "words"


def test_right_wrong_and_missed_differ_in_more_than_colour(opened):
    looks = opened.evaluate(
        f"[...document.querySelectorAll('{FIRST} .link')].map(link =>"
        " [link.getAttribute('class').split(' ')[1], getComputedStyle(link).strokeDasharray])"
    )
    dashes = dict(looks)
    assert set(dashes) == {"right", "wrong", "missed"}
    assert len(set(dashes.values())) == 3
    marks = opened.evaluate(f"[...document.querySelectorAll('{FIRST} .mark')].map(mark => mark.textContent)")
    assert marks == ["✗", "○"]
    signs = opened.evaluate("[...document.querySelectorAll('.sign')].map(sign => sign.textContent)")
    assert {"∅", "∅✗", "∅○"} <= set(signs)


def test_heavier_links_are_stronger(opened):
    opacity = opened.evaluate(
        f"Object.fromEntries([...document.querySelectorAll('{FIRST} path.right')]"
        ".map(path => [path.dataset.source, path.getAttribute('stroke-opacity')]))"
    )
    assert float(opacity["2"]) < float(opacity["3"]) < float(opacity["0"]) == 1


def test_a_link_begins_at_its_source_word_or_its_sign_and_ends_at_its_target_word(opened):
    for width in (1000, 400):
        opened.resize(width, 4000)
        frame(opened)
        gaps = opened.evaluate(
            "[...document.querySelectorAll('figure')].flatMap(figure => {"
            " const origin = figure.getBoundingClientRect();"
            " return [...figure.querySelectorAll('.link:not(.far)')].filter(path =>"
            "  !/ /.test(path.dataset.source + path.dataset.target)).flatMap(path =>"
            "  ['source', 'target'].map(side => {"
            "   const word = figure.words[side][path.dataset[side]];"
            "   const box = word.getBoundingClientRect();"
            "   const sign = word.classList.contains('null') ? 16 : 0;"
            "   const end = path.getPointAtLength(side === 'source' ? 0 : path.getTotalLength());"
            "   return Math.hypot(end.x + origin.x - box.x - box.width / 2,"
            "    end.y + origin.y - (side === 'source' ? box.bottom + sign : box.top - sign)); })) })"
        )
        assert len(gaps) >= 20
        assert max(gaps) < 0.5


def test_filters_choose_pairs_and_can_be_taken_back(opened):
    assert opened.evaluate(NUMBERS) == [1, 2, 3, 4, 5, 6, 7]
    fill_in(opened, "words", "RAIN")
    assert opened.evaluate(NUMBERS) == [2]
    assert opened.evaluate(COUNT) == "1 of 7 pairs"
    opened.click("button[type=reset]")
    opened.wait_for(f"{COUNT} === '7 of 7 pairs'")
    fill_in(opened, "f1-to", "99")
    assert opened.evaluate(NUMBERS) == [1, 3, 7]
    fill_in(opened, "nulls-from", "50")
    assert opened.evaluate(NUMBERS) == [3]
    opened.click("button[type=reset]")
    opened.wait_for(f"{COUNT} === '7 of 7 pairs'")
    fill_in(opened, "length-from", "5")
    fill_in(opened, "length-to", "12")
    assert opened.evaluate(NUMBERS) == [1, 2, 3, 5, 6]
    fill_in(opened, "words", "<b>bold</b>")
    assert opened.evaluate(NUMBERS) == [5]


def test_pairs_are_sorted_both_ways_and_at_first_as_is_of_most_use(opened):
    values = {
        "f1": "article.pair.f1[0]",
        "nulls": "article.pair.nullRate[0]",
        "length": "article.pair.length",
        "number": "article.pair.number",
    }
    for order, value in values.items():
        script = f"[...document.querySelectorAll('main article')].map(article => {value})"
        choose(opened, order)
        found, is_descending = opened.evaluate(script), order in ("nulls", "length")
        assert found == sorted(found, reverse=is_descending)
        opened.click("#descending")
        frame(opened)
        found = opened.evaluate(script)
        assert found == sorted(found, reverse=not is_descending)


def test_words_are_text_whatever_they_hold(opened):
    fill_in(opened, "words", "bold")
    opened.wait_for("document.querySelector('article .word')")
    texts = opened.evaluate("[...document.querySelectorAll('.word bdi')].map(word => word.textContent)")
    assert sorted(texts) == sorted(2 * [*ODD[:4], "◌", "␊"])
    assert opened.evaluate("document.querySelectorAll('main :is(b, script)').length") == 0


def test_hebrew_reads_from_the_right(opened):
    fill_in(opened, "words", "שלום")
    opened.wait_for("document.querySelector('article .word')")
    places = opened.evaluate(
        "document.querySelector('figure').words.source.map(word => word.getBoundingClientRect().x)"
    )
    assert places == sorted(places, reverse=True)
    opened.evaluate("document.querySelector('.word[tabindex=\"0\"]').focus()")
    opened.press("ArrowLeft")
    assert opened.evaluate("document.activeElement.place") == 1


def test_nothing_scrolls_sideways(opened):
    for width in (360, 768, 1600):
        opened.resize(width, 800)
        for y in (0, 800, 100_000):
            opened.evaluate(f"scrollTo(0, {y})")
            frame(opened)
            assert opened.evaluate("document.documentElement.scrollWidth") == width


def test_dark_is_dark_and_words_stand_out_in_both(opened):
    colours = (
        "[document.body, document.querySelector('.word:not(.null)'), document.querySelector('.word.null'),"
        " document.querySelector('.about span')].map((element, k) =>"
        " getComputedStyle(element)[k ? 'color' : 'backgroundColor'].match(/\\d+/g).map(Number))"
    )
    backs = {}
    for scheme in ("light", "dark"):
        opened.emulate(prefers_color_scheme=scheme)
        back, *texts = opened.evaluate(colours)
        backs[scheme] = _luminance(back)
        for text in texts:
            darker, lighter = sorted((_luminance(back), _luminance(text)))
            assert (lighter + 0.05) / (darker + 0.05) >= 4.5
    assert backs["dark"] < 0.05 < 0.9 < backs["light"]


def _luminance(colour):
    linear = [
        (part / 255) / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in colour
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_paper_has_all_pairs_and_no_controls(opened):
    opened.resize(1000, 300)
    frame(opened)
    opened.evaluate(
        "addEventListener('beforeprint', () => { window.boxes = [...document.querySelectorAll('article')]"
        ".map(one => one.getBoundingClientRect().toJSON()) })"
    )
    assert opened.printed().startswith(b"%PDF")
    boxes = opened.evaluate("window.boxes")
    assert len(boxes) == 7
    assert all(above["bottom"] <= below["top"] + 1 for above, below in pairwise(boxes))
    opened.emulate("print", prefers_color_scheme="dark")
    controls = "[...document.querySelectorAll('#controls :is(input, select, summary), #bar button')]"
    assert not opened.evaluate(f"{controls}.some(one => one.checkVisibility())")
    assert opened.evaluate("document.querySelector('#systems table').checkVisibility()")  # with the scores
    assert opened.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_without_gold_nothing_is_shown_of_it(page, tmp_path):
    (tmp_path / "report.html").write_text(report(alignment for alignment, _ in PAIRS), encoding="utf-8")
    page.open(tmp_path / "report.html")
    page.wait_for("document.querySelector('article .link')")
    text = page.evaluate("document.body.innerText")
    assert not {"F1", "gold", "wrong", "missed", "error"} & set(text.split())
    assert page.evaluate("[...document.querySelector('#sort').options].map(option => option.value)") == [
        "number",
        "nulls",
        "length",
    ]
    page.press("n")
    assert page.errors == []


def test_far_pairs_are_not_drawn_and_nothing_moves_by_itself(browser, tmp_path):
    (tmp_path / "report.html").write_text(report([PAIRS[k % 6][0] for k in range(1_000)]), encoding="utf-8")
    observe = (
        "window.shift = 0; new PerformanceObserver(list => list.getEntries().forEach("
        "entry => { window.shift += entry.value })).observe({type: 'layout-shift', buffered: true})"
    )
    with browser.page() as page:
        page.send("Page.addScriptToEvaluateOnNewDocument", source=observe)
        page.open(tmp_path / "report.html")
        page.wait_for("document.querySelector('article .link')")
        # Down and up by steps, then to places where nothing has been drawn yet, and up from there.
        jumps = (300, 900, 1800, 900, 90_000, 89_500, 88_500, 140_000, 139_400)
        for y in (*jumps, "document.documentElement.scrollHeight"):
            page.evaluate(f"scrollTo(0, {y})")
            frame(page)
            boxes, (start, end) = page.evaluate(
                "[[...document.querySelectorAll('article')], [document.querySelector('#pairs')]].map(some =>"
                " some.map(one => one.getBoundingClientRect()).map(({top, bottom}) => [top, bottom]))"
                ".map((some, k) => k ? some[0] : some)"
            )
            assert len(boxes) < 40
            assert all(abs(above[1] - below[0]) < 1 for above, below in pairwise(boxes))
            assert boxes[0][0] <= max(start, 0)
            assert boxes[-1][1] >= min(end, 800) - 1
        assert max(page.evaluate(NUMBERS)) == 1_000
        assert page.evaluate("window.shift") < 0.1


def test_screenshots_for_the_documents_can_be_taken(browser, tmp_path):
    aligner = Aligner.load()
    take_report(browser, aligner, tmp_path)
    take_difference(browser, aligner, tmp_path)
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert sorted(sizes) == ["diff.png", "report-dark.png", "report-phone.png", "report.png"]
    assert all(10_000 < size < 200_000 for size in sizes.values())
