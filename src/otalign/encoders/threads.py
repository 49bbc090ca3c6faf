"""Threads for all work on batches, so that there are never more than processors."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from functools import partial
from threading import Lock
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def wait_for(futures: Sequence[Future]) -> None:
    """Wait for all, or an error: waking up for each would take time from those that work on the others."""
    wait(futures, return_when=FIRST_EXCEPTION)


class BatchThreads:
    """Threads that run tasks in order, but those that somebody waits for before those that are ahead of use.

    Otherwise the scores of a chunk would wait for the next chunk to be encoded, and be computed when there is
    nothing left to encode.

    Args:
        count: Number of threads.
    """

    def __init__(self, count: int) -> None:
        self._pool, self._lock = ThreadPoolExecutor(count, "otalign"), Lock()
        self._waiting, self._ahead = deque[tuple[Future, Callable]](), deque[tuple[Future, Callable]]()

    def submit(self, function: Callable[..., Result], *args: Any, ahead: bool = False) -> "Future[Result]":
        """Run a function in a thread.

        Args:
            function: The function.
            *args: Its arguments.
            ahead: Whether nobody waits for the result yet.
        """
        future: Future[Result] = Future()
        (self._ahead if ahead else self._waiting).append((future, partial(function, *args)))
        self._pool.submit(self._run_next)  # for each task, one is run
        return future

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Run a function on items in the threads, and yield its results in order when all are there."""
        futures = [self.submit(function, item) for item in items]
        try:
            wait_for(futures)
            yield from (future.result() for future in futures)
        finally:
            for future in futures:
                future.cancel()

    def _run_next(self) -> None:
        with self._lock:
            future, task = (self._waiting or self._ahead).popleft()
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(task())
            except BaseException as error:  # for whoever waits
                future.set_exception(error)
