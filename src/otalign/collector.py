"""Python's garbage collector, paused while many values are created."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_collection() -> Iterator[None]:
    """Pause the garbage collector in this block, for values that have no reference cycles.

    With tens of thousands of new values, collecting would take longer than creating them.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
