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
from importlib import import_module
from typing import Any

from otalign.aligner import Aligner, Method
from otalign.centring import Centre
from otalign.corpus.items import Item
from otalign.corpus.parquet import library
from otalign.engines.local import Seen, Tell, ahead, missing
from otalign.engines.work import (
    HEAD,
    SIZE,
    Shard,
    Work,
    around,
    centre_of,
    centres_on_the_pairs_at_hand,
    shards,
)
from otalign.engines.workers import ONE_THREAD
from otalign.peers import SimAligner

END = -1  # the number of a row after the last shard


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
    with _cluster(address, processes * threads + 1) as ray:  # one for the reader
        data = _data()
        head = ahead(iter(items), HEAD)[0] if work.folder.centre is None else []
        prepared = ray.remote(**share)(_prepared)
        signature, centre = ray.get(prepared.remote(work, ray.put(head), work.folder.centre))
        about = {**about, "shard_size": size, "aligner": signature}
        work.folder.begin(about, resume=resume)
        if centre is not None:
            work.folder.keep(centre)
        tell(size * len(list(work.folder.path.glob("part-*"))))
        read = data.read_datasource(_source(items, work, size), override_num_blocks=1)
        written = read.map_batches(
            Actor,
            fn_constructor_args=(work, centre),
            batch_size=1,
            compute=data.ActorPoolStrategy(size=processes),
            **share,
        )
        pairs = 0
        for row in written.iter_rows():
            if row["number"] == END:
                pairs = row["pairs"]
            else:
                tell(row["pairs"])
        work.folder.finish({**about, "pairs": pairs, "shards": -(-pairs // size)})


class Actor:
    """Aligns and writes shards, a row each, and gives back how many pairs there were."""

    def __init__(self, work: Work, centre: Centre | None):
        self.work, self.method = work, around(work.load(), centre)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        (number,), (items,) = batch["number"], batch["items"]
        if number != END:
            self.work.write(Shard(int(number), pickle.loads(items)), self.method)
        return {"number": batch["number"], "pairs": batch["pairs"]}


def _prepared(work: Work, head: list[Item], centre: Centre | None) -> tuple[str, Centre | None]:
    """The signature of the aligner, and the centre for all shards if there is to be one."""
    method: Method = work.load()
    if centre is None and centres_on_the_pairs_at_hand(method):
        assert isinstance(method, Aligner | SimAligner)
        centre = centre_of(method, work.pairs(head))
    return method.signature, centre


def rows(items: Iterable[Item], work: Work, size: int) -> Iterator[dict[str, list[Any]]]:
    """A row for each shard that is missing, and one after them with the number of all pairs."""
    seen = Seen()
    for shard in missing(shards(seen.all(items), size), work, lambda pairs: None):
        held = pickle.dumps(list(shard.items))
        yield {"number": [shard.number], "items": [held], "pairs": [len(shard.items)]}
    yield {"number": [END], "items": [b""], "pairs": [seen.pairs]}


def _source(items: Iterable[Item], work: Work, size: int) -> Any:
    """The rows as something that Ray Data reads: by one task, which waits while enough of them are held."""
    table = library().table
    task, block = import_module("ray.data.datasource").ReadTask, import_module("ray.data.block")

    class Shards(import_module("ray.data").Datasource):
        def estimate_inmemory_data_size(self) -> None:
            return None

        def get_read_tasks(self, parallelism: int, *_: Any, **__: Any) -> list[Any]:
            unknown = block.BlockMetadata(num_rows=None, size_bytes=None, exec_stats=None)
            return [task(lambda: map(table, rows(items, work, size)), unknown)]

    return Shards()


@contextmanager
def _cluster(address: str | None, processors: int) -> Iterator[Any]:
    """Ray, started unless it is running, and silent: the caller tells of the progress."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would call home
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    try:
        ray: Any = import_module("ray")
        import_module("ray.data")  # which needs more than Ray does
    except ImportError:
        raise ImportError("--engine ray needs Ray; pip install 'otalign[ray]'") from None
    if ray.is_initialized():
        yield ray
        return
    here = {} if address else {"num_cpus": processors, "include_dashboard": False}
    ray.init(
        address=address or "local",
        runtime_env={"env_vars": ONE_THREAD},
        log_to_driver=False,
        logging_level=logging.ERROR,
        **here,
    )
    try:
        yield ray
    finally:
        ray.shutdown()


def _data() -> Any:
    """Ray Data, set so that each row is handed on as soon as it is there, to whichever actor is free."""
    data: Any = import_module("ray.data")
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = data.DataContext.get_current()
    context.enable_progress_bars = False
    context.target_min_block_size = context.target_max_block_size = 1
    return data
