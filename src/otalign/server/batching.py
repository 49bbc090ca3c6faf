"""A queue of the pairs of all clients, which one thread aligns in batches beside the event loop.

A batch takes one pair from each request in turn until it has the size `BATCH`, so that a small request waits
for one batch of a large one, not for all of it. A request that was cancelled leaves the queue at once, and
its remaining pairs are never aligned. If a batch fails, its pairs are tried one by one, so that the input of
one client cannot cause errors for another.
"""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Hashable, Sequence

from otalign.server.errors import RequestError, make_busy_problem, make_failure
from otalign.server.work import Answer, PairRequest

BATCH = 24_576  # work per batch: enough to use the encoder well, but soon finished
LINGER = 0.002  # seconds to wait for a batch to fill

log = logging.getLogger("otalign.server")


class _Request:
    """The pairs of one request, and the future of its answers."""

    def __init__(self, pairs: Sequence[PairRequest], future: asyncio.Future) -> None:
        self.pairs, self.future = pairs, future
        self.sizes = [pair.size for pair in pairs]
        self.started = 0  # number of pairs that were taken into a batch
        self.answers: dict[int, Answer] = {}
        self.failure: RequestError | None = None

    @property
    def finished(self) -> bool:
        """True if nothing more is to be done for it."""
        return self.failure is not None or self.future.done() or len(self.answers) == len(self.pairs)


class RequestQueue:
    """A queue of pairs, and the thread that aligns them, from `start` to `stop`.

    Args:
        work: Function that aligns pairs.
        waiting: Maximum number of pairs in the queue.
    """

    def __init__(
        self, work: Callable[[Sequence[PairRequest]], Sequence[Answer | RequestError]], waiting: int
    ) -> None:
        self._work, self._capacity = work, waiting
        self._queue: deque[_Request] = deque()  # requests with pairs to start, the next in turn first
        self._changed = threading.Condition()  # with a reentrant lock
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="otalign-batches", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    def stop(self) -> None:
        """Finish the current batch, and drop the rest."""
        with self._changed:
            self._stopped = True
            self._changed.notify()
        self._thread.join()

    @property
    def alive(self) -> bool:
        """True while the thread runs."""
        return self._thread.is_alive()

    @property
    def waiting(self) -> int:
        """Number of pairs in the queue, without those of cancelled requests."""
        with self._changed:
            return sum(
                len(request.pairs) - request.started for request in self._queue if not request.finished
            )

    @property
    def full(self) -> bool:
        """True if the queue accepts no further request."""
        return self.waiting >= self._capacity

    def submit(self, pairs: Sequence[PairRequest]) -> asyncio.Future[list[Answer]]:
        """Queue the pairs of one request.

        Args:
            pairs: The pairs.

        Returns:
            A future of the answers, in order, or of the problem of the first pair that cannot be answered.
            Cancelling it drops the pairs that are not started.

        Raises:
            RequestError: If the queue is full.
        """
        future = self._loop.create_future()
        if not pairs:
            future.set_result([])
            return future
        with self._changed:
            if (waiting := self.waiting) and waiting + len(pairs) > self._capacity:
                raise make_busy_problem(f"{waiting:,} pairs are waiting already; try again later.", after=1)
            self._queue.append(_Request(pairs, future))
            self._changed.notify()
        return future

    def _run(self) -> None:
        while (batch := self._take_batch()) is not None:
            for (request, k), answer in zip(batch, self._align(batch), strict=True):
                if isinstance(answer, RequestError):
                    request.failure = answer
                else:
                    request.answers[k] = answer
            finished = {request for request, _ in batch if request.finished}
            self._loop.call_soon_threadsafe(_resolve, finished)

    def _take_batch(self) -> list[tuple[_Request, int]] | None:
        """Wait for the next batch; return None when the queue is stopped."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._stopped)
            self._changed.wait_for(lambda: self._fills_a_batch() or self._stopped, timeout=LINGER)
            if self._stopped:
                return None
            batch, size = [], 0
            while self._queue and size < BATCH:
                request = self._queue.popleft()
                if request.finished:
                    continue
                for _ in range(len(request.pairs) if request.pairs[0].group else 1):  # a group stays together
                    batch.append((request, request.started))
                    size += request.sizes[request.started]
                    request.started += 1
                if request.started < len(request.pairs):
                    self._queue.append(request)
            return batch

    def _fills_a_batch(self) -> bool:
        size = 0
        for request in self._queue:
            size += sum(request.sizes[request.started :])
            if size >= BATCH:
                return True
        return False

    def _align(self, batch: Sequence[tuple[_Request, int]]) -> Sequence[Answer | RequestError]:
        if not batch:
            return []
        try:
            return self._work([request.pairs[k] for request, k in batch])
        except Exception as error:
            if len(_split_groups(batch)) == 1:
                log.error("a pair could not be aligned", exc_info=error)
                return [make_failure()] * len(batch)
            return [answer for part in _split_groups(batch) for answer in self._align(part)]


def _split_groups(batch: Sequence[tuple[_Request, int]]) -> list[list[tuple[_Request, int]]]:
    """Split a batch into its pairs, but keep the pairs of a group together."""
    groups: dict[Hashable, list[tuple[_Request, int]]] = {}
    for index, (request, k) in enumerate(batch):
        groups.setdefault(request.pairs[k].group or index, []).append((request, k))
    return list(groups.values())


def _resolve(requests: set[_Request]) -> None:
    for request in requests:
        if request.future.done():  # it was cancelled
            continue
        if request.failure is not None:
            request.future.set_exception(request.failure)
        else:
            request.future.set_result([request.answers[k] for k in range(len(request.pairs))])
