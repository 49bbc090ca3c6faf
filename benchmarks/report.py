"""Measure the report in headless Chromium with software rendering: opening, scrolling, layout shift.

    python -m benchmarks.report                    # 5,000 random pairs, three systems beside gold
    python -m benchmarks.report report.html        # a page that otalign show --html wrote

Opening is the time from the navigation to the first paint, in which pairs are drawn. Frames are counted
while the wheel scrolls the page, at most at 3,000 pixels a second. The layout shift is summed over all of
this and jumps to places that were not drawn before; unlike the browser's own score, it includes shifts after
input.
"""

import random
import sys
import tempfile
import time
from pathlib import Path

from otalign.alignment import Alignment, Link
from otalign.gold import Gold
from otalign.render.report import report
from tests.browser import Browser, Page

PAIRS = 5_000
SYSTEMS = ("first", "second", "third")
SPEED = 3_000  # pixels a second
DISTANCE = 30_000
SYLLABLES = ("ka", "ro", "mi", "ten", "sul", "va", "ne", "di")

OBSERVE = """
window.shift = 0;
new PerformanceObserver((list) => list.getEntries().forEach((entry) => { window.shift += entry.value }))
  .observe({ type: "layout-shift", buffered: true });
"""
COUNT_FRAMES = """
window.times = [];
(function note(now) {
  window.times.push(now);
  window.noting = requestAnimationFrame(note);
})(performance.now());
"""
OPENED = """performance.getEntriesByName("first-contentful-paint")[0]?.startTime"""


def make_page(pairs: int = PAIRS, seed: int = 0) -> str:
    """Return a report of random pairs: about 20 words a side, three systems, sure and possible gold links."""
    rng = random.Random(seed)
    golds, systems = [], {name: [] for name in SYSTEMS}
    for _ in range(pairs):
        source, target = (_make_words(rng) for _ in range(2))
        links = {(min(k + rng.choice((0, 0, 1)), len(source) - 1), k) for k in range(len(target))}
        possible = {link for link in links if rng.random() < 0.15}
        golds.append(Gold(source, target, frozenset(links - possible), frozenset(possible)))
        for found in systems.values():
            kept = {link for link in links if rng.random() < 0.85}
            kept.add((rng.randrange(len(source)), rng.randrange(len(target))))
            weighted = tuple(Link(i, j, round(rng.random(), 4)) for i, j in kept)
            found.append(Alignment(source, target, weighted))
    return report(systems, golds, title=f"{pairs:,} random pairs")


def _make_words(rng: random.Random) -> tuple[str, ...]:
    return tuple(
        "".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(max(round(rng.gauss(20, 8)), 2))
    )


def measure(page: Page, place: Path) -> dict[str, float]:
    """Open a report and scroll it.

    Args:
        page: Page of the browser.
        place: The file.

    Returns:
        The seconds to open it, the frames a second, the longest frame in milliseconds, and the layout shift.
    """
    page.send("Page.addScriptToEvaluateOnNewDocument", source=OBSERVE)
    page.open(place)
    page.wait_for(OPENED)
    opened = page.evaluate(OPENED) / 1000
    page.evaluate(COUNT_FRAMES)
    for distance in (DISTANCE, -DISTANCE // 2):
        _scroll(page, distance)
    page.evaluate("cancelAnimationFrame(window.noting)")
    frames = page.evaluate("window.times.slice(1).map((now, k) => now - window.times[k])")
    for share in (0.5, 0.9, 0.2):
        page.evaluate(f"scrollTo(0, {share} * document.documentElement.scrollHeight)")
        _scroll(page, -2_000)
    page.evaluate("new Promise((done) => setTimeout(done, 300))")
    return {
        "opened in s": opened,
        "frames a second": 1000 * len(frames) / sum(frames),
        "longest frame in ms": max(frames),
        "layout shift": page.evaluate("window.shift"),
    }


def _scroll(page: Page, distance: int) -> None:
    """Turn the wheel in steps of a frame, and wait until the page has come to rest."""
    step, seconds = 50, 50 / SPEED
    start = time.monotonic()
    for number in range(abs(distance) // step):
        turn = step if distance > 0 else -step
        page.send("Input.dispatchMouseEvent", type="mouseWheel", x=400, y=400, deltaX=0, deltaY=turn)
        time.sleep(max(start + (number + 1) * seconds - time.monotonic(), 0))


def main() -> None:
    """Print the measures at two widths."""
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        place = Path(folder) / "report.html"
        if len(sys.argv) > 1:
            place = Path(sys.argv[1])
        else:
            place.write_text(make_page(), encoding="utf-8")
        print(f"{place.stat().st_size / 1e6:.1f} MB")
        for width, height in ((1280, 900), (360, 740)):
            with browser.page(width, height) as page:
                found = measure(page, place)
                print(
                    f"{width} × {height}: "
                    + ", ".join(f"{name} {value:.3g}" for name, value in found.items())
                )


if __name__ == "__main__":
    main()
