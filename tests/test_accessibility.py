"""axe-core finds nothing on any page, in both themes."""

from otalign import Alignment, Gold, Link
from otalign.diff import difference
from otalign.render.changes_page import changes_page
from otalign.render.report import report
from tests.accessibility import find_violations
from tests.browser import Page
from tests.diff.toy_aligner import NEW, OLD, make_toy_aligner


def test_the_checks_find_what_is_wrong(page: Page, tmp_path):
    (tmp_path / "page.html").write_text(
        "<!doctype html><title>t</title><input><p style='color:#bbb'>pale</p>"
    )
    page.open(tmp_path / "page.html")
    found = "\n".join(find_violations(page))
    for rule in ("light: color-contrast", "light: label", "dark: html-has-lang"):
        assert rule in found


def test_the_report_passes(page: Page, tmp_path):
    words, other = ("He", "passed", "away", "."), ("He", "died", "suddenly", ".")
    links = (Link(0, 0, 0.1), Link(1, 1, 0.5), Link(2, 1, 0.9), Link(3, 2))
    gold = Gold(words, other, frozenset({(0, 0), (1, 1), (2, 1), (3, 3)}))
    (tmp_path / "report.html").write_text(report([Alignment(words, other, links)] * 2, [gold] * 2))
    page.open(tmp_path / "report.html")
    page.wait_for("document.querySelector('article .link')")
    assert find_violations(page) == []


def test_the_page_of_a_difference_passes(page: Page, tmp_path):
    found = difference(OLD, NEW, make_toy_aligner())
    (tmp_path / "diff.html").write_text(changes_page(found, "old → new"), encoding="utf-8")
    page.open(tmp_path / "diff.html")
    assert find_violations(page) == []
