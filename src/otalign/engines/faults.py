"""Error messages for shards that failed: the file, the lines, the cause, and what to do."""

import signal

from otalign.engines.folder import CENTRE, TRIES
from otalign.engines.work import CentreSample, Shard, ShardWork
from otalign.failures import EXPECTED, CapturedError

LESS_MEMORY = "if memory ran out, use fewer --processes or a smaller --batch-size; --resume continues the run"


class WorkerDied(ChildProcessError):
    """A worker process that was killed or crashed."""


def report_death(exit_code: int | None = None) -> CapturedError:
    """Describe the end of a worker process.

    Args:
        exit_code: Its exit code, if that is known.

    Returns:
        The failure.
    """
    how = "died" if exit_code is None else f"ended with exit code {exit_code}"
    if exit_code is not None and exit_code < 0:
        how = f"was killed by signal {-exit_code} ({signal.strsignal(-exit_code)})"
    error = WorkerDied(f"a worker process {how}")
    return CapturedError(error, str(error))


def ends_the_run(failure: CapturedError, times: int) -> bool:
    """Decide whether to give up: at once if a retry would not help, else after the third failure."""
    expected = isinstance(failure.error, EXPECTED) and not isinstance(failure.error, WorkerDied)
    return expected or times >= TRIES


def explain_shard(
    failure: CapturedError, times: int, task: Shard | CentreSample, work: ShardWork
) -> ChildProcessError:
    """Make the error that ends a run in which a shard, or the centre of the corpus, could not be computed.

    Args:
        failure: The last failure.
        times: Number of failures.
        task: What failed.
        work: The work of the run.

    Returns:
        The error to raise.
    """
    if isinstance(task, CentreSample):
        name, first = CENTRE, 0
    else:
        name, first = work.folder.part(task.number).name, task.first
    count = len(task.items)
    span = f"{work.unit} {first + 1:,}" if count <= 1 else f"{work.unit}s {first + 1:,}–{first + count:,}"
    position = "" if failure.item is None else f" at {work.unit} {first + failure.item + 1:,}"
    message = (
        f"{name} ({span}) failed{_format_count(times)}{position}: {failure.description}; "
        f"{_find_remedy(failure, work.unit)}"
    )
    return _chain_error(message, failure)


def explain_load_failure(failure: CapturedError, times: int) -> Exception:
    """Make the error that ends a run whose workers cannot load the aligner; expected errors are kept."""
    if isinstance(failure.error, EXPECTED) and not isinstance(failure.error, WorkerDied):
        return failure.error
    remedy = (
        LESS_MEMORY
        if isinstance(failure.error, WorkerDied | MemoryError)
        else "check the files of the model; otalign align on two sentences shows whether they load"
    )
    message = f"loading the aligner failed{_format_count(times)}: {failure.description}; {remedy}"
    return _chain_error(message, failure)


def explain_read_failure(failure: CapturedError) -> Exception:
    """Make the error that ends a run whose input cannot be read; expected errors are kept."""
    if isinstance(failure.error, EXPECTED):
        return failure.error
    return _chain_error(f"reading the input failed: {failure.description}; check the input files", failure)


def _format_count(times: int) -> str:
    return f" {times} times, the last" if times > 1 else ""


def _find_remedy(failure: CapturedError, unit: str) -> str:
    match failure.error:
        case WorkerDied() | MemoryError():
            return LESS_MEMORY
        case OSError() | ImportError():
            return "use --resume once that is solved"
    if failure.item is None:
        return f"align these {unit}s alone to find the one at fault"
    return f"correct or remove that {unit}, then align into a new folder"


def _chain_error(message: str, failure: CapturedError) -> ChildProcessError:
    error = ChildProcessError(message)
    error.__cause__ = failure.error
    return error
