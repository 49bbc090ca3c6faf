"""Messages of the page when the server waits, refuses, is gone, comes back, or is another program."""

import asyncio
import json
import shlex
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from fastapi import FastAPI, Request, Response

from otalign.server.app import make_app
from tests.accessibility import find_violations
from tests.browser import Page
from tests.server.local_server import LocalServer, run_server
from tests.server.page_driver import STALE, WORDS, read, settled, type_into

DIMMED = (
    "document.querySelector('.view.dimmed') && document.querySelector('.drawing').inert"
    " && !document.querySelector('.summary').checkVisibility()"
)


class Gate:
    """Middleware that answers requests for alignments in a way that a test chooses."""

    def __init__(self, app: FastAPI) -> None:
        self.mode = "open"
        app.middleware("http")(self.pass_through)

    async def pass_through(self, request: Request, call_next) -> Response:
        starting = self.mode == "starting" and request.url.path == "/v1/aligner"
        if not starting and (request.url.path != "/v1/align" or self.mode in ("open", "starting")):
            return await call_next(request)
        if self.mode in ("slow", "starting"):
            await asyncio.sleep(1.5)
            return await call_next(request)
        if self.mode == "proxy":
            return Response("<h1>Bad gateway</h1>", 502, media_type="text/html")
        if self.mode == "other":
            return Response('{"status": "ok"}', media_type="application/json")
        return Response('{"detail": "the queue is full"}', 503, media_type="application/problem+json")


@pytest.fixture(scope="module")
def gated(trained):
    app = make_app(trained)
    gate = Gate(app)
    with run_server(app) as server:
        yield server, gate


@pytest.fixture
def opened(page: Page, gated) -> tuple[Page, LocalServer, Gate]:
    server, gate = gated
    gate.mode = "open"
    page.open(f"{server.url}/")
    settled(page)
    return page, server, gate


def test_a_sentence_that_is_too_long_is_refused_and_the_old_drawing_is_dimmed(opened):
    page, _, _ = opened
    before = page.evaluate(WORDS)
    for text, reason in (
        ("a " * 300, "a sentence must have at most 256 words, got 300."),
        ("a" * 4001, "The source has 4,001 characters; this server takes at most 4,000."),
    ):
        type_into(page, "source", text)
        page.wait_for(f"document.querySelector('.state').textContent === {json.dumps(reason)}")
        assert page.evaluate(f"{STALE} && {DIMMED}")
        assert page.evaluate(WORDS) == before
        kept = page.evaluate("document.querySelector('#source').value.length")
        assert kept == len(text)  # nothing is cut off
    assert find_violations(page) == []
    type_into(page, "source", "short")
    page.wait_for("!document.querySelector('.view.failed')")
    settled(page)
    assert not page.evaluate(f"{STALE} || {DIMMED}")
    assert read(page, ".state") == ""


def test_the_page_says_that_it_waits(opened):
    page, _, gate = opened
    gate.mode = "slow"
    type_into(page, "source", "another one")
    page.wait_for(STALE)
    page.wait_for("document.querySelector('.state').textContent === 'Waiting for the server …'")
    assert page.evaluate(DIMMED)
    settled(page)
    assert read(page, ".state") == ""
    assert not page.evaluate(f"{STALE} || {DIMMED}")


def test_the_page_says_that_it_waits_for_a_server_that_starts(page, gated):
    server, gate = gated
    gate.mode = "starting"
    page.open(f"{server.url}/")
    page.wait_for("document.querySelector('#connection').textContent === 'Waiting for the server …'")
    gate.mode = "open"
    settled(page)
    assert read(page, "#connection") == ""


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("proxy", "The answer is not JSON (status 502): another program may be at this address."),
        ("other", "The answer is not one of otalign (status 200): another program may be at this address."),
        ("busy", "the queue is full."),
    ],
)
def test_the_page_recovers_by_itself_from_an_invalid_answer(opened, mode, reason):
    page, _, gate = opened
    gate.mode = mode
    type_into(page, "source", f"not answered {mode}")
    page.wait_for("document.querySelector('.view.failed')")
    assert read(page, ".state") == f"{reason} Trying again."
    assert page.evaluate(f"{STALE} && {DIMMED}")
    gate.mode = "open"
    page.wait_for("!document.querySelector('.view.failed')")
    assert read(page, ".state") == "The server answers again."
    assert page.evaluate(WORDS)[0][0] == "not"


def test_the_page_says_that_the_server_cannot_be_reached_and_finds_it_again(opened):
    page, _, _ = opened
    page.send(
        "Network.emulateNetworkConditions",
        offline=True,
        latency=0,
        downloadThroughput=-1,
        uploadThroughput=-1,
    )
    type_into(page, "source", "nobody hears")
    page.wait_for("document.querySelector('.view.failed')")
    assert read(page, ".state") == "The server cannot be reached. Trying again."
    page.send(
        "Network.emulateNetworkConditions",
        offline=False,
        latency=0,
        downloadThroughput=-1,
        uploadThroughput=-1,
    )
    page.wait_for("!document.querySelector('.view.failed')")
    assert page.evaluate(WORDS)[0] == ["nobody", "hears"]


