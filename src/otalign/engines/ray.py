"""Alignment of the same shards by Ray Data: a task reads them, and a pool of actors aligns them.

Actors write shards themselves, into a folder that all machines share. A shard that is aligned again because
its actor or machine was lost is written again, with the same bytes and name: nothing is lost or duplicated.
It needs Ray, the extra `ray`.
"""

import logging
import os
import pickle
import warnings
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from secrets import token_hex
from typing import Any

from otalign.engines.faults import (
    ends_the_run,
    explain_load_failure,
    explain_read_failure,
    explain_shard,
    report_death,
)
from otalign.engines.folder import CENTRE, TRIES
from otalign.engines.local import read_sample
from otalign.engines.records import FileRecord
from otalign.engines.work import (
    SIZE,
    CentreSample,
    MethodInfo,
    Shard,
    ShardWork,
    Warn,
    describe_method,
    split_into_shards,
)
from otalign.failures import EXPECTED, CapturedError, capture, describe
from otalign.io.items import Item
from otalign.languages import LanguageWarning
from otalign.processes import ONE_THREAD
from otalign.progress import Progress, no_progress


@dataclass(frozen=True)
class RayOptions:
    """Resources of an actor, and the cluster that it runs on.

    Attributes:
        threads: Threads per actor.
        gpus: Share of a GPU per actor.
        address: Address of a Ray cluster; None to start one on this machine.
    """

    threads: int = 1
    gpus: float = 0
    address: str | None = None

    @property
    def resources(self) -> dict[str, float]:
        """Resources of an actor, by Ray's names."""
        return {"num_cpus": self.threads, "num_gpus": self.gpus}


DEFAULT_OPTIONS = RayOptions()


def align(
    items: Iterable[Item],
    work: ShardWork,
    about: Mapping[str, Any],
    *,
    size: int = SIZE,
    processes: int = 1,
    options: RayOptions = DEFAULT_OPTIONS,
    resume: bool = False,
    progress: Progress = no_progress,
    warn: Warn = warnings.warn,
) -> None:
    """Align all items into a folder, like `otalign.engines.align`, by Ray.

    Args:
        items: The corpus.
        work: The aligner and the output folder.
        about: Description of the run, without the aligner. It must be the same when the run is resumed.
        size: Pairs per shard.
        processes: Number of actors, with an aligner each.
        options: Resources of the actors, and the cluster.
        resume: Whether to continue the run in the folder.
        progress: Function that is called with the number of pairs that were aligned.
        warn: Function that is called with a line about damaged files that are written again.

    Raises:
        ValueError: If the folder holds another run or is in use, or there are too few GPUs.
        ChildProcessError: If a shard cannot be aligned.
        OSError: If Ray fails.
    """
    processors = processes * options.threads + 1  # one for the reader
    with start_cluster(options.address, processors) as ray:
        _check_gpus(ray, options.gpus, options.address)
        remote = ray.remote(max_retries=TRIES - 1, **options.resources)
        signature, centres = _get_result(ray, remote(_load_info).remote(work))
        with work.folder.lock():
            about = {**about, "shard_size": size, "aligner": signature}
            previous = work.folder.begin(about, resume=resume)
            previous.warn(warn)
            if centres and work.folder.centre is None:
                sample, _ = read_sample(iter(items))
                if record := _get_result(ray, remote(_write_centre).remote(work, sample)):
                    work.folder.record(CENTRE, record)
            rows = (
                _configure_data()
                .range(1)
                .flat_map(partial(_make_rows, items, work, size, previous.intact))
                .map_batches(
                    Actor,
                    fn_constructor_args=(work,),
                    batch_size=1,  # one shard; it also keeps the reader out of the actors
                    compute=ray.data.ActorPoolStrategy(size=processes),
                    **options.resources,
                )
            )
            pairs = 0
            for row in rows.iter_rows():
                _record(work, row)
                if row["warning"]:
                    warnings.warn(row["warning"], LanguageWarning, stacklevel=1)
                pairs += row["pairs"]
                progress("aligning", pairs, about.get("pairs"))
            work.folder.finish(about, pairs, size)


def _get_result(ray: Any, task: Any) -> Any:
    """Wait for a task that loads the aligner; raise the error that it returns, if any."""
    try:
        result = ray.get(task)
    except ray.exceptions.WorkerCrashedError:
        raise explain_load_failure(report_death(), TRIES) from None
    if isinstance(result, Exception):
        raise result
    return result


def _record(work: ShardWork, row: dict[str, Any]) -> None:
    match pickle.loads(row["result"]):
        case Exception() as error:
            raise error
        case FileRecord() as record:
            work.folder.record(work.folder.part(int(row["number"])).name, record)


