"""What all clients ask for, worked on together by one thread while the event loop goes on.

The thread works on one batch at a time. A batch takes one pair from each request in turn until it holds
`BATCH`, so that a small request waits for one batch of a large one, not for all of it. A request that nobody
waits for any more leaves the queue at once, and the rest of its pairs is never begun. If a batch fails, its
parts are tried one by one, so that what one client sent cannot fail what another did.
"""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Hashable, Sequence

from otalign.server.problems import Refused, busy, failure
from otalign.server.work import Answer, Ask

BATCH = 24_576  # size of what is worked on at once: enough for the encoder to be busy, soon done
LINGER = 0.002  # seconds that a batch waits to be filled

log = logging.getLogger("otalign.server")


class _Request:
    """The parts of one request, and who waits for their answers."""

    def __init__(self, asks: Sequence[Ask], answered: asyncio.Future):
        self.asks, self.answered = asks, answered
        self.sizes = [ask.size for ask in asks]
        self.begun = 0  # parts that were taken into a batch, the first ones
        self.answers: dict[int, Answer] = {}
        self.failure: Refused | None = None

    @property
    def over(self) -> bool:
        """Whether nothing more is to be done for it."""
        return self.failure is not None or self.answered.done() or len(self.answers) == len(self.asks)


class RequestQueue:
    """A queue of at most `waiting` pairs and the thread that works on it, from `start` to `stop`."""

    def __init__(self, work: Callable[[Sequence[Ask]], Sequence[Answer | Refused]], waiting: int):
        self._work, self._room = work, waiting
        self._queue: deque[_Request] = deque()  # those with parts that are not begun, the next in turn first
        self._changed = threading.Condition()  # whose lock may be taken again by who holds it
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

    @property
    def waiting(self) -> int:
        """Number of pairs in the queue that somebody waits for."""
        with self._changed:
            return sum(len(request.asks) - request.begun for request in self._queue if not request.over)

    @property
    def full(self) -> bool:
        """True if the queue takes no further request."""
        return self.waiting >= self._room

    def submit(self, asks: Sequence[Ask]) -> asyncio.Future[list[Answer]]:
        """Queue the pairs of one request.

        Returns:
            The answers, in order, or what was wrong with the first pair that cannot be answered. Cancelling
            it drops what is not begun.

        Raises:
            Refused: The queue has no room.
        """
        answered = self._loop.create_future()
        if not asks:
            answered.set_result([])
            return answered
        with self._changed:
            if (waiting := self.waiting) and waiting + len(asks) > self._room:
                raise busy(f"{waiting:,} pairs are waiting already; ask again later.", after=1)
            self._queue.append(_Request(asks, answered))
            self._changed.notify()
        return answered

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
            self._changed.wait_for(lambda: self._queue or self._stopped)
            self._changed.wait_for(lambda: self._fills_a_batch() or self._stopped, timeout=LINGER)
            if self._stopped:
                return None
            batch, size = [], 0
            while self._queue and size < BATCH:
                request = self._queue.popleft()
                if request.over:
                    continue
                for _ in range(len(request.asks) if request.asks[0].group else 1):  # a group stays together
                    batch.append((request, request.begun))
                    size += request.sizes[request.begun]
                    request.begun += 1
                if request.begun < len(request.asks):
                    self._queue.append(request)
            return batch

    def _fills_a_batch(self) -> bool:
        size = 0
        for request in self._queue:
            size += sum(request.sizes[request.begun :])
            if size >= BATCH:
                return True
        return False

    def _answers(self, batch: Sequence[tuple[_Request, int]]) -> Sequence[Answer | Refused]:
        if not batch:
            return []
        try:
            return self._work([request.asks[k] for request, k in batch])
        except Exception as error:
            if len(_split_groups(batch)) == 1:
                log.error("a pair could not be aligned", exc_info=error)
                return [failure()] * len(batch)
            return [answer for part in _split_groups(batch) for answer in self._answers(part)]


def _split_groups(batch: Sequence[tuple[_Request, int]]) -> list[list[tuple[_Request, int]]]:
    """Split a batch into its pairs, but keep the pairs of a group together."""
    groups: dict[Hashable, list[tuple[_Request, int]]] = {}
    for place, (request, k) in enumerate(batch):
        groups.setdefault(request.asks[k].group or place, []).append((request, k))
    return list(groups.values())


def _tell(requests: set[_Request]) -> None:
    for request in requests:
        if request.answered.done():  # nobody waits any more
            continue
        if request.failure is not None:
            request.answered.set_exception(request.failure)
        else:
            request.answered.set_result([request.answers[k] for k in range(len(request.asks))])
