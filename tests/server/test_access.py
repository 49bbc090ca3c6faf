"""Access to the server: host names, origins, tokens, and the access log."""

import logging
import re

import pytest

from otalign.server.access import allowed_hosts, check_origin, is_loopback, read_token
from otalign.server.app import make_app
from otalign.server.guards import access_log
from tests.server.local_server import run_server
from tests.server.test_api import ASKED, is_problem

TOKEN = "s3cret-token"


@pytest.fixture(scope="module")
def guarded(trained):
    with run_server(make_app(trained, token=TOKEN, origins=["https://example.org"])) as running:
        yield running


@pytest.mark.parametrize(
    "given",
    [
        "",
        "Bearer",
        "Bearer ",
        f"Basic {TOKEN}",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        "Bearer \xff",
        TOKEN,
    ],
)
def test_without_the_token_nothing_is_aligned_or_revealed(guarded, given):
    headers = {"Authorization": given} if given else {}
    for reply in (
        guarded.align(ASKED[0], **headers),
        guarded.get("/v1/aligner", **headers),
        guarded.get("/metrics", **headers),
        guarded.get("/nowhere", **headers),
    ):
        is_problem(reply, 401)
        assert reply.headers["www-authenticate"] == "Bearer"
        assert TOKEN not in reply.text


def test_with_the_token_all_is_as_without_one(guarded):
    for scheme in ("Bearer", "bearer"):
        assert guarded.align(ASKED[0], Authorization=f"{scheme} {TOKEN}").status == 200
    assert guarded.get("/metrics", Authorization=f"Bearer {TOKEN}").status == 200


def test_the_page_and_the_state_need_no_token(guarded):
    for path in ("/", "/page.js", "/page.css", "/docs", "/openapi.json", "/healthz"):
        assert guarded.get(path).status == 200


def test_an_allowed_page_gets_the_error_that_it_needs_a_token(guarded):
    elsewhere = {"Origin": "https://example.org"}
    wish = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization, content-type",
    }
    assert guarded.send("OPTIONS", "/v1/align", None, elsewhere | wish).status == 200
    refused = guarded.align(ASKED[0], **elsewhere)
    is_problem(refused, 401)
    assert refused.headers["access-control-allow-origin"] == "https://example.org"


@pytest.mark.parametrize(
    ("host", "names", "allowed"),
    [
        ("127.0.0.1", [], {"localhost", "127.0.0.1", "::1"}),
        ("127.0.0.1", ["Align.example.org"], {"localhost", "127.0.0.1", "::1", "align.example.org"}),
        ("0.0.0.0", [], None),
        ("0.0.0.0", ["align.example.org"], {"localhost", "127.0.0.1", "::1", "align.example.org"}),
        ("192.0.2.7", ["a"], {"localhost", "127.0.0.1", "::1", "192.0.2.7", "a"}),
        ("::", ["[2001:db8::1]"], {"localhost", "127.0.0.1", "::1", "2001:db8::1"}),
    ],
)
def test_allowed_names_hold_for_every_address(host, names, allowed):
    assert allowed_hosts(host, names) == allowed
    assert is_loopback(host) == host.startswith("127.")


@pytest.mark.parametrize("origin", ["*", "https://example.org", "http://localhost:3000", "http://[::1]:80"])
def test_an_origin_is_a_scheme_and_a_host_and_maybe_a_port(origin):
    assert check_origin(origin.upper().lower()) == origin
    assert check_origin("HTTPS://Example.org") == "https://example.org"


@pytest.mark.parametrize(
    "origin",
    ["", "example.org", "https://", "https://example.org/", "https://a/b", "ftp://a", "null", "https://a:x",
     "https://u@a", "https://a?b", "https://*.example.org:99999", "https://[::1"],
)  # fmt: skip
def test_what_no_browser_sends_as_an_origin_is_refused(origin):
    with pytest.raises(ValueError, match="--allow-origin must be like"):
        check_origin(origin)


def test_a_token_is_the_only_line_of_its_file(tmp_path):
    file = tmp_path / "token"
    file.write_text(f"  {TOKEN}\n")
    assert read_token(file) == TOKEN
    for text, why in (("", "is empty"), (" \n", "is empty"), ("a\nb", "one token"), ("ü", "one token")):
        file.write_text(text)
        with pytest.raises(ValueError, match=why):
            read_token(file)


def test_the_access_log_has_a_line_for_each_request(server, caplog):
    with caplog.at_level(logging.INFO, logger=access_log.name):
        server.get('/nowhere?a="b"%0Ac')
        server.align(ASKED[0])
    first, second = (record.getMessage() for record in caplog.records)
    assert re.fullmatch(
        r'127\.0\.0\.1 - - \[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d \+0000\] '
        r'"GET /nowhere\?a=%22b%22%0Ac HTTP/1\.1" 404 \d+ \d+\.\d{3}',
        first,
    )  # fmt: skip
    assert '"POST /v1/align HTTP/1.1" 200 ' in second
