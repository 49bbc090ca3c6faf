"""Alignment of shards by Ray Data: a task reads them, and a pool of actors aligns them.

Actors write shards themselves, into a folder that all machines share. A shard that is aligned again because
its actor or machine was lost is written again, with the same bytes and name: nothing is lost or duplicated.
It needs Ray, the extra `ray`.
"""

import logging
import pickle
import warnings
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any

from otalign.engines.cluster import RayOptions, check_gpus, start_cluster
from otalign.engines.faults import (
    ends_the_run,
    explain_load_failure,
    explain_read_failure,
    explain_shard,
    report_death,
)
from otalign.engines.folder import CENTRE, TRIES
from otalign.engines.records import FileRecord
from otalign.engines.work import (
    CentreSample,
    MethodInfo,
    Shard,
    ShardWork,
    describe_method,
    read_sample,
    split_into_shards,
)
from otalign.failures import CapturedError, capture
from otalign.io.items import Item
from otalign.languages import LanguageWarning


@contextmanager
def start_actors(work: ShardWork, processes: int, options: RayOptions) -> Iterator["ActorPool"]:
    """Start Ray, or connect to it, for the work of a run.

    Args:
        work: The aligner and the output folder.
        processes: Number of actors, with an aligner each.
        options: Resources of the actors, and the cluster.

    Yields:
        The actors.
    """
    processors = processes * options.threads + 1  # one for the reader
    with start_cluster(options.address, processors) as ray:
        check_gpus(ray, options)
        yield ActorPool(ray, work, processes, options)


class ActorPool:
    """The actors of one run. Ray Data starts them when the shards are read.

    Attributes:
        method: Properties of the aligner that the actors load.
    """

    def __init__(self, ray: Any, work: ShardWork, processes: int, options: RayOptions) -> None:
        self.ray, self.work, self.processes, self.options = ray, work, processes, options
        self.method: MethodInfo = self._run(_load_info, work)

    def write_centre(self, items: Iterable[Item]) -> Iterable[Item]:
        """Have a task compute the centre of the corpus, and record its file."""
        sample, _ = read_sample(iter(items))
        if record := self._run(_write_centre, self.work, sample):
            self.work.folder.record(CENTRE, record)
        return items

    def write_shards(self, items: Iterable[Item], size: int, finished: Container[str]) -> Iterator[int]:
        """Align and write all shards that are not finished.

        Args:
            items: The corpus. An error in reading it is raised once the shards before it are written.
            size: Pairs per shard.
            finished: Names of the files that need not be written.

        Yields:
            Numbers of pairs that were aligned.
        """
        rows = (
            _configure_data()
            .range(1)
            .flat_map(partial(_make_rows, items, self.work, size, finished))
            .map_batches(
                Actor,
                fn_constructor_args=(self.work,),
                batch_size=1,  # one shard; it also keeps the reader out of the actors
                compute=self.ray.data.ActorPoolStrategy(size=self.processes),
                **self.options.resources,
            )
        )
        for row in rows.iter_rows():
            _record(self.work, row)
            if row["warning"]:
                warnings.warn(row["warning"], LanguageWarning, stacklevel=1)
            yield row["pairs"]

    def _run(self, function: Any, *args: Any) -> Any:
        """Run a function that loads the aligner as a task; raise the error that it returns, if any."""
        remote = self.ray.remote(max_retries=TRIES - 1, **self.options.resources)
        try:
            result = self.ray.get(remote(function).remote(*args))
        except self.ray.exceptions.WorkerCrashedError:
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

    Ray restarts an actor that dies, without limit and without notice, and repeats its task. Each attempt
    therefore leaves a mark in the folder until it has ended, and the marks of three dead actors end the run.
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

    If the reader is lost, Ray restarts it and skips as many rows as it has received, so no row may be
    omitted.
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


def _configure_data() -> Any:
    """Import Ray Data, configured so that each row goes to an idle actor as soon as it is available."""
    data: Any = import_module("ray.data")
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    context = data.DataContext.get_current()
    context.enable_progress_bars = False
    context.target_min_block_size = context.target_max_block_size = 1
    return data
