"""The checks of axe-core on a page of the tests' browser."""

from functools import cache
from importlib import resources

from tests.browser import Page


@cache
def read_axe() -> str:
    return (resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")


def find_violations(page: Page) -> list[str]:
    """Return what axe-core finds on a page, in the light and in the dark theme."""
    page.evaluate(read_axe())
    found = []
    for scheme in ("light", "dark"):
        page.emulate(prefers_color_scheme=scheme)
        page.evaluate("document.getAnimations().forEach(one => one.finish())")
        problems = page.evaluate(
            "axe.run(document, {resultTypes: ['violations']}).then(({violations}) => violations.map(one =>"
            " `${one.id}: ${one.help}: ${one.nodes.map(node => node.html.slice(0, 200)).join(' ')}`))"
        )
        found += [f"{scheme}: {problem}" for problem in problems]
    return found