def test_pictures_are_saved_as_svg_and_png(opened):
    page, _, _ = opened
    page.evaluate("URL.createObjectURL = (blob) => { window.saved = blob; return 'data:,' }")
    page.click(".save-svg")
    page.wait_for("document.querySelector('.copied').textContent === 'SVG saved.'")
    text = page.evaluate("saved.text()")
    texts = [one.text for one in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]
    assert {"grandfather", "died", "Source", "Target"} <= {*texts}
    page.click(".save-png")
    page.wait_for("document.querySelector('.copied').textContent === 'PNG saved.'")
    start = page.evaluate("saved.arrayBuffer().then(data => [...new Uint8Array(data)].slice(0, 4))")
    assert bytes(start) == b"\x89PNG"
    assert page.errors == []


def test_the_snippets_give_what_is_shown(opened):
    page, server, _ = opened
    type_into(page, "source", 'It\'s "raining" in Zürich')
    settled(page)
    shown = page.evaluate("[...document.querySelectorAll('.stroke')].flatMap(({group}) => group.links)")
    python = subprocess.run(
        [sys.executable, "-c", read(page, "#python")], capture_output=True, text=True, check=True
    )
    assert [link[:2] for link in json.loads(python.stdout)] == sorted(link[:2] for link in shown)
    command = shlex.split(read(page, "#curl").replace("\\\n", " "))
    assert command[:2] == ["curl", "-s"]
    answer = server.align(json.loads(command[-1])).json
    assert [link[:2] for link in answer["links"]] == sorted(link[:2] for link in shown)


def test_many_pairs_are_aligned_at_once(opened):
    page, server, _ = opened
    page.evaluate("document.querySelector('#many').open = true")
    type_into(page, "many-text", "It rains.\tIt is raining.\n\nGood day ||| Hello there\nnothing")
    page.click("#many-align")
    page.wait_for("document.querySelector('#many-status').textContent.startsWith('Line 4 has no tab')")
    type_into(page, "many-text", "It rains.\tIt is raining.\n\nGood day ||| Hello there")
    page.click("#many-align")
    page.wait_for("document.querySelector('#many-status').textContent === '2 pairs aligned.'")
    rows = page.evaluate(
        "[...document.querySelectorAll('#many-list tr')].map(row =>"
        " [...row.cells].slice(1, 4).map(cell => cell.textContent))"
    )
    links = server.align({"source": "It rains.", "target": "It is raining."}).json["links"]
    assert rows[0] == ["It rains.", "It is raining.", " ".join(f"{i}-{j}" for i, j, _ in links)]
    page.resize(360, 740)  # where the table has no head
    named = "[...document.querySelectorAll('#many-list tr:first-child td')].map(cell => cell.dataset.name)"
    assert page.evaluate(named) == [None, "Source", "Target", "Links", "Nulls"]
    page.wait_for("document.documentElement.scrollWidth === 360")
    page.click("#many-list tr:last-child button")
    settled(page)
    assert page.evaluate(WORDS) == [["Good", "day"], ["Hello", "there"]]
    assert page.errors == []


def test_paper_has_the_links_at_their_words(opened):
    page, _, _ = opened
    page.resize(1400, 900)
    assert page.printed().startswith(b"%PDF")
    page.wait_for("document.querySelector('figure').placed.width > 700")  # drawn again for the screen
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.querySelector('figure').placed.width") == 670
    page.emulate("print", prefers_color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.querySelector('.controls')).display") == "none"
    assert page.evaluate("document.querySelector('figure').clientWidth") == 670
    shown = "[...document.querySelectorAll('.matrix, #programs, #many, #signature')]"
    assert page.evaluate(f"{shown}.map(one => one.checkVisibility())") == [True, False, False, True]


def test_the_documentation_describes_every_path_and_loads_nothing_else(page, server):
    page.open(f"{server.url}/docs")
    schema = server.get("/openapi.json").json
    titles = page.evaluate("[...document.querySelectorAll('section h3')].map(one => one.textContent)")
    for path, methods in schema["paths"].items():
        assert {f"{method.upper()} {path}" for method in methods} <= {*titles}
    assert {*schema["components"]["schemas"]} <= {*titles}
    broken = (
        "[...document.querySelectorAll('a[href^=\"#\"]')].filter(a => !document.querySelector(a.hash)).length"
    )
    assert page.evaluate(broken) == 0
    assert {request.rpartition("/")[2] for request in page.requests} == {"docs", "page.css"}
    assert find_violations(page) == []
    for width in (320, 1280):
        page.resize(width, 800)
        assert page.evaluate("document.documentElement.scrollWidth") == width
