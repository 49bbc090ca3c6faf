"""Limits on connections that uvicorn does not have: number, size and time of headers, time to read answers.

uvicorn closes a connection that is idle after a request, but not one that sends nothing at all, that sends
its headers byte by byte, or that does not read its answer; and its limit on the size of headers is for
another parser. A client that exceeds a limit gets a problem, too, and is disconnected.
"""

from asyncio import TimerHandle, Transport
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from otalign.server.errors import RequestError, make_response
from otalign.server.guards import HEADERS
from otalign.server.limits import Limits

PIPELINED = 16  # requests that may be sent ahead of the answers on one connection
FRAMING = 8  # bytes received per byte of a body, if single bytes are sent as chunks


class LimitedConnection(HttpToolsProtocol):
    """A connection with limits; `refused` is called with the status of each refusal."""

    def __init__(self, *args: Any, limits: Limits, refused: Callable[[int], None], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.limits, self.refused = limits, refused
        self._reads_headers = False
        self._starts = False  # whether a request starts in the current data
        self._size = 0  # bytes of a request after the data that it started in
        self._header_size = 0
        self._refusal: RequestError | None = None
        self._until_headers: TimerHandle | None = None
        self._until_read: TimerHandle | None = None
        self._unanswered: list[RequestResponseCycle] = []

    def connection_made(self, transport: Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Accept or refuse a connection."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            self._refuse(RequestError(503, f"{self.limits.connections:,} connections are open already"))
        else:
            self._expect_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Clean up."""
        self._disconnect_all()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        for timer in (self._until_headers, self._until_read):
            if timer is not None:
                timer.cancel()

    # Input.

    def data_received(self, data: bytes) -> None:
        """Parse data, and check the size of the request."""
        super().data_received(data)
        if self.transport.is_closing():
            return
        self._size = 0 if self._starts else self._size + len(data)
        self._starts = False
        if self._reads_headers and self._size > self.limits.header_bytes:
            self._refuse(self._make_header_error())
        elif self._size > self.limits.header_bytes + FRAMING * self.limits.body:
            self._refuse(RequestError(413, f"a request must have at most {self.limits.body:,} bytes"))
        elif self._is_idle() and self._until_headers is None:
            self._expect_headers()

    def on_message_begin(self) -> None:
        """Start a request."""
        super().on_message_begin()
        self._reads_headers = self._starts = True
        self._header_size = 0

    def on_url(self, url: bytes) -> None:
        """Receive the URL."""
        self._count_header(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Receive a header."""
        super().on_header(name, value)
        self._count_header(len(name) + len(value))

    def on_headers_complete(self) -> None:
        """Accept a request."""
        self._reads_headers = False
        if self._until_headers is not None:
            self._until_headers.cancel()
            self._until_headers = None
        if len(self.pipeline) >= PIPELINED:
            self._fail(
                RequestError(400, f"at most {PIPELINED} requests may be sent before the first is answered")
            )
        super().on_headers_complete()
        self._unanswered = [cycle for cycle in self._unanswered if not cycle.response_complete] + [self.cycle]

    def _count_header(self, size: int) -> None:
        self._header_size += size
        if self._header_size > self.limits.header_bytes or len(self.headers) > self.limits.headers:
            self._fail(self._make_header_error())

    def _make_header_error(self) -> RequestError:
        maximum = f"{self.limits.headers} headers of {self.limits.header_bytes:,} bytes in all"
        return RequestError(431, f"a request must have at most {maximum}, its address included")

    def _fail(self, refusal: RequestError) -> None:
        """Stop the parser, which then calls `send_400_response`."""
        self._refusal = refusal
        raise ValueError(refusal.detail)

    # Timers.

    def _is_idle(self) -> bool:
        """True if no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _expect_headers(self) -> None:
        self._until_headers = self.loop.call_later(self.limits.header_seconds, self._give_up_on_headers)

    def _give_up_on_headers(self) -> None:
        if self._reads_headers:
            late = f"the headers of a request must arrive within {self.limits.header_seconds:g} seconds"
            self._refuse(RequestError(408, late))
        else:
            self.transport.close()

    def pause_writing(self) -> None:
        """Start the timer of an answer that the client does not read."""
        super().pause_writing()
        self._until_read = self.loop.call_later(self.limits.seconds, self._abort)

    def resume_writing(self) -> None:
        """Cancel the timer of an unread answer."""
        super().resume_writing()
        if self._until_read is not None:
            self._until_read.cancel()
            self._until_read = None

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection; drop what little of the answer was not read."""
        if self._until_read is not None:
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )
        elif self.transport.get_write_buffer_size():
            self._abort()
        else:
            super().timeout_keep_alive_handler()

    # Closing.

    def _abort(self) -> None:
        self._disconnect_all()
        self.transport.abort()

    def _disconnect_all(self) -> None:
        """Notify all requests that the client has disconnected; uvicorn notifies only the last."""
        for cycle in self._unanswered:
            cycle.disconnected = True
            cycle.message_event.set()

    def send_400_response(self, msg: str) -> None:
        """Refuse a request that cannot be parsed."""
        self._refuse(self._refusal or RequestError(400, "this is not HTTP/1.1"))

    def _refuse(self, refusal: RequestError) -> None:
        self.refused(refusal.status_code)
        if not self._is_idle():  # another answer must not be mixed with this one
            self._abort()
            return
        response = make_response(refusal)
        response.headers.update(HEADERS | {"Connection": "close"})
        lines = [
            b"%s: %s\r\n" % header for header in (*self.server_state.default_headers, *response.raw_headers)
        ]
        self.transport.write(
            b"".join([STATUS_LINE[refusal.status_code], *lines, b"\r\n", bytes(response.body)])
        )
        self.transport.close()
