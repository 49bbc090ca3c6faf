"""The report of several systems in a real browser: order, verdicts, address, errors, histogram and export."""

import csv
import json
import random

import pytest

from otalign.alignment import Alignment, Link
from otalign.gold import Gold
from otalign.io import read
from otalign.metrics import count, score_pairs
from otalign.render.report import report
from otalign.render.verdicts import count_verdicts
from tests.browser import Page

WORDS = ("the", "a", "old", "new", "cat", "dog", "sat", "ran", "on", "under", "mat", "tree")
COUNT = "document.querySelector('#count').textContent"
PLACE = "document.querySelector('#place').textContent"
NUMBERS = "[...document.querySelectorAll('main article')].map(article => article.pair.number)"
FOUND = "[...new Set([...document.querySelectorAll('.word.found bdi')].map(word => word.textContent))].sort()"


def make_systems(pairs: int) -> tuple[dict[str, list[Alignment]], list[Gold]]:
    rng = random.Random(0)
    systems, golds = {"mine": [], "theirs": []}, []
    for _ in range(pairs):
        source, target = (tuple(rng.choices(WORDS, k=rng.randint(1, 5))) for _ in range(2))
        every = [(i, j) for i in range(len(source)) for j in range(len(target))]
        sure, possible = ({link for link in every if rng.random() < 0.25} for _ in range(2))
        golds.append(Gold(source, target, frozenset(sure), frozenset(possible - sure)))
        for name, share in (("mine", 0.8), ("theirs", 0.5)):
            kept = [link for link in every if rng.random() < (share if link in sure else 0.1)]
            systems[name].append(Alignment(source, target, tuple(Link(i, j, 0.5) for i, j in kept)))
    return systems, golds


SYSTEMS, GOLDS = make_systems(12)
ODD = Alignment(('say "a, b"', "\n"), ("b",), (Link(0, 0),))
SYSTEMS = {name: [*found, ODD] for name, found in SYSTEMS.items()}
GOLDS = [*GOLDS, Gold(ODD.source, ODD.target, frozenset({(0, 0)}))]


@pytest.fixture
def show(page: Page, tmp_path):
    """Return a function that opens a report at an address, and check afterwards that it had no errors."""
    place = tmp_path / "report.html"
    page.resize(1200, 9000)  # room for all pairs

    def show(address: str = "", level: str = "sure") -> Page:
        place.write_text(report(SYSTEMS, GOLDS, level), encoding="utf-8")  # type: ignore[arg-type]
        page.open("about:blank")
        page.open(place.as_uri() + address)
        page.wait_for(COUNT)
        return page

    yield show
    assert page.errors == []


def choose(page: Page, name: str, value: str) -> None:
    page.evaluate(
        f"Object.assign(document.querySelector('[name=\"{name}\"]'), {{value: '{value}'}})"
        ".dispatchEvent(new Event('input', {bubbles: true}))"
    )


def reload(page: Page) -> None:
    page.evaluate("window.isOld = true; location.reload()")
    page.wait_for(f"!window.isOld && document.readyState === 'complete' && {COUNT}")


def test_pairs_that_differ_most_come_first(show):
    differences = [
        len(one.pairs ^ two.pairs)
        + len({*one.source_nulls} ^ {*two.source_nulls})
        + len({*one.target_nulls} ^ {*two.target_nulls})
        for one, two in zip(*SYSTEMS.values(), strict=True)
    ]
    expected = sorted(range(1, 14), key=lambda number: (-differences[number - 1], number))
    page = show()
    assert page.evaluate(NUMBERS) == expected
    titles = page.evaluate(
        "[...document.querySelectorAll('article:first-child h3')].map(one => one.textContent)"
    )
    assert titles == ["gold", "mine", "theirs"]
    page.click("[name=only][value=differing]")
    differing = sum(number > 0 for number in differences)
    assert page.evaluate(COUNT) == f"{differing} of 13 pairs"


@pytest.mark.parametrize("level", ["sure", "possible"])
def test_right_wrong_and_missed_are_counted_as_by_the_metrics(show, level):
    page = show("#sort=number&descending=", level)
    said = page.evaluate(
        "[...document.querySelectorAll('article')].map(article => [...article.querySelectorAll('.drawing')]"
        ".slice(1).map(one => one.querySelector('.about').innerText))"
    )
    for number, alignments in enumerate(SYSTEMS.values()):
        counts = count(alignments, GOLDS, level)
        rows = zip(said, count_verdicts(counts), score_pairs(counts)["f1"], strict=True)
        for texts, tally, f1 in rows:
            assert ", ".join(f"{value} {verdict}" for verdict, value in tally.items()) in texts[number]
            assert f"F1 {100 * round(f1, 4):.1f}" in texts[number]


