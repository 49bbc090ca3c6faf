"""The same shards by Ray Data: a task reads them one by one, a pool of actors aligns them, an aligner each.

Actors write shards themselves, into a folder that all machines see. A shard that is aligned again, since its
actor or machine was lost, is written again, the same bytes under the same name: nothing is lost or doubled.
It needs Ray, the extra `ray`.
"""

import logging
import os
import pickle
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from secrets import token_hex
from typing import Any

from otalign.corpus.items import Item
from otalign.engines.local import ahead
from otalign.engines.work import ONE_THREAD, SIZE, Head, Ready, Shard, Tell, Work, ready, shards
from otalign.engines.workers import OURS


def align(
    items: Iterable[Item],
    work: Work,
    about: Mapping[str, Any],
    *,
    size: int = SIZE,
    processes: int = 1,
    threads: int = 1,
    gpus: float = 0,
    address: str | None = None,
    resume: bool = False,
    tell: Tell = lambda pairs: None,
) -> None:
    """What `otalign.engines.align` does, by `processes` actors with so many threads and such a share of a GPU
    each, on the cluster at an address or else on one that is started here for the time."""
    share = {"num_cpus": threads, "num_gpus": gpus}
    with cluster(address, processes * threads + 1) as ray:  # one for the reader
        _check_gpus(ray, gpus, address)
        there = ray.remote(**share)
        signature, centres = ray.get(there(_ready).remote(work))
        about = {**about, "shard_size": size, "aligner": signature}
        work.folder.begin(about, resume=resume)
        if centres and work.folder.centre is None:
            head, _ = ahead(iter(items))
            ray.get(there(_keep_centre).remote(work, head))
        written = (
            _data()
            .range(1)
            .flat_map(partial(_rows, items, work, size))
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
            if row["error"]:
                raise pickle.loads(row["error"])
            pairs += row["pairs"]
            tell(row["pairs"])
        work.folder.finish(about, pairs, size)


class Actor:
    """Aligns and writes shards, a row each, and gives back how many pairs there were, and what went wrong."""

    def __init__(self, work: Work):
        self.work, self.method = work, work.load()

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        (number,), (pickled,) = batch["number"], batch["items"]
        error = b""
        try:
            match pickle.loads(pickled):
                case Exception() as met:
                    raise met
                case [*items]:
                    self.work.write(Shard(int(number), items), self.method)
        except OURS as met:
            error = pickle.dumps(met)
        return {"pairs": batch["pairs"], "error": [error]}


def _rows(items: Iterable[Item], work: Work, size: int, _: object) -> Iterator[dict[str, Any]]:
    """A row for each shard, without items where it is written already, and one for an error. If the reader
    is lost, Ray has it begin again and takes up after the rows that it got: so none may be left out."""
    try:
        for number, held in shards(items, size):
            to_do = None if work.folder.part(number).exists() else held
            yield {"number": number, "items": pickle.dumps(to_do), "pairs": len(held)}
    except OURS as error:
        yield {"number": -1, "items": pickle.dumps(error), "pairs": 0}


def _ready(work: Work) -> Ready:
    return ready(work.load())


def _keep_centre(work: Work, head: Head) -> None:
    work.keep_centre(head, work.load())


@contextmanager
def cluster(address: str | None, processors: int) -> Iterator[Any]:
    """Ray, started unless it is running, and silent but of processes that die: the caller tells of the
    progress. An error of a task is raised as it was there."""
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
        ray.init(
            address=address or "local",
            runtime_env={"env_vars": ONE_THREAD},
            log_to_driver=False,
            logging_level=logging.CRITICAL,
            **here,
        )
    try:
        yield ray
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except ray.exceptions.RayError as error:
        raise OSError(f"Ray gave up, --resume goes on: {error}") from error
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