class Actor:
    """An actor that aligns and writes shards, a row each, and returns their records or errors.

    Ray restarts an actor that dies, without limit and without notice, to repeat what it died of. So each
    attempt leaves a mark in the folder until it has ended, and the marks of three dead actors end the run.
    """

    def __init__(self, work: ShardWork) -> None:
        self.work = work
        warnings.simplefilter("ignore", LanguageWarning)  # the parent issues it, once
        actor = import_module("ray").get_runtime_context().get_actor_id()  # stays the same after a restart
        try:
            with work.folder.attempt(f"loading-{actor}") as others:
                died = others >= TRIES
                self.method: Any = explain_load_failure(report_death(), others) if died else _load(work)
        except OSError as error:
            self.method = error

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Align a shard, given as a batch of one row."""
        (number,), (pickled,), (first,) = batch["number"], batch["items"], batch["first"]
        result, warning = pickle.loads(pickled), ""
        if isinstance(self.method, Exception):
            result = self.method
        elif isinstance(result, list):
            shard = Shard(int(number), result, int(first))
            try:
                warning = self.work.check_language(shard, self.method) or ""
                result = self._write(shard)
            except OSError as error:  # from marking the attempt
                result = explain_shard(capture(error), 1, shard, self.work)
        result = {"result": [pickle.dumps(result)], "warning": [warning]}
        return {"number": batch["number"], "pairs": batch["pairs"], **result}

    def _write(self, shard: Shard) -> FileRecord | Exception:
        with self.work.folder.attempt(self.work.folder.part(shard.number).name) as others:
            if others >= TRIES:
                return explain_shard(report_death(), others, shard, self.work)
            times = 1
            while isinstance(result := self.work.write(shard, self.method), CapturedError):
                if ends_the_run(result, times):
                    return explain_shard(result, times, shard, self.work)
                times += 1
            return result


def _make_rows(
    items: Iterable[Item], work: ShardWork, size: int, finished: Container[str], _: object
) -> Iterator[dict[str, Any]]:
    """Yield a row for each shard, without items if it is written already, and a row for an error.

    If the reader is lost, Ray restarts it and skips the rows that it has received, so none may be left out.
    """
    try:
        for number, batch, first in split_into_shards(items, size):
            remaining = None if work.folder.part(number).name in finished else batch
            yield {"number": number, "items": pickle.dumps(remaining), "pairs": len(batch), "first": first}
    except Exception as error:
        failure = explain_read_failure(capture(error))
        yield {"number": -1, "items": pickle.dumps(failure), "pairs": 0, "first": 0}


def _load(work: ShardWork) -> Any:
    """Load the aligner; return the error to end the run with if that fails."""
    try:
        return work.load()
    except BaseException as error:
        return explain_load_failure(capture(error), 1)


def _load_info(work: ShardWork) -> MethodInfo | Exception:
    method = _load(work)
    return method if isinstance(method, Exception) else describe_method(method)


def _write_centre(work: ShardWork, sample: CentreSample) -> FileRecord | Exception | None:
    method = _load(work)
    result = method if isinstance(method, Exception) else work.write_centre(sample, method)
    return explain_shard(result, 1, sample, work) if isinstance(result, CapturedError) else result


@contextmanager
def start_cluster(address: str | None, processors: int) -> Iterator[Any]:
    """Connect to Ray, or start it, with no output of its own except from processes that die.

    Args:
        address: Address of a cluster; None to start one on this machine.
        processors: Number of CPUs of a cluster that is started.

    Yields:
        The module `ray`.
    """
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    if not address:  # else Ray looks for the address of this machine in the network, and listens there
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    try:
        ray: Any = import_module("ray")
        import_module("ray.data")  # which has further dependencies
    except ImportError:
        raise ImportError("--engine ray needs Ray; pip install 'otalign[ray]'") from None
    started = not ray.is_initialized()
    if started:
        local = {} if address else {"num_cpus": processors, **_get_private_options()}
        try:
            ray.init(
                address=address or "local",
                runtime_env={"env_vars": ONE_THREAD},
                log_to_driver=False,
                logging_level=logging.CRITICAL,
                **local,
            )
        except EXPECTED:
            raise
        except Exception as error:  # Ray raises Exception itself if a node does not start in 30 seconds
            raise OSError(f"Ray cannot start; try again when the machine is less busy: {error}") from error
    try:
        yield ray
    except ray.exceptions.RayError as error:
        cause = describe(getattr(error, "cause", error))  # of a failed task: the error in it
        raise OSError(f"Ray failed; use --resume to continue: {cause}") from error
    finally:
        if started:
            ray.shutdown()


def _get_private_options() -> dict[str, Any]:
    """Return options of `ray.init` for a node that uses only this machine, its files and its network."""
    # Without a token in the environment, Ray writes one below the home folder.
    if "RAY_AUTH_TOKEN_PATH" not in os.environ and not Path("~/.ray/auth_token").expanduser().exists():
        os.environ.setdefault("RAY_AUTH_TOKEN", token_hex())
    # The dashboard process queries the cloud provider, even if usage statistics and the dashboard are off.
    # With an invalid port, Ray starts without that process.
    return {"include_dashboard": False, "dashboard_port": 65536}


def _check_gpus(ray: Any, gpus: float, address: str | None) -> None:
    """Raise ValueError if this machine has too few GPUs, for which Ray would wait; a cluster may grow."""
    available = ray.cluster_resources().get("GPU", 0)
    if gpus > available and not address:
        raise ValueError(f"--gpus must be at most {available:g}, the number on this machine, got {gpus:g}")


def _configure_data() -> Any:
    """Import Ray Data, configured so that each row goes to an idle actor as soon as it is available."""
    data: Any = import_module("ray.data")
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    context = data.DataContext.get_current()
    context.enable_progress_bars = False
    context.target_min_block_size = context.target_max_block_size = 1
    return data
