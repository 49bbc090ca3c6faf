"""A server in a thread of the tests, with a client."""

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from fastapi import FastAPI

from otalign.server.limits import Limits
from otalign.server.running import make_server


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]  # by names in lower case
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


class LocalServer(NamedTuple):
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str, **headers: str) -> Reply:
        return self.send("GET", path, None, headers)

    def align(self, body: Any, **headers: str) -> Reply:
        """Post a body, as JSON unless it is bytes."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.send("POST", "/v1/align", content, {"Content-Type": "application/json"} | headers)

    def send(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            response_headers = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, response_headers, answer.read().decode())
        finally:
            connection.close()


@contextmanager
def run_server(app: FastAPI, limits: Limits = Limits(seconds=5)) -> Iterator[LocalServer]:
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listening:
        server = make_server(app, limits)
        thread = threading.Thread(target=lambda: server.run(sockets=[listening]))
        thread.start()
        try:
            yield LocalServer(listening.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join()
