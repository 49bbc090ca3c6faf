"""The screenshots of the documents, taken in a real browser: python -m tests.screenshots docs/figures

They show the report of examples/alignments.jsonl beside examples/gold.tsv, and the server's page with the
aligner that OTALIGN_MODEL names, or the package's own.
"""

import os
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode

from otalign.aligner import Aligner
from otalign.cli.aligner_options import AlignerOptions
from otalign.io import read
from otalign.render.report import report
from tests.browser import Browser, Page

EXAMPLES = Path(__file__).parent.parent / "examples"
REST = "document.getAnimations().forEach(one => one.finish())"
SENTENCES = {
    "source": "A woman in a red coat is selling fresh bread at the market.",
    "target": "At the market, a woman sells bread.",
}
HOVERED = '.word[aria-description^="– found"]'  # "figured", of the last pair


def take(browser: Browser, folder: Path) -> None:
    """Write the pictures into a folder."""
    alignments, golds = read(EXAMPLES / "alignments.jsonl", "jsonl"), read(EXAMPLES / "gold.tsv", "multimwa")
    with tempfile.TemporaryDirectory() as place:
        page = Path(place) / "report.html"
        page.write_text(report(alignments, golds, title="alignments.jsonl beside gold.tsv"), encoding="utf-8")
        with browser.page(960, 640) as wide:
            _open(wide, page, "light")
            wide.evaluate("document.querySelector('#sort').value = 'f1'")
            wide.evaluate(
                "document.querySelector('#sort').dispatchEvent(new Event('input', {bubbles: true}))"
            )
            wide.wait_for("document.querySelector('article .link')")
            wide.screenshot(folder / "report.png")
        with browser.page(960, 420) as dark:
            _open(dark, page, "dark")
            dark.evaluate("document.querySelector('article:last-child').scrollIntoView()")
            dark.wait_for(f"document.querySelector('{HOVERED}')")
            dark.hover(HOVERED)
            dark.wait_for("document.querySelector('figure.lit')")
            dark.evaluate(REST)
            dark.screenshot(folder / "report-dark.png")
        with browser.page(360, 740) as phone:
            _open(phone, page, "light")
            phone.evaluate("document.querySelector('article').scrollIntoView()")
            phone.screenshot(folder / "report-phone.png")


def take_page(browser: Browser, aligner: Aligner, folder: Path) -> None:
    """Write the pictures of the server's page into a folder."""
    from otalign.server.app import make_app
    from tests.server.local_server import run_server

    with run_server(make_app(aligner)) as server:
        for name, width, height, scheme, problem in (
            ("serve.png", 1200, 720, "light", "uot"),
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
    with Browser() as browser:
        take(browser, Path(sys.argv[1]))
        take_page(browser, AlignerOptions(model=os.environ.get("OTALIGN_MODEL")).load(), Path(sys.argv[1]))
