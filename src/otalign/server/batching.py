"""A queue of the pairs of all clients, which one thread aligns in batches beside the event loop.

A batch takes one pair from each request in turn until it has the size `BATCH`, so that a small request waits
for one batch of a large one, not for all of it. A request that comes while the thread is idle starts at
once. A request that was cancelled leaves the queue at once, and its remaining pairs are never aligned. If a
batch fails, its pairs are tried one by one, so that the input of one client cannot cause errors for another.

A request that would have to wait for too long is refused at once, with the time after which to try again.
"""

import asyncio
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence

from otalign.server.errors import RequestError, make_busy_problem, make_failure
from otalign.server.work import Answer, PairRequest

BATCH = 24_576  # work per batch: enough to use the encoder well, but soon finished
LINGER = 0.002  # seconds to wait for a batch to fill, between batches
MEMORY = 0.9  # weight of the past when the rate of work is measured, per batch

log = logging.getLogger("otalign.server")

Work = Callable[[Sequence[PairRequest]], Sequence[Answer | RequestError]]


class _Request:
    """The pairs of one request, and the future of its answers."""

    def __init__(self, pairs: Sequence[PairRequest], future: asyncio.Future) -> None:
        self.pairs, self.future = pairs, future
        self.sizes = [pair.size for pair in pairs]
        self.started = 0  # number of pairs that were taken into a batch
        self.work_left = sum(self.sizes)  # of the others
        self.passed_over = False  # whether a batch has taken later requests, but not this one
        self.answers: dict[int, Answer] = {}
        self.failure: RequestError | None = None

    @property
    def left(self) -> int:
        """Number of pairs that were not taken into a batch."""
        return len(self.pairs) - self.started

    @property
    def next_size(self) -> int:
        """Work of the next pair."""
        return self.sizes[self.started]

    @property
    def finished(self) -> bool:
        """True if it can be answered, or nobody waits for it any more."""
        return self.failure is not None or self.future.done() or len(self.answers) == len(self.pairs)

    def take(self) -> list[tuple["_Request", int]]:
        """Return the pairs of its next turn: one, or all of a group, which stays together."""
        taken = range(self.started, len(self.pairs) if self.pairs[0].group else self.started + 1)
        self.started, self.passed_over = taken.stop, False
        self.work_left -= sum(self.sizes[k] for k in taken)
        return [(self, k) for k in taken]


