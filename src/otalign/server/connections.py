"""The limits of a connection that uvicorn leaves open: how many there are, how long and how large the headers
of a request may be, and how long a client may take to read its answer.

uvicorn closes a connection that is idle after a request, but not one that sends nothing at all, a byte of its
headers now and then, or does not read what it asked for; and its limit on the size of headers holds for
another parser. Whoever breaks a limit before there is a request gets a problem, too, and is disconnected.
"""

from asyncio import TimerHandle, Transport
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from otalign.server.guards import HEADERS
from otalign.server.limits import Limits
from otalign.server.problems import Refused, response

PIPELINED = 16  # requests that may wait for the answer to the one before on the same connection
FRAMING = 8  # bytes of a request for each of its body: single bytes may be sent as chunks


class LimitedConnection(HttpToolsProtocol):
    """One connection. `refused` is told the status of each refusal."""

    def __init__(self, *given: Any, limits: Limits, refused: Callable[[int], None], **named: Any):
        super().__init__(*given, **named)
        self.limits, self.refused = limits, refused
        self._reads_headers = False
        self._begins = False  # whether a request begins in the data at hand
        self._size = 0  # bytes of a request since the data that it began in
        self._header_size = 0
        self._refusal: Refused | None = None
        self._until_headers: TimerHandle | None = None
        self._until_read: TimerHandle | None = None
        self._unanswered: list[RequestResponseCycle] = []

    def connection_made(self, transport: Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            self._refuse(Refused(503, f"{self.limits.connections:,} connections are open already"))
        else:
            self._expect_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._disconnect_all()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        for timer in (self._until_headers, self._until_read):
            if timer is not None:
                timer.cancel()

    # What comes in.

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.transport.is_closing():
            return
        self._size = 0 if self._begins else self._size + len(data)
        self._begins = False
        if self._reads_headers and self._size > self.limits.header_bytes:
            self._refuse(self._large_headers())
        elif self._size > self.limits.header_bytes + FRAMING * self.limits.body:
            self._refuse(Refused(413, f"a request must have at most {self.limits.body:,} bytes"))
        elif self._is_idle() and self._until_headers is None:
            self._expect_headers()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._reads_headers = self._begins = True
        self._header_size = 0

    def on_url(self, url: bytes) -> None:
        self._count_header(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        self._count_header(len(name) + len(value))

    def on_headers_complete(self) -> None:
        self._reads_headers = False
        if self._until_headers is not None:
            self._until_headers.cancel()
            self._until_headers = None
        if len(self.pipeline) >= PIPELINED:
            self._fail(Refused(400, f"at most {PIPELINED} requests may be sent before the first is answered"))
        super().on_headers_complete()
        self._unanswered = [one for one in self._unanswered if not one.response_complete] + [self.cycle]

    def _count_header(self, size: int) -> None:
        self._header_size += size
        if self._header_size > self.limits.header_bytes or len(self.headers) > self.limits.headers:
            self._fail(self._large_headers())

    def _large_headers(self) -> Refused:
        most = f"{self.limits.headers} headers of {self.limits.header_bytes:,} bytes in all"
        return Refused(431, f"a request must have at most {most}, its address included")

    def _fail(self, refusal: Refused) -> None:
        """Stop the parser, which then has `send_400_response` called."""
        self._refusal = refusal
        raise ValueError(refusal.detail)

    # Time.

    def _is_idle(self) -> bool:
        """True if no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _expect_headers(self) -> None:
        self._until_headers = self.loop.call_later(self.limits.header_seconds, self._give_up_on_headers)

    def _give_up_on_headers(self) -> None:
        if self._reads_headers:
            late = f"the headers of a request must come within {self.limits.header_seconds:g} seconds"
            self._refuse(Refused(408, late))
        else:
            self.transport.close()

    def pause_writing(self) -> None:
        """Too much of an answer is not read yet: give the client some time for it."""
        super().pause_writing()
        self._until_read = self.loop.call_later(self.limits.seconds, self._abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._until_read is not None:
            self._until_read.cancel()
            self._until_read = None

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, which needs that all was read; what little was not is given up."""
        if self._until_read is not None:
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )
        elif self.transport.get_write_buffer_size():
            self._abort()
        else:
            super().timeout_keep_alive_handler()

    # Ends.

    def _abort(self) -> None:
        self._disconnect_all()
        self.transport.abort()

    def _disconnect_all(self) -> None:
        """Have all requests know that the client is gone; uvicorn tells only the last."""
        for one in self._unanswered:
            one.disconnected = True
            one.message_event.set()

    def send_400_response(self, msg: str) -> None:
        self._refuse(self._refusal or Refused(400, "this is not HTTP/1.1"))

    def _refuse(self, refusal: Refused) -> None:
        self.refused(refusal.status_code)
        if not self._is_idle():  # whose answer must not be mixed up with this one
            self._abort()
            return
        told = response(refusal)
        told.headers.update(HEADERS | {"Connection": "close"})
        lines = [b"%s: %s\r\n" % header for header in (*self.server_state.default_headers, *told.raw_headers)]
        self.transport.write(b"".join([STATUS_LINE[refusal.status_code], *lines, b"\r\n", bytes(told.body)]))
        self.transport.close()
