"""What the tests of the server's page do there, and the expressions by which they read it."""

from tests.browser import Page

SOURCE, TARGET = "Last winter her grandfather passed away.", "Her grandfather died suddenly last winter."
LINKS = (
    "[...document.querySelectorAll('.view:first-child path.link')]"
    ".map(p => p.dataset.source + '-' + p.dataset.target)"
)
WORDS = (
    "[...document.querySelectorAll('.view:first-child .side')].map(side =>"
    " [...side.querySelectorAll('bdi')].map(word => word.textContent))"
)
SHOWN = (
    "[...document.querySelectorAll('.view:first-child .slider')].filter(one => !one.hidden)"
    ".map(one => one.querySelector('input').id)"
)
FRAMED = "document.querySelectorAll('.view:first-child td.linked').length"
STALE = "[...document.querySelectorAll('.result .actions button')].every(one => one.disabled)"


def settled(page: Page) -> None:
    """Wait until the answer to the last change is drawn."""
    page.wait_for("document.querySelector('figure') && !document.querySelector('.view[aria-busy=true]')")


def read(page: Page, selector: str) -> str:
    return page.evaluate(f"document.querySelector('{selector}').textContent")


def choose(page: Page, problem: str, view: str = "a.") -> None:
    page.click(f".view[data-view='{view}'] input[value={problem}]")
    settled(page)


def slide(page: Page, name: str, key: str) -> None:
    page.evaluate(f"document.getElementById('{name}').focus()")
    page.press(key)
    settled(page)


def type_into(page: Page, name: str, text: str) -> None:
    page.evaluate(f"document.getElementById('{name}').select()")
    page.evaluate(f"document.getElementById('{name}').focus()")
    page.type(text)


def value(page: Page, name: str) -> float:
    return float(
        page.evaluate(f"document.getElementById('{name}').parentElement.querySelector('output').textContent")
    )
