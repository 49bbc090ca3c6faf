"""The screenshots of the documents, taken in a real browser: python -m tests.screenshots docs/figures

They show the report of the sure and the possible links of examples/pairs.tsv beside examples/gold.tsv, the
differences between examples/draft.txt and examples/final.txt, and the server's page, all with the aligner
that OTALIGN_MODEL names, or the package's own.
"""

import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

from otalign.aligner import Aligner
from otalign.cli.aligner_options import AlignerOptions
from otalign.diff import difference
from otalign.io import read
from otalign.render.changes_page import changes_page
from otalign.render.report import report
from tests.browser import Browser, Page

EXAMPLES = Path(__file__).parent.parent / "examples"
REST = "document.getAnimations().forEach(one => one.finish())"
SENTENCES = {
    "source": "A woman in a red coat is selling fresh bread at the market.",
    "target": "At the market, a woman sells bread.",
}
BOTTOM = "document.querySelector('article:last-of-type').getBoundingClientRect().bottom"
HOVERED = 'article:last-of-type .word[aria-label*=" – "]'  # the first linked word of the last pair


def take_report(browser: Browser, aligner: Aligner, folder: Path) -> None:
    """Write the pictures of the report into a folder."""
    golds = read(EXAMPLES / "gold.tsv", "multimwa")
    systems = {
        links: list(
            replace(aligner, settings=aligner.settings.replace(links=links)).align_many(
                (gold.source, gold.target) for gold in golds
            )
        )
        for links in ("sure", "possible")
    }
    with tempfile.TemporaryDirectory() as place:
        page = Path(place) / "report.html"
        page.write_text(report(systems, golds, title="sure, possible beside gold.tsv"), encoding="utf-8")
        with browser.page(960, 960) as wide:
            _open(wide, page, "light")
            wide.wait_for("document.querySelector('article .link')")
            wide.screenshot(folder / "report.png")
        with browser.page(960, 420) as dark:
            _open(dark, page, "dark")
            dark.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
            dark.wait_for(f"Math.abs({BOTTOM} - innerHeight) < 99 && document.querySelector('{HOVERED}')")
            dark.hover(HOVERED)
            dark.wait_for("document.querySelector('figure.lit')")
            dark.evaluate(REST)
            dark.screenshot(folder / "report-dark.png")
        with browser.page(360, 740) as phone:
            _open(phone, page, "light")
            phone.evaluate("document.querySelector('article').scrollIntoView()")
            phone.screenshot(folder / "report-phone.png")


def take_difference(browser: Browser, aligner: Aligner, folder: Path) -> None:
    """Write the picture of the page of differences into a folder."""
    old, new = ((EXAMPLES / name).read_text(encoding="utf-8") for name in ("draft.txt", "final.txt"))
    with tempfile.TemporaryDirectory() as place, browser.page(960, 420) as page:
        html = Path(place) / "changes.html"
        html.write_text(
            changes_page(difference(old, new, aligner), "draft.txt → final.txt"), encoding="utf-8"
        )
        page.emulate(prefers_color_scheme="light")
        page.open(html)
        page.screenshot(folder / "diff.png")


def take_page(browser: Browser, aligner: Aligner, folder: Path) -> None:
    """Write the pictures of the server's page into a folder."""
    from otalign.server.app import make_app
    from tests.server.local_server import run_server

    with run_server(make_app(aligner)) as server:
        for name, width, height, scheme, problem in (
            ("serve.png", 1100, 720, "light", "uot"),
            ("serve-phone.png", 360, 740, "dark", "bot"),
        ):
            with browser.page(width, height) as page:
                page.emulate(prefers_color_scheme=scheme)
                page.open(f"{server.url}/#{urlencode(SENTENCES | {'problem': problem})}")
                page.wait_for("document.querySelector('.link')")
                page.evaluate(REST)
                page.screenshot(folder / name)


def _open(page: Page, place: Path, scheme: str) -> None:
    page.emulate(prefers_color_scheme=scheme)
    page.open(place)
    page.wait_for("document.querySelector('article .link')")


if __name__ == "__main__":
    figures = Path(sys.argv[1])
    shown = AlignerOptions(model=os.environ.get("OTALIGN_MODEL")).load()
    with Browser() as chromium:
        take_report(chromium, shown, figures)
        take_difference(chromium, shown, figures)
        take_page(chromium, shown, figures)
