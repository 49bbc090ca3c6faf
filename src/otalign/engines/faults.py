"""What the user is told when a shard cannot be made: which, of which lines, of what it failed, what to do."""

import signal

from otalign.engines.folder import CENTRE, TRIES
from otalign.engines.work import CorpusHead, Shard, ShardWork
from otalign.failures import EXPECTED, CapturedError

LESS_MEMORY = "with too little memory, give fewer --processes or a smaller --batch-size; --resume goes on"


class WorkerDied(ChildProcessError):
    """A process that ended without a word: it was killed, or crashed."""


def report_death(exit_code: int | None = None) -> CapturedError:
    """Describe the end of a worker process, by its exit code if that is known."""
    how = "died" if exit_code is None else f"ended with exit code {exit_code}"
    if exit_code is not None and exit_code < 0:
        how = f"was killed by signal {-exit_code} ({signal.strsignal(-exit_code)})"
    error = WorkerDied(f"a worker process {how}")
    return CapturedError(error, str(error))


def ends_the_run(failure: CapturedError, times: int) -> bool:
    """Decide whether to give up: at once on what another try would not change, else at the third time."""
    expected = isinstance(failure.error, EXPECTED) and not isinstance(failure.error, WorkerDied)
    return expected or times >= TRIES


def explain_shard(
    failure: CapturedError, times: int, task: Shard | CorpusHead, work: ShardWork
) -> ChildProcessError:
    """Make the error that ends a run in which a shard, or the centre of all of them, could not be made."""
    if isinstance(task, CorpusHead):
        name, first = CENTRE, 0
    else:
        name, first = work.folder.part(task.number).name, task.first
    many = len(task.items) > 1
    span = f"{work.unit}s {first + 1:,}–{first + len(task.items):,}" if many else f"{work.unit} {first + 1:,}"
    at = "" if failure.place is None else f" at {work.unit} {first + failure.place + 1:,}"
    message = (
        f"{name} ({span}) failed{_again(times)}{at}: {failure.description}; {_remedy(failure, work.unit)}"
    )
    return _error(message, failure)


def explain_load_failure(failure: CapturedError, times: int) -> Exception:
    """Make the error that ends a run whose workers cannot load the aligner; expected ones are clear."""
    if isinstance(failure.error, EXPECTED) and not isinstance(failure.error, WorkerDied):
        return failure.error
    remedy = (
        LESS_MEMORY
        if isinstance(failure.error, WorkerDied | MemoryError)
        else "check the files of the model; otalign align on two sentences shows whether they load"
    )
    message = f"loading the aligner failed{_again(times)}: {failure.description}; {remedy}"
    return _error(message, failure)


def explain_read_failure(failure: CapturedError) -> Exception:
    """Make the error that ends a run whose input cannot be read; expected ones are clear."""
    if isinstance(failure.error, EXPECTED):
        return failure.error
    return _error(f"reading the input failed: {failure.description}; check the input files", failure)


def _again(times: int) -> str:
    return f" {times} times, the last" if times > 1 else ""


def _remedy(failure: CapturedError, unit: str) -> str:
    match failure.error:
        case WorkerDied() | MemoryError():
            return LESS_MEMORY
        case OSError() | ImportError():
            return "--resume goes on once that is solved"
    if failure.place is None:
        return f"align these {unit}s alone to find the one at fault"
    return f"correct or remove that {unit}, then align into a new folder"


def _error(message: str, failure: CapturedError) -> ChildProcessError:
    error = ChildProcessError(message)
    error.__cause__ = failure.error
    return error
