"""A server over a tiny aligner, for the tests of its answers and of its page."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from otalign import Aligner
from otalign.settings import Learned, LearnedSettings
from tests.browser import Page
from tests.scoring.random_heads import make_transport_head
from tests.server.local_server import LocalServer, run_server
from tests.server.page_driver import settled


@pytest.fixture(scope="session")
def untrained(exported) -> Aligner:
    return Aligner.load(exported("bert", 3), threads=1)


@pytest.fixture(scope="session")
def trained(untrained) -> Aligner:
    """Return an aligner with a random head for learned transport."""
    ((_, embeddings),) = untrained.embed([("one", "two")])
    size = embeddings.vectors.shape[1]
    options = {"encoder": "tiny", "layer": 3, "trained": "on nothing"}
    return Aligner(
        untrained.encoder,
        LearnedSettings(problem=Learned(0.4, 0.3), **options),
        head=make_transport_head(size=size),
    )


@pytest.fixture(scope="session")
def server(trained) -> Iterator[LocalServer]:
    from otalign.server.access import LOOPBACK
    from otalign.server.app import make_app

    with run_server(make_app(trained, hosts=LOOPBACK)) as running:
        yield running


@pytest.fixture
def opened(page: Page, server) -> Page:
    """Open the page, and check afterwards that it had no errors and sent no requests elsewhere."""
    page.open(f"{server.url}/")
    settled(page)
    yield page
    assert page.errors == []
    assert {urlsplit(request).netloc for request in page.requests} == {f"127.0.0.1:{server.port}"}
