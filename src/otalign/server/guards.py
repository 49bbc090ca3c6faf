"""What stands before every request: whose it is, how long it may be and take; what every answer says, and
what is kept of it: counts, and a line of the access log if there is one.

A server on this machine alone answers only to the names of this machine: else a page from elsewhere could
have its own name point here, and ask as if it came from here.
"""

import asyncio
import hmac
import logging
import time
from collections.abc import Collection
from datetime import UTC, datetime

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from otalign.server.limits import Limits
from otalign.server.metrics import Metrics
from otalign.server.problems import Refused, failure, response

log = logging.getLogger("otalign.server")
access_log = logging.getLogger("otalign.server.access")

OPEN = ("/", "/page.css", "/page.js", "/openapi.json", "/healthz", "/readyz")  # without a token
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
    """The app behind the guards; `hosts` are the names it answers to, or None for any; `token` is what a
    client must know, or None if it need not know anything."""

    def __init__(
        self,
        app: ASGIApp,
        limits: Limits,
        metrics: Metrics,
        hosts: Collection[str] | None = None,
        token: str | None = None,
    ):
        self.app, self.limits, self.metrics, self.hosts = app, limits, metrics, hosts
        self.token = None if token is None else token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start = time.perf_counter()
        whole = False
        status = size = sent = 0

        async def count_response() -> Message:
            nonlocal size, whole
            message = await receive()
            size += len(message.get("body", b""))
            if size > self.limits.body:
                raise Refused(413, f"a request must have at most {self.limits.body:,} bytes")
            whole = not message.get("more_body", False)
            return message

        async def mark_started(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                clock.reschedule(None)  # how long the client takes to read it is up to the connection
                status = message["status"]
                MutableHeaders(scope=message).update(HEADERS)
            sent += len(message.get("body", b""))
            await send(message)

        try:
            async with asyncio.timeout(self.limits.seconds) as clock:
                self._check(scope)
                await self.app(scope, count_response, mark_started)
        except Exception as error:
            if status:
                raise
            async with asyncio.timeout(None) as clock:
                await response(self._explain(error, whole))(scope, receive, mark_started)
        finally:
            self.metrics.count_request(status)
            access_log.info("%s", _AccessLine(scope, status, sent, time.perf_counter() - start))

    def _explain(self, error: Exception, whole: bool) -> Refused:
        """What the client is told of an error; `whole` is whether all of the request had come."""
        late = f"within {self.limits.seconds:g} seconds"
        match error:
            case Refused():
                return error
            case TimeoutError() if whole:
                return Refused(504, f"the request could not be answered {late}; ask for less at once")
            case TimeoutError():
                return Refused(408, f"the request did not come in whole {late}")
        log.error("a request has failed", exc_info=error)
        return failure()

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        said = headers.get("host", "")
        name = said.rpartition(":")[0] if said.rpartition(":")[2].isdigit() else said
        if self.hosts is not None and name.strip("[]").lower() not in self.hosts:
            raise Refused(421, f"this server does not answer to the name {name[:100]!r}")
        if self.token is not None and scope["path"] not in OPEN:
            scheme, _, given = headers.get("authorization", "").partition(" ")
            known = hmac.compare_digest(given.strip().encode("latin-1"), self.token)
            if not known or scheme.lower() != "bearer":
                detail = "this server needs a token: send the header 'Authorization: Bearer TOKEN'"
                raise Refused(401, detail, headers={"WWW-Authenticate": "Bearer"})


class _AccessLine:
    """A line of the common log format, with the seconds it took at its end, made only if it is logged."""

    def __init__(self, scope: Scope, status: int, size: int, seconds: float):
        self.scope, self.status, self.size, self.seconds = scope, status, size, seconds

    def __str__(self) -> str:
        client = (self.scope.get("client") or ("-",))[0]
        when = datetime.now(UTC).strftime("%d/%b/%Y:%H:%M:%S +0000")
        query = b"?" * bool(self.scope["query_string"]) + self.scope["query_string"]
        # As it was sent, so without line breaks; a quote must not end it.
        asked = (self.scope["raw_path"] + query).decode("ascii", "backslashreplace").replace('"', "%22")
        line = f"{self.scope['method']} {asked} HTTP/{self.scope['http_version']}"
        return f'{client} - - [{when}] "{line}" {self.status} {self.size} {self.seconds:.3f}'