def test_sure_and_possible_links_are_drawn_apart(show):
    look = (
        "[...document.querySelectorAll('article')].map(article => [...article.querySelectorAll('figure')]"
        ".map(figure => figure.pair.links.map(([i, j, , , verdict]) => [i, j, verdict])))"
    )
    for level in ("sure", "possible"):
        page = show("#sort=number&descending=", level)
        for k, (gold, mine, _) in enumerate(page.evaluate(look)):
            named = {(i, j): verdict for i, j, verdict in gold}
            assert {link for link, verdict in named.items() if verdict == "sure"} == GOLDS[k].sure
            assert {link for link, verdict in named.items() if verdict == "possible"} == GOLDS[k].possible
            verdicts = {(i, j): verdict for i, j, verdict in mine}
            predicted = SYSTEMS["mine"][k].pairs
            possible = {link for link, verdict in verdicts.items() if verdict == "possible"}
            missed = {link for link, verdict in verdicts.items() if verdict == "missed-possible"}
            assert possible == GOLDS[k].possible & predicted
            assert missed == (GOLDS[k].possible - predicted if level == "possible" else set())
        dashes = page.evaluate(
            "['right', 'possible', 'missed-possible', 'missed'].map(verdict =>"
            " getComputedStyle(document.querySelector(`article .link.${verdict}`)).strokeDasharray"
            " + getComputedStyle(document.querySelector(`article .link.${verdict}`)).stroke)"
            if level == "possible"
            else "[1, 2]"
        )
        assert len(set(dashes)) == len(dashes)


def test_filters_are_in_the_address_and_are_kept(show):
    page = show()
    page.click("#words")
    page.type("c")
    page.type("at")
    page.click("[name=only][value=wrong]")
    choose(page, "sort", "length")
    assert page.evaluate("location.hash") == "#words=cat&only=wrong&sort=length"
    numbers, said = page.evaluate(NUMBERS), page.evaluate(COUNT)
    assert 0 < len(numbers) < 13
    reload(page)
    assert (page.evaluate(NUMBERS), page.evaluate(COUNT)) == (numbers, said)
    assert page.evaluate("document.querySelector('#words').value") == "cat"
    for address in ("#words=cat&only=wrong", "#words=cat", ""):  # what is typed into a field is one step
        page.evaluate("history.back()")
        page.wait_for(f"location.hash === '{address}'")
    page.wait_for(f"{COUNT} === '13 of 13 pairs'")
    page.evaluate("history.forward()")
    page.wait_for("document.querySelector('#words').value === 'cat'")
    page.click("button[type=reset]")
    page.wait_for(f"{COUNT} === '13 of 13 pairs'")
    assert page.evaluate("location.hash") == ""


def test_an_address_with_unknown_values_is_read_as_far_as_it_goes(show):
    page = show("#sort=none&system=nobody&words=&pair=99&f1-from=x&only=all&%E0")
    assert page.evaluate(COUNT) == "13 of 13 pairs"
    assert page.evaluate("document.querySelector('#sort').value") == "differs"
    assert page.evaluate("document.querySelector('[name=system]:checked').value") == "mine"


def test_filters_that_are_set_are_to_be_seen_on_a_narrow_screen(show):
    is_open = "document.querySelector('#filters').open"
    page = show()
    assert page.evaluate(is_open)
    page.resize(360, 700)
    assert not show("#words=cat").evaluate(is_open)
    assert show("#words=cat&only=nulls").evaluate(is_open)


def test_each_pair_has_a_link_that_leads_to_it(show):
    page = show("#sort=number&descending=")
    page.resize(1000, 500)
    page.evaluate("[...document.querySelectorAll('h2 a')].find(one => one.textContent === 'Pair 2').click()")
    assert page.evaluate("location.hash") == "#sort=number&descending=&pair=2"
    where = "document.activeElement.pair.number"
    page.wait_for(f"{where} === 2")
    for number in (9, 13):
        show(f"#pair={number}")
        page.wait_for(f"{where} === {number}")
        top = page.evaluate("document.activeElement.getBoundingClientRect().top")
        assert 0 < top < 500
    page = show("#words=no+such+word&pair=3")
    assert page.evaluate(PLACE) == "pair 3 is not among these"


def test_the_bar_hides_nothing_that_is_scrolled_to_on_a_narrow_screen(show):
    page = show("#sort=number&descending=")
    page.resize(360, 700)
    page.evaluate("document.querySelector('article:nth-of-type(3)').scrollIntoView()")
    edges = "[document.querySelector('#bar').getBoundingClientRect().bottom,"
    edges += " document.querySelector('article:nth-of-type(3) h2').getBoundingClientRect().top]"
    page.wait_for(f"scrollY && (([bar, title]) => bar <= title)({edges})")


def test_the_place_in_the_list_is_kept(show):
    page = show()
    page.resize(1000, 500)
    page.evaluate("scrollTo(0, 2000)")
    page.wait_for("history.state")
    where = "[...document.querySelectorAll('article')].map(one => one.getBoundingClientRect().top)"
    before = dict(zip(page.evaluate(NUMBERS), page.evaluate(where), strict=True))
    reload(page)
    after = dict(zip(page.evaluate(NUMBERS), page.evaluate(where), strict=True))
    number = page.evaluate("history.state.number")
    assert after[number] == pytest.approx(before[number], abs=2)


