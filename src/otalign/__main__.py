"""The program `otalign`, also run as `python -m otalign`."""

import gc
import os
import signal
import sys
import time
from types import FrameType
from typing import NoReturn

COLLECT_AFTER = 100_000  # new objects per collection: Python's 700 cause a hundred during imports
PATIENCE = 2  # seconds after an interrupt in which a further one has no effect


def main() -> None:
    """Run the command line; from the first import on, an interrupt ends it without a traceback."""
    _open_standard_streams()
    gc.set_threshold(COLLECT_AFTER)
    # Matrices of words are small: NumPy's threads would wait for each other, at the cost of the encoder's.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if interruptible:  # nothing has been done yet, and an exception could end inside any library's import
        signal.signal(signal.SIGINT, lambda number, frame: os._exit(128 + number))
    from otalign.cli import main as run

    if interruptible:
        signal.signal(signal.SIGINT, _interrupt)
    try:
        run()
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    finally:
        gc.freeze()  # otherwise all objects are traversed once more at exit


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    """Raise KeyboardInterrupt; a further interrupt, which would break off the clean-up, has to wait."""
    patient_until = time.monotonic() + PATIENCE

    def interrupt_again(number: int, frame: FrameType | None) -> None:
        if time.monotonic() > patient_until:
            os._exit(128 + number)

    signal.signal(number, interrupt_again)
    raise KeyboardInterrupt


def _open_standard_streams() -> None:
    """Open those that the caller has closed, so that the next file that is opened does not take their place.

    Writing to standard output then fails, as with a closed one, since the output would be lost. Standard
    input stays None.
    """
    while (number := os.open(os.devnull, os.O_RDONLY)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 (for as long as we run)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


if __name__ == "__main__":
    main()
