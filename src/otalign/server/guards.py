"""Checks of every request (host, token, size, time), and headers, metrics and access log of every response.

A server on this machine alone answers only to the names of this machine: otherwise, a page from elsewhere
could point a name of its own here (DNS rebinding), and send requests as if it came from this machine.
"""

import asyncio
import hmac
import logging
import time
from collections.abc import Collection
from datetime import UTC, datetime

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from otalign.server.errors import RequestError, make_failure, make_response
from otalign.server.limits import Limits
from otalign.server.metrics import Metrics

log = logging.getLogger("otalign.server")
access_log = logging.getLogger("otalign.server.access")

OPEN = (
    "/",
    "/page.css",
    "/page.js",
    "/docs",
    "/openapi.json",
    "/healthz",
    "/readyz",
)  # paths that need no token
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


class Guard:
    """Middleware that guards an app.

    Args:
        app: The app.
        limits: Limits on requests.
        metrics: Counters of this process.
        hosts: Host names that it answers to; None for any.
        token: Token that clients must send; None for none.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: Limits,
        metrics: Metrics,
        hosts: Collection[str] | None = None,
        token: str | None = None,
    ) -> None:
        self.app, self.limits, self.metrics, self.hosts = app, limits, metrics, hosts
        self.token = None if token is None else token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start = time.perf_counter()
        complete = False
        status = size = sent = 0

        async def receive_message() -> Message:
            nonlocal size, complete
            message = await receive()
            size += len(message.get("body", b""))
            if size > self.limits.body:
                raise RequestError(413, f"a request must have at most {self.limits.body:,} bytes")
            complete = not message.get("more_body", False)
            return message

        async def send_message(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                clock.reschedule(None)  # the connection limits how long the client may take to read it
                status = message["status"]
                MutableHeaders(scope=message).update(HEADERS)
            sent += len(message.get("body", b""))
            await send(message)

        try:
            async with asyncio.timeout(self.limits.seconds) as clock:
                self._check(scope)
                await self.app(scope, receive_message, send_message)
        except Exception as error:
            if status:
                raise
            async with asyncio.timeout(None) as clock:
                await make_response(self._explain(error, complete))(scope, receive, send_message)
        finally:
            self.metrics.count_request(status)
            access_log.info("%s", _AccessLine(scope, status, sent, time.perf_counter() - start))

    def _explain(self, error: Exception, complete: bool) -> RequestError:
        """Return the problem for an error; `complete` tells whether the whole request was received."""
        late = f"within {self.limits.seconds:g} seconds"
        match error:
            case RequestError():
                return error
            case TimeoutError() if complete:
                return RequestError(
                    504, f"the request could not be answered {late}; send fewer pairs at once"
                )
            case TimeoutError():
                return RequestError(408, f"the request was not received completely {late}")
        log.error("a request failed", exc_info=error)
        return make_failure()

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        if self.hosts is not None and name.strip("[]").lower() not in self.hosts:
            raise RequestError(421, f"this server does not answer to the name {name[:100]!r}")
        if self.token is not None and scope["path"] not in OPEN:
            scheme, _, token = headers.get("authorization", "").partition(" ")
            known = hmac.compare_digest(token.strip().encode("latin-1"), self.token)
            if not known or scheme.lower() != "bearer":
                detail = "this server needs a token: send the header 'Authorization: Bearer TOKEN'"
                raise RequestError(401, detail, headers={"WWW-Authenticate": "Bearer"})


class _AccessLine:
    """A line in the common log format with the time in seconds at its end, formatted only if it is logged."""

    def __init__(self, scope: Scope, status: int, size: int, seconds: float) -> None:
        self.scope, self.status, self.size, self.seconds = scope, status, size, seconds

    def __str__(self) -> str:
        client = (self.scope.get("client") or ("-",))[0]
        timestamp = datetime.now(UTC).strftime("%d/%b/%Y:%H:%M:%S +0000")
        query = b"?" * bool(self.scope["query_string"]) + self.scope["query_string"]
        # As it was sent, so without line breaks; quotes are escaped.
        path = (self.scope["raw_path"] + query).decode("ascii", "backslashreplace").replace('"', "%22")
        line = f"{self.scope['method']} {path} HTTP/{self.scope['http_version']}"
        return f'{client} - - [{timestamp}] "{line}" {self.status} {self.size} {self.seconds:.3f}'
