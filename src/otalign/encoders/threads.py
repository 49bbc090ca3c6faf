"""Threads for all work on batches, so that there are never more than processors."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from threading import Lock
from typing import Any, TypeVar

Result = TypeVar("Result")


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

    def _run_next(self) -> None:
        with self._lock:
            future, task = (self._waiting or self._ahead).popleft()
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(task())
            except BaseException as error:  # for whoever waits
                future.set_exception(error)
