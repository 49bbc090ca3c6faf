"""What stands before every request: whose it is, how long it may be and take; and what every answer says.

A server on this machine alone answers only to the names of this machine: else a page from elsewhere could
have its own name point here, and ask as if it came from here.
"""

import asyncio
import logging
from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from otalign.server.limits import Limits
from otalign.server.problems import Refused, failure, response

log = logging.getLogger("otalign.server")

LOOPBACK = ("localhost", "127.0.0.1", "::1")
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
    """The app behind the guards; `hosts` are the names it answers to, or None for any."""

    def __init__(self, app: ASGIApp, limits: Limits, hosts: Collection[str] | None):
        self.app, self.limits, self.hosts = app, limits, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        whole = started = False
        size = 0

        async def counted() -> Message:
            nonlocal size, whole
            message = await receive()
            size += len(message.get("body", b""))
            if size > self.limits.body:
                raise Refused(413, f"a request must have at most {self.limits.body:,} bytes")
            whole = not message.get("more_body", False)
            return message

        async def marked(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        try:
            self._check_host(Headers(scope=scope).get("host", ""))
            async with asyncio.timeout(self.limits.seconds):
                await self.app(scope, counted, marked)
        except Exception as error:
            if started:
                raise
            await response(self._told(error, whole))(scope, receive, marked)

    def _told(self, error: Exception, whole: bool) -> Refused:
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

    def _check_host(self, said: str) -> None:
        name = said.rpartition(":")[0] if said.rpartition(":")[2].isdigit() else said
        if self.hosts is not None and name.strip("[]").lower() not in self.hosts:
            raise Refused(421, f"this server does not answer to the name {name!r}")
