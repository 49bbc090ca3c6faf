"""The HTTP API on any bytes, JSON, paths and headers: an answer or an explained refusal, never a 5xx."""

import json
import math
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("fastapi")

from starlette.testclient import TestClient

from otalign.server.app import make_app
from tests.fuzz import SECONDS, share_of_examples
from tests.fuzz.hostile import changed_bytes, changed_json, fragments, json_values
from tests.fuzz.tiny_folder import make_trained

REQUEST = {
    "pairs": [{"source": "he bought a car", "target": ["she", "sold", "it"]}],
    "settings": {"problem": "uot", "tau": 0.3, "epsilon": 0.05, "distortion": 0.1, "threshold": 0.2},
}
ONE = {"source": "he bought a car", "target": "she sold it", "matrix": True}
requests = st.sampled_from([REQUEST, ONE])
bodies = st.one_of(
    requests.flatmap(changed_json),
    requests.flatmap(lambda body: changed_bytes(json.dumps(body).encode())),
    json_values.map(lambda value: json.dumps(value).encode()),
    st.builds(
        lambda source, target: json.dumps({"source": source, "target": target}).encode(), st.text(), st.text()
    ),
    fragments,
    st.binary(max_size=64),
)
visible = st.characters(min_codepoint=0x20, max_codepoint=0x7E)
TYPES = [
    "application/json",
    "application/json; charset=utf-16",
    "text/plain",
    "application/x-www-form-urlencoded",
    "",
]


@pytest.fixture(scope="session")
def client(tmp_path_factory) -> Iterator[TestClient]:
    """The app in this process: an exception that it does not handle is raised in the test."""
    with TestClient(
        make_app(make_trained(tmp_path_factory.mktemp("tiny"))), base_url="http://localhost"
    ) as client:
        yield client


def check(answer) -> None:
    assert answer.status_code < 500, answer.text
    if answer.content and "json" in answer.headers.get("content-type", ""):  # HEAD has no body
        body = json.loads(answer.content, parse_constant=lambda name: pytest.fail(f"{name} in an answer"))
        if answer.status_code >= 400:
            assert body["status"] == answer.status_code
            assert body["detail"]
            assert len(answer.content) < 1_000_000
        for alignment in body.get("alignments", [body] if "links" in body else []):
            assert all(0 <= weight <= 1 and math.isfinite(weight) for _, _, weight in alignment["links"])


@share_of_examples(1, SECONDS)
@given(body=bodies, kind=st.sampled_from(TYPES[:1] * 4 + TYPES))
def test_any_body_is_answered_or_refused(body, kind, client):
    check(client.post("/v1/align", content=body, headers={"Content-Type": kind}))


@share_of_examples(0.5, SECONDS)
@given(
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE"]),
    path=st.sampled_from(["/", "/v1/align", "/v1/aligner", "/healthz", "/openapi.json", "/static/"])
    | st.text(max_size=12),
    headers=st.dictionaries(
        st.sampled_from(
            ["Host", "Origin", "Accept", "Accept-Encoding", "Content-Encoding", "Authorization", "Range"]
        ),
        st.text(visible, max_size=20),
    ),
    body=fragments,
)
def test_any_request_is_answered_or_refused(method, path, headers, body, client):
    check(
        client.request(method, "/" + quote(path.lstrip("/"), errors="ignore"), headers=headers, content=body)
    )