def test_found_words_are_marked_even_across_words(show):
    page = show("#words=CAT")
    assert page.evaluate(FOUND) == ["cat"]
    source = GOLDS[0].source
    phrase = " ".join(source[:2])[1:-1]
    page = show(f"#words={phrase.replace(' ', '+')}&sort=number&descending=")
    first = page.evaluate(
        "document.querySelector('figure').words.source.map(word => word.classList.contains('found'))"
    )
    assert first[:2] == [True, True]
    assert set(page.evaluate(FOUND)) <= {*source[:2], "a", "the"}


def test_bars_of_the_histogram_choose_the_pairs_that_they_count(show):
    page = show("#sort=number&descending=")
    bars = page.evaluate("[...document.querySelectorAll('.bar')].map(bar => bar.ariaLabel)")
    assert len(bars) == 20
    for number, alignments in enumerate(SYSTEMS.values()):
        shares = score_pairs(count(alignments, GOLDS, "sure"))["f1"]
        for bin in range(10):
            inside = [k for k, f1 in enumerate(shares, 1) if min(int(round(100 * f1, 2) // 10), 9) == bin]
            label = bars[10 * number + bin]
            assert label.startswith(f"F1 {10 * bin} to {10 * bin + 10}: {len(inside)} pair")
            if inside:
                page.evaluate(f"document.querySelectorAll('.bar')[{10 * number + bin}].click()")
                assert page.evaluate(NUMBERS) == inside
    page.evaluate("document.querySelector('.bar[aria-pressed=true]').click()")
    assert page.evaluate(COUNT) == "13 of 13 pairs"


@pytest.mark.parametrize("kind", ["wrong", "missed"])
def test_only_some_kinds_of_items_are_drawn_and_only_pairs_that_have_them(show, kind):
    page = show("#sort=number&descending=")
    tallies = count_verdicts(count(SYSTEMS["mine"], GOLDS, "sure"))
    page.click(f"[name=only][value={kind}]")
    assert page.evaluate(NUMBERS) == [k for k, tally in enumerate(tallies, 1) if tally[kind]]
    drawn = page.evaluate(
        "[...document.querySelectorAll('figure:not(.gold figure)')].map(figure => [...figure.pair.links,"
        " ...figure.pair.sourceNulls, ...figure.pair.targetNulls].map(item => item.at(-1))).flat()"
    )
    assert set(drawn) <= {kind, *(["possible"] if kind == "wrong" else [])}
    page.click("[name=only][value=nulls]")
    assert page.evaluate("document.querySelectorAll('article .link').length") == 0
    marked = page.evaluate("document.querySelectorAll('.drawing:not(.gold) .word.null').length")
    assert marked == page.evaluate(f"document.querySelectorAll('.drawing:not(.gold) .word.{kind}').length")


def test_keys_go_to_every_error_of_the_chosen_system_and_back(show):
    page = show("#sort=number&descending=&system=theirs")
    tallies = count_verdicts(count(SYSTEMS["theirs"], GOLDS, "sure"))
    errors = [
        f"error {k} of {total} in pair {number}"
        for number, tally in enumerate(tallies, 1)
        for total in [tally["wrong"] + tally["missed"]]
        for k in range(1, total + 1)
    ]
    for expected in errors:
        page.press("n")
        assert page.evaluate(PLACE) == expected
    owner = "document.activeElement.closest('section').name"
    assert page.evaluate(owner) == "theirs"
    page.press("n")
    assert page.evaluate(PLACE) == "no error after this one"
    for expected in reversed(errors[:-1]):
        page.press("p")
        assert page.evaluate(PLACE) == expected
    page.press("p")
    assert page.evaluate(PLACE) == "no error before this one"
    page.click("[data-step='1']")
    assert page.evaluate(PLACE) == errors[1]
    page.press("/")
    page.press("n")  # a letter of the search
    assert page.evaluate("document.querySelector('#words').value") == "n"


def test_the_chosen_pairs_are_saved(show, tmp_path):
    page = show("#sort=number&descending=&words=a")
    page.send("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    numbers = page.evaluate(NUMBERS)
    for format in ("jsonl", "csv"):
        page.click(f"[data-save={format}]")
    for _ in range(100):
        if (tmp_path / "pairs.csv").exists() and (tmp_path / "pairs.jsonl").exists():
            break
        page.evaluate("new Promise(done => setTimeout(done, 50))")
    expected = [(number, name) for number in numbers for name in SYSTEMS]
    lines = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text("utf-8").splitlines()]
    assert [(line["pair"], line["system"]) for line in lines] == expected
    saved = list(read(tmp_path / "pairs.jsonl", "jsonl"))
    assert saved == [SYSTEMS[name][number - 1] for number, name in expected]
    with (tmp_path / "pairs.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(int(row["pair"]), row["system"]) for row in rows] == expected
    for row, line, (number, name) in zip(rows, lines, expected, strict=True):
        alignment, gold = SYSTEMS[name][number - 1], GOLDS[number - 1]
        assert row["links"] == alignment.pharaoh()
        assert row["source"] == " ".join(alignment.source)
        assert line["gold"] == {key: gold.to_dict()[key] for key in ("sure", "possible")}
        assert [float(row[key]) for key in ("f1", "wrong")] == [line["f1"], line["wrong"]]
