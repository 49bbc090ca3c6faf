"""Starting and ending child processes.

Children are spawned, never forked: a process that uses threads or a GPU must not be copied.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from threading import Thread, current_thread, main_thread

SPAWN = get_context("spawn")

# With more threads, sums of the same numbers may be rounded differently.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


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
    """End this process when its parent has ended: a parent that is killed cannot stop its children.

    Args:
        exit: Function that ends the process; it is called in another thread.
    """

    def wait() -> None:
        if parent := parent_process():
            parent.join()
            exit()

    Thread(target=wait, daemon=True).start()
