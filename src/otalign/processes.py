"""Child processes: how they are started, given work, and ended.

Children are spawned, never forked: a process that uses threads or a GPU must not be copied. A `TaskPool` runs
a function on tasks ahead of their use; it ends with an error if a process dies. A `PipeProcess` is for work
that continues when a process dies: its owner is notified, and can start another.
"""

import gc
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from threading import Thread, current_thread, main_thread
from typing import Any, Generic, Protocol, Self, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")
ResultOut = TypeVar("ResultOut", covariant=True)

SPAWN = get_context("spawn")
AHEAD = 2  # tasks per worker that are submitted before their results are needed

# With more threads, sums of the same numbers may be rounded differently.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def count_processors() -> int:
    """Return the number of CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def ignore_interrupts() -> Iterator[None]:
    """Let processes that are started in this block ignore SIGINT, so that the parent alone handles it."""
    if current_thread() is not main_thread():  # only the main thread may set signal handlers
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def set_environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for processes that are started in this block."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


@contextmanager
def hide_main_module() -> Iterator[None]:
    """Keep processes that are spawned in this block from running the main script again."""
    main = sys.modules["__main__"]
    hidden = {name: vars(main).pop(name) for name in ("__spec__", "__file__") if name in vars(main)}
    main.__spec__ = None
    try:
        yield
    finally:
        vars(main).update(hidden)


def exit_with_parent(exit: Callable[[], object] = lambda: os._exit(1)) -> None:
    """End this process when its parent has ended: a killed parent cannot stop its children.

    Args:
        exit: Function that ends the process; it is called in another thread.
    """

    def wait() -> None:
        if parent := parent_process():
            parent.join()
            exit()

    Thread(target=wait, daemon=True).start()


class PipeProcess:
    """A process that is connected with this one by a pipe. It computes in one thread, and ignores SIGINT.

    Args:
        target: Function that the process runs, with its end of the pipe and `args`.
        *args: Further arguments.

    Attributes:
        connection: This end of the pipe. Receiving from it fails when the process has ended.
        process: The process.
    """

    def __init__(self, target: Callable[..., None], *args: Any) -> None:
        self.connection, other_end = SPAWN.Pipe()
        self.process = SPAWN.Process(target=target, args=(other_end, *args), daemon=True)
        with ignore_interrupts(), set_environment(ONE_THREAD):
            self.process.start()
        other_end.close()

    def stop(self) -> None:
        """End the process."""
        self.process.terminate()
        self.process.join()
        self.connection.close()


class TaskPool(Generic[Task, Result]):
    """Processes that run a function on tasks. They do not import the main script, so that it needs no guard.

    Args:
        workers: Number of processes.
        build: Function that is called once in each process, and returns the function to run on tasks. Both
            must be picklable, and make no reference cycles, since the processes do not collect them.
        *args: Arguments of `build`.
    """

    def __init__(self, workers: int, build: Callable[..., Callable[[Task], Result]], *args: Any) -> None:
        self.workers = workers
        self.executor = ProcessPoolExecutor(workers, SPAWN, initializer=_initialize, initargs=(build, *args))

    def run(self, tasks: Iterable[Task]) -> Iterator[Result]:
        """Run tasks ahead of their use.

        Args:
            tasks: The tasks, which must be picklable.

        Yields:
            The results, in the order of the tasks.

        Raises:
            BrokenProcessPool: If a process dies.
        """
        return prefetch(self._submit, tasks, AHEAD * self.workers)

    def _submit(self, task: Task) -> "Future[Result]":
        with hide_main_module():  # submitting a task may start a process
            return self.executor.submit(_run_task, task)

    def shut_down(self) -> None:
        """Drop the tasks that have not been started, and end the processes."""
        self.executor.shutdown(cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.shut_down()


def read_ahead(items: Iterable[Result]) -> Iterator[Result]:
    """Yield items, and compute the next one in a thread meanwhile.

    Args:
        items: The items. Computing one should not wait for anything that may never come, such as a line of a
            pipe: the thread waits for it even if no more items are requested.
    """
    iterator, end = iter(items), object()
    with ThreadPoolExecutor(1) as thread:
        future = thread.submit(next, iterator, end)
        while (item := future.result()) is not end:
            future = thread.submit(next, iterator, end)
            yield item  # pyright: ignore[reportReturnType]: not the end


_function: list[Callable[[Any], Any]] = []  # the function of this worker process


def _initialize(build: Callable[..., Callable[[Any], Any]], *args: Any) -> None:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # there are several processes already
    gc.disable()
    _function.append(build(*args))


def _run_task(task: Any) -> Any:
    (function,) = _function
    return function(task)


class Pending(Protocol[ResultOut]):
    """A task that was started, such as a `Future`."""

    def result(self) -> ResultOut:
        """Wait for the result, and return it."""
        ...

    def cancel(self) -> object:
        """Drop what has not been started."""
        ...


def prefetch(
    submit: Callable[[Task], Pending[Result]], tasks: Iterable[Task], ahead: int
) -> Iterator[Result]:
    """Yield the results of tasks in their order, and submit tasks before their results are requested.

    Args:
        submit: Function that starts a task.
        tasks: The tasks.
        ahead: Number of tasks to submit beyond the one whose result is yielded.
    """
    started: deque[Pending[Result]] = deque()
    try:
        for task in tasks:
            started.append(submit(task))
            if len(started) > ahead:
                yield started.popleft().result()
        while started:
            yield started.popleft().result()
    finally:
        for pending in started:
            pending.cancel()
