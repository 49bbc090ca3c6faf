"""A server over a tiny aligner, for the tests of its answers and of its page."""

from collections.abc import Iterator

import pytest

from otalign import Aligner
from otalign.settings import Learned, LearnedSettings
from tests.scoring.random_heads import learned
from tests.server.local_server import Served, served


@pytest.fixture(scope="session")
def untrained(exported) -> Aligner:
    return Aligner.load(exported("bert", 2), threads=1)


@pytest.fixture(scope="session")
def trained(untrained) -> Aligner:
    """Of no understanding, but one that has learned its transport."""
    ((_, embeddings),) = untrained.embed([("one", "two")])
    size = embeddings.vectors.shape[1]
    said = {"encoder": "tiny", "layer": 2, "trained": "on nothing"}
    return Aligner(
        untrained.encoder, LearnedSettings(problem=Learned(0.4, 0.3), **said), head=learned(size=size)
    )


@pytest.fixture(scope="session")
def server(trained) -> Iterator[Served]:
    from otalign.server.access import LOOPBACK
    from otalign.server.app import make_app

    with served(make_app(trained, hosts=LOOPBACK)) as running:
        yield running
