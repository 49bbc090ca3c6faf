"""What all clients ask for, worked on together by one thread while the event loop goes on.

The thread takes what has come in, up to `BATCH`, and works on it at once; what comes in meanwhile waits for
the next turn. A request that nobody waits for any more is not begun. If a batch fails, its parts are tried
one by one, so that what one client sent cannot fail what another did.
"""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence

from otalign.server.problems import Refused, busy, failure
from otalign.server.work import Answer, Ask

BATCH = 16_384  # characters that are worked on at once: enough for the encoder to be busy, soon done
LINGER = 0.002  # seconds that a batch waits to be filled

log = logging.getLogger("otalign.server")


class _Request:
    """The parts of one request, and who waits for their answers."""

    def __init__(self, asks: Sequence[Ask], answered: asyncio.Future):
        self.asks, self.answered = asks, answered
        self.answers: dict[int, Answer] = {}
        self.failure: Refused | None = None

    @property
    def over(self) -> bool:
        """Whether nothing more is to be done for it."""
        return self.failure is not None or self.answered.done() or len(self.answers) == len(self.asks)


class Batches:
    """A queue of at most `waiting` pairs and the thread that works on it, from `start` to `stop`."""

    def __init__(self, work: Callable[[Sequence[Ask]], Sequence[Answer | Refused]], waiting: int):
        self._work, self._room = work, waiting
        self._waiting: deque[tuple[_Request, int]] = deque()
        self._size = 0  # of all that waits
        self._changed = threading.Condition()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="otalign-batches", daemon=True)

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    def stop(self) -> None:
        """Finish what is begun; what waits is dropped."""
        with self._changed:
            self._stopped = True
            self._changed.notify()
        self._thread.join()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    async def answers(self, asks: Sequence[Ask]) -> list[Answer]:
        """The answers, in order, or what was wrong with the first that cannot be answered."""
        request = _Request(asks, self._loop.create_future())
        if not asks:
            return []
        with self._changed:
            if self._waiting and len(self._waiting) + len(asks) > self._room:
                raise busy(f"{len(self._waiting):,} pairs are waiting already; ask again later.", after=1)
            self._waiting.extend((request, k) for k in range(len(asks)))
            self._size += sum(ask.size for ask in asks)
            self._changed.notify()
        return await request.answered

    def _run(self) -> None:
        while (batch := self._next()) is not None:
            for (request, k), answer in zip(batch, self._answers(batch), strict=True):
                if isinstance(answer, Refused):
                    request.failure = answer
                else:
                    request.answers[k] = answer
            over = {request for request, _ in batch if request.over}
            self._loop.call_soon_threadsafe(_tell, over)

    def _next(self) -> list[tuple[_Request, int]] | None:
        """The next batch, as soon as there is one; None when it is time to stop."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._stopped)
            self._changed.wait_for(lambda: self._size >= BATCH or self._stopped, timeout=LINGER)
            if self._stopped:
                return None
            batch, size = [], 0
            while self._waiting and size < BATCH:
                request, k = self._waiting.popleft()
                self._size -= request.asks[k].size
                if not request.over:
                    batch.append((request, k))
                    size += request.asks[k].size
            return batch

    def _answers(self, batch: Sequence[tuple[_Request, int]]) -> Sequence[Answer | Refused]:
        asks = [request.asks[k] for request, k in batch]
        try:
            return self._work(asks)
        except Exception as error:
            if len(batch) == 1:
                log.error("a pair could not be aligned", exc_info=error)
                return [failure()]
            return [answer for one in batch for answer in self._answers([one])]


def _tell(requests: set[_Request]) -> None:
    for request in requests:
        if request.answered.done():  # nobody waits any more
            continue
        if request.failure is not None:
            request.answered.set_exception(request.failure)
        else:
            request.answered.set_result([request.answers[k] for k in range(len(request.asks))])
