"""The same shards by Ray Data: a task reads them one by one, a pool of actors aligns them, an aligner each.

Actors write shards themselves, into a folder that all machines see. A shard that is aligned again, since its
actor or machine was lost, is written again, the same bytes under the same name: nothing is lost or doubled.
It needs Ray, the extra `ray`.
"""

import logging
import os
import pickle
import warnings
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
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
from otalign.engines.local import ahead
from otalign.engines.records import FileRecord
from otalign.engines.work import (
    ONE_THREAD,
    SIZE,
    CorpusHead,
    Ready,
    Shard,
    ShardWork,
    Warn,
    describe_method,
    split_into_shards,
)
from otalign.failures import EXPECTED, CapturedError, capture, describe
from otalign.io.items import Item
from otalign.progress import Progress, no_progress


def align(
    items: Iterable[Item],
    work: ShardWork,
    about: Mapping[str, Any],
    *,
    size: int = SIZE,
    processes: int = 1,
    threads: int = 1,
    gpus: float = 0,
    address: str | None = None,
    resume: bool = False,
    progress: Progress = no_progress,
    warn: Warn = warnings.warn,
) -> None:
    """What `otalign.engines.align` does, by `processes` actors with so many threads and such a share of a GPU
    each, on the cluster at an address or else on one that is started here for the time."""
    share = {"num_cpus": threads, "num_gpus": gpus}
    with cluster(address, processes * threads + 1) as ray:  # one for the reader
        _check_gpus(ray, gpus, address)
        there = ray.remote(max_retries=TRIES - 1, **share)
        signature, centres = _result(ray, there(_ready).remote(work))
        with work.folder.lock():
            about = {**about, "shard_size": size, "aligner": signature}
            kept = work.folder.begin(about, resume=resume)
            kept.warn(warn)
            if centres and work.folder.centre is None:
                head, _ = ahead(iter(items))
                if record := _result(ray, there(_keep_centre).remote(work, head)):
                    work.folder.record(CENTRE, record)
            written = (
                _data()
                .range(1)
                .flat_map(partial(_rows, items, work, size, kept.whole))
                .map_batches(
                    Actor,
                    fn_constructor_args=(work,),
                    batch_size=1,  # a shard; it also keeps the reader out of the actors
                    compute=ray.data.ActorPoolStrategy(size=processes),
                    **share,
                )
            )
            pairs = 0
            for row in written.iter_rows():
                _record(work, row)
                pairs += row["pairs"]
                progress("aligning", pairs, about.get("pairs"))
            work.folder.finish(about, pairs, size)


def _result(ray: Any, task: Any) -> Any:
    """Wait for a task that loads the aligner; an error that it returns is raised."""
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
    """Aligns and writes shards, a row each, and gives back their records, or what went wrong.

    An actor that dies is started again by Ray, without end, to do again what it died of, and nobody is told.
    So each attempt leaves a mark in the folder until it has ended, and three marks of the dead end the run.
    """

    def __init__(self, work: ShardWork):
        self.work = work
        actor = import_module("ray").get_runtime_context().get_actor_id()  # the same when it is restarted
        try:
            with work.folder.attempt(f"loading-{actor}") as others:
                died = others >= TRIES
                self.method: Any = explain_load_failure(report_death(), others) if died else _load(work)
        except OSError as error:
            self.method = error

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        (number,), (pickled,), (first,) = batch["number"], batch["items"], batch["first"]
        result = pickle.loads(pickled)
        if isinstance(self.method, Exception):
            result = self.method
        elif isinstance(result, list):
            shard = Shard(int(number), result, int(first))
            try:
                result = self._write(shard)
            except OSError as error:  # from the mark of the attempt
                result = explain_shard(capture(error), 1, shard, self.work)
        return {"number": batch["number"], "pairs": batch["pairs"], "result": [pickle.dumps(result)]}

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


def _rows(
    items: Iterable[Item], work: ShardWork, size: int, whole: Container[str], _: object
) -> Iterator[dict[str, Any]]:
    """A row for each shard, without items where it is written already, and one for an error. If the reader
    is lost, Ray has it begin again and takes up after the rows that it got: so none may be left out."""
    try:
        for number, held, first in split_into_shards(items, size):
            to_do = None if work.folder.part(number).name in whole else held
            yield {"number": number, "items": pickle.dumps(to_do), "pairs": len(held), "first": first}
    except Exception as error:
        said = explain_read_failure(capture(error))
        yield {"number": -1, "items": pickle.dumps(said), "pairs": 0, "first": 0}


def _load(work: ShardWork) -> Any:
    """Load the aligner; return the error to end the run with if that fails."""
    try:
        return work.load()
    except BaseException as error:
        return explain_load_failure(capture(error), 1)


def _ready(work: ShardWork) -> Ready | Exception:
    method = _load(work)
    return method if isinstance(method, Exception) else describe_method(method)


def _keep_centre(work: ShardWork, head: CorpusHead) -> FileRecord | Exception | None:
    method = _load(work)
    result = method if isinstance(method, Exception) else work.keep_centre(head, method)
    return explain_shard(result, 1, head, work) if isinstance(result, CapturedError) else result


@contextmanager
def cluster(address: str | None, processors: int) -> Iterator[Any]:
    """Ray, started unless it is running, and silent but of processes that die: the caller tells of the
    progress."""
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    if not address:  # else Ray asks for a way out to find the address of this machine, and listens there
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    try:
        ray: Any = import_module("ray")
        import_module("ray.data")  # which needs more than Ray does
    except ImportError:
        raise ImportError("--engine ray needs Ray; pip install 'otalign[ray]'") from None
    started = not ray.is_initialized()
    if started:
        here = {} if address else {"num_cpus": processors, **_private_node()}
        try:
            ray.init(
                address=address or "local",
                runtime_env={"env_vars": ONE_THREAD},
                log_to_driver=False,
                logging_level=logging.CRITICAL,
                **here,
            )
        except EXPECTED:
            raise
        except Exception as error:  # its very class, if a node is not there after 30 seconds
            raise OSError(f"Ray cannot start, try again when the machine has less to do: {error}") from error
    try:
        yield ray
    except ray.exceptions.RayError as error:
        cause = describe(getattr(error, "cause", error))  # of a task, what was raised there
        raise OSError(f"Ray gave up, --resume goes on: {cause}") from error
    finally:
        if started:
            ray.shutdown()


def _private_node() -> dict[str, Any]:
    """Return the options of `ray.init` for a node that keeps to this machine, its files and its network."""
    # Without a token in the environment, Ray writes one below the home folder.
    if "RAY_AUTH_TOKEN_PATH" not in os.environ and not Path("~/.ray/auth_token").expanduser().exists():
        os.environ.setdefault("RAY_AUTH_TOKEN", token_hex())
    # The process of the dashboard asks for the cloud that it runs in, even with usage statistics off and when
    # it is not wanted. A port that does not exist is how Ray goes on without that process.
    return {"include_dashboard": False, "dashboard_port": 65536}


def _check_gpus(ray: Any, gpus: float, address: str | None) -> None:
    """A cluster may grow; this machine does not, and Ray would wait."""
    there = ray.cluster_resources().get("GPU", 0)
    if gpus > there and not address:
        raise ValueError(f"--gpus must be at most what is here, {there:g}, got {gpus:g}")


def _data() -> Any:
    """Ray Data, set so that each row is handed on as soon as it is there, to whichever actor is free."""
    data: Any = import_module("ray.data")
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    context = data.DataContext.get_current()
    context.enable_progress_bars = False
    context.target_min_block_size = context.target_max_block_size = 1
    return data
