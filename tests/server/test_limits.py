"""Slow and large requests are refused with a short message, and other clients are served."""

import json
import socket
import time
from collections.abc import Iterator

import pytest

from otalign.server.app import make_app
from otalign.server.limits import Limits
from tests.server.local_server import LocalServer, run_server

HEAD = b"POST /v1/align HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
GOOD = {"source": "one", "target": "two"}
HASTY = Limits(seconds=1, header_seconds=0.3, idle_seconds=1, connections=20, body=50_000)


@pytest.fixture(scope="module")
def hasty(trained) -> Iterator[LocalServer]:
    """A server that gives its clients little time."""
    with run_server(make_app(trained, HASTY), HASTY) as running:
        yield running
        assert running.align(GOOD).status == 200  # whatever happened to it


def connect(server: LocalServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=10)


def send(server: LocalServer, *parts: bytes) -> bytes:
    """Send bytes, of which the server need not read all, and return the answer."""
    with connect(server) as connection:
        try:
            for part in parts:
                connection.sendall(part)
            return connection.recv(1000)
        except ConnectionError:
            return b""


def keys(count: int) -> bytes:
    return b"{%s}" % b",".join(b'"%x":1' % k for k in range(count))


@pytest.mark.parametrize(
    "body",
    [
        keys(90_000),
        keys(20),
        b'{"source":"a","target":"b","settings":{"problem":"bot",%s}' % keys(90_000)[1:] + b"}",
        b'{"pairs":[%s]}' % b",".join([b"{}"] * 300_000),
        b'{"pairs":[%s]}' % b",".join([b'{"source":[%s],"target":[1]}' % b",".join([b"1"] * 256)] * 256),
        b"[%s]" % b",".join([b"[]"] * 300_000),
        b'{"%s":1}' % (b"k" * 1_000_000),
        b'{"source":%s,"target":"b"}' % (b"9" * 1_000_000),
    ],
    ids=["keys", "few keys", "settings", "pairs", "words", "lists", "long key", "digits"],
)
def test_a_hostile_body_is_answered_briefly_and_soon(server, body):
    start = time.process_time()
    reply = server.align(body)
    assert reply.status in (400, 422)
    assert len(reply.text) < 10_000
    assert len(reply.json.get("errors", [])) <= 20
    # Of this process, in which the server runs too; the tests' many objects slow the garbage collector.
    assert time.process_time() - start < 5.0


def test_headers_have_a_size_and_a_number(server):
    assert send(server, HEAD + b"X: 1\r\n" * 99 + b"\r\n").startswith(b"HTTP/1.1 431 ")
    assert send(server, HEAD + b"X: %s\r\n\r\n" % (b"a" * 17_000)).startswith(b"HTTP/1.1 431 ")
    assert send(server, HEAD + b"X: %s\r\n\r\n" % (b"a" * 15_000)).startswith(b"HTTP/1.1 422 ")
    assert send(server, b"GET /%s HTTP/1.1\r\n\r\n" % (b"a" * 17_000)).startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize("start", [HEAD + b"X: ", b"GET /"], ids=["header", "address"])
def test_headers_without_end_are_not_read_to_their_end(server, start):
    with connect(server) as connection, pytest.raises(ConnectionError):  # noqa: PT012
        connection.sendall(start)
        for _ in range(100):
            connection.sendall(b"a" * 300_000)


def test_a_request_that_continues_after_its_body_is_cut_off(hasty):
    trailer = b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: "
    assert b"HTTP/1.1 2" not in send(hasty, HEAD + trailer, *[b"a" * 100_000] * 20)
    assert send(hasty, *[b"\r\n" * 50_000] * 20).startswith((b"HTTP/1.1 413 ", b""))
    much = b"Content-Length: 1000000000\r\n\r\n"
    assert send(hasty, HEAD + much, *[b" " * 100_000] * 20).startswith((b"HTTP/1.1 413 ", b""))


def test_what_is_not_http_gets_a_problem_document(server):
    answer = send(server, b"\x16\x03\x01 hello\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["detail"] == "this is not HTTP/1.1"


@pytest.mark.parametrize("sent", [b"", b"\r\n", HEAD], ids=["nothing", "a blank line", "half of the headers"])
def test_a_connection_that_asks_nothing_is_closed(hasty, sent):
    with connect(hasty) as connection:  # which waits ten seconds at most
        connection.sendall(sent)
        answer = connection.recv(1000)
        assert answer.startswith(b"HTTP/1.1 408 ") if sent == HEAD else answer == b""


def test_a_header_now_and_then_keeps_no_connection_open(hasty):
    with connect(hasty) as connection, pytest.raises(ConnectionError):  # noqa: PT012
        connection.sendall(HEAD)
        for _ in range(100):
            connection.sendall(b"X: y\r\n")
            time.sleep(0.05)


def test_a_connection_may_stay_open_but_not_forever(hasty):
    with connect(hasty) as connection:
        for _ in range(2):
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert connection.recv(4000).startswith(b"HTTP/1.1 200 ")
        assert connection.recv(1000) == b""


def test_there_is_a_limit_to_the_connections(hasty):
    held = [connect(hasty) for _ in range(HASTY.connections)]
    try:
        with connect(hasty) as one_more:
            assert one_more.recv(1000).startswith(b"HTTP/1.1 503 ")
    finally:
        for connection in held:
            connection.close()
    time.sleep(0.1)
    assert hasty.align(GOOD).status == 200


def test_who_does_not_read_the_answer_is_disconnected(hasty):
    """Many large answers are requested one after another, and none is read."""
    body = json.dumps({"source": "a " * 256, "target": "b " * 256, "matrix": True}).encode()
    asked = HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body
    with connect(hasty) as connection, pytest.raises(ConnectionError):  # noqa: PT012
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        for _ in range(100):
            connection.sendall(asked)
            time.sleep(0.1)


def test_a_flood_of_requests_on_one_connection_ends_it(server):
    ask = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with connect(server) as connection, pytest.raises(ConnectionError):  # noqa: PT012
        for _ in range(100):
            connection.sendall(ask * 1000)
    assert server.align(GOOD).status == 200


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan")])
def test_a_time_limit_must_be_finite_and_above_zero(seconds):
    with pytest.raises(ValueError, match="seconds must be above 0 and finite, got"):
        Limits(seconds=seconds)