class RequestQueue:
    """A queue of pairs, and the thread that aligns them, from `start` to `stop`.

    Args:
        work: Function that aligns pairs.
        waiting: Maximum number of pairs in the queue.
        seconds: Maximum expected wait for other requests; a request with a longer one is refused.
    """

    def __init__(self, work: Work, waiting: int, seconds: float = math.inf) -> None:
        self._work, self._capacity, self._seconds = work, waiting, seconds
        self._queue: deque[_Request] = deque()  # requests with pairs to start, the next in turn first
        self._changed = threading.Condition()  # with a reentrant lock
        self._stopped = False
        self._waiting = self._work_left = 0  # pairs in the queue, and their work
        self._running = 0  # work of the batch that is being aligned
        self._measured = self._measured_seconds = 0.0  # work of batches while others waited, and its time
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
        return self._waiting

    def check(self) -> None:
        """Check that there is room for another pair.

        Raises:
            RequestError: If there is not.
        """
        with self._changed:
            self._check_room(1)

    def submit(self, pairs: Sequence[PairRequest]) -> asyncio.Future[list[Answer]]:
        """Queue the pairs of one request.

        Args:
            pairs: The pairs.

        Returns:
            A future of the answers, in order, or of the problem of the first pair that cannot be answered.
            Cancelling it drops the pairs that are not started.

        Raises:
            RequestError: If the queue is full, or it would take too long.
        """
        future = self._loop.create_future()
        if not pairs:
            future.set_result([])
            return future
        with self._changed:
            self._check_room(len(pairs))
            request = _Request(pairs, future)
            self._queue.append(request)
            self._count(request, 1)
            self._changed.notify()
        future.add_done_callback(lambda _: self._drop(request))
        return future

    def _check_room(self, pairs: int) -> None:
        if self._waiting and self._waiting + pairs > self._capacity:
            raise make_busy_problem(
                f"{self._waiting:,} pairs are waiting already; try again later",
                after=math.ceil(self._estimate_seconds(self._work_left)) or 1,
            )
        if self._estimate_seconds(self._running + self._work_left) <= self._seconds:
            return
        # Requests take turns: a small one does not wait for all of a large one.
        before = sum(
            request.work_left * (1 if request.pairs[0].group else min(1, pairs / request.left))
            for request in self._queue
        )
        if (wait := self._estimate_seconds(self._running + before)) > self._seconds:
            raise make_busy_problem(
                f"this request would wait for {wait:.1f} seconds, at most {self._seconds:g}; try again later",
                after=math.ceil(wait - self._seconds),
            )

    def _estimate_seconds(self, work: float) -> float:
        """Return the time that some work takes; 0 while the rate is not known."""
        return work * self._measured_seconds / self._measured if self._measured else 0.0

    def _drop(self, request: _Request) -> None:
        """Remove the pairs of a request that are not started."""
        with self._changed:
            if request.left and request in self._queue:
                self._queue.remove(request)
                self._count(request, -1)

    def _count(self, request: _Request, sign: int) -> None:
        """Add what is left of a request to what waits, or subtract it."""
        self._waiting += sign * request.left
        self._work_left += sign * request.work_left

    def _run(self) -> None:
        while (batch := self._take_batch()) is not None:
            size, start = sum(request.sizes[k] for request, k in batch), time.perf_counter()
            for (request, k), answer in zip(batch, self._align(batch), strict=True):
                if isinstance(answer, RequestError):
                    request.failure = answer
                    self._drop(request)
                else:
                    request.answers[k] = answer
            self._measure(size, time.perf_counter() - start)
            finished = {request for request, _ in batch if request.finished}
            self._loop.call_soon_threadsafe(_resolve, finished)

    def _measure(self, size: int, seconds: float) -> None:
        """Measure the rate of work by a batch. One that leaves none waiting may be small, and thus slow."""
        with self._changed:
            self._running -= size
            if self._queue or size * self._measured_seconds > seconds * self._measured:
                self._measured = MEMORY * self._measured + size
                self._measured_seconds = MEMORY * self._measured_seconds + seconds

    def _take_batch(self) -> list[tuple[_Request, int]] | None:
        """Wait for the next batch; return None when the queue is stopped."""
        with self._changed:
            if self._queue:  # clients that were just answered may send their next request
                self._changed.wait_for(lambda: self._work_left >= BATCH or self._stopped, timeout=LINGER)
            self._changed.wait_for(lambda: self._queue or self._stopped)
            if self._stopped:
                return None
            for request in [request for request in self._queue if request.finished]:
                self._drop(request)
            batch: list[tuple[_Request, int]] = []
            size, order = 0, self._order_by_turn()
            while order and size < BATCH:
                request = order.popleft()
                self._count(request, -1)
                turn = request.take()
                batch += turn
                size += sum(request.sizes[k] for _, k in turn)
                if request.left:
                    order.append(request)
                    self._count(request, 1)
            self._running += size
            taken = {request for request, _ in batch}
            passed = [request for request in self._queue if request not in taken]
            for request in passed:
                request.passed_over = True
            self._queue = deque([*passed, *(request for request in order if request in taken)])
            return batch

    def _order_by_turn(self) -> deque[_Request]:
        """Return the requests in the order in which a batch takes pairs from them.

        If it cannot take one from each, it takes those that are most like the next in turn in size, since the
        encoder reads inputs of one length together. The others are the first in the next batch.
        """
        if sum(request.next_size for request in self._queue) <= BATCH:
            return deque(self._queue)
        size = self._queue[0].next_size
        return deque(sorted(self._queue, key=lambda one: (not one.passed_over, abs(one.next_size - size))))

    def _align(self, batch: Sequence[tuple[_Request, int]]) -> Sequence[Answer | RequestError]:
        if not batch:  # all were cancelled meanwhile
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
