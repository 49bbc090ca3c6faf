"""Alignment of a corpus, shard by shard, in constant memory, by processes of this machine or by Ray."""

import warnings
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from otalign.engines.cluster import RayOptions
from otalign.engines.ray import start_actors
from otalign.engines.work import SIZE, MethodInfo, ShardWork, Warn
from otalign.engines.workers import WorkerPool
from otalign.io.items import Item
from otalign.progress import Progress, no_progress


class ShardWorkers(Protocol):
    """Processes that align shards, with an aligner each."""

    @property
    def method(self) -> MethodInfo:
        """Properties of the aligner that the processes have loaded."""
        ...

    def write_centre(self, items: Iterable[Item]) -> Iterable[Item]:
        """Compute the centre of a corpus from its first items, and write it; return all items."""
        ...

    def write_shards(self, items: Iterable[Item], size: int, finished: Container[str]) -> Iterator[int]:
        """Write the shards that are not among the finished files; yield numbers of aligned pairs."""
        ...


def align(
    items: Iterable[Item],
    work: ShardWork,
    about: Mapping[str, Any],
    *,
    size: int = SIZE,
    processes: int = 1,
    workers: int | None = 0,
    ray: RayOptions | None = None,
    resume: bool = False,
    progress: Progress = no_progress,
    warn: Warn = warnings.warn,
) -> None:
    """Align all items into a folder.

    Args:
        items: The corpus. With Ray, which reads it in another process, it must be picklable.
        work: The aligner and the output folder.
        about: Description of the run, without the aligner. It must be the same when the run is resumed.
        size: Pairs per shard.
        processes: Number of processes, with an aligner each.
        workers: Number of processes that prepare text and write shards beside one process with the aligner;
            None for as many as this machine has processors for, if the model is on a GPU.
        ray: Options of Ray, whose actors are the processes; None to use processes of this machine.
        resume: Whether to continue the run in the folder.
        progress: Function that is called with the number of pairs that were aligned.
        warn: Function that is called with a line about damaged files that are written again.

    Raises:
        ValueError: If the folder holds another run or is in use, or there are too few GPUs.
        ChildProcessError: If a shard cannot be aligned.
        OSError: If Ray fails.

    Example:
        >>> from pathlib import Path
        >>> from otalign import Aligner
        >>> from otalign.engines import Folder, OutputFormat, ShardWork, align
        >>> from otalign.io import TextPair
        >>> work = ShardWork(Folder(Path("out"), OutputFormat("pharaoh")), load=Aligner.load)
        >>> align([TextPair("a used car", "a car")] * 3, work, {"input": "an example"}, size=2)
        >>> sorted(file.name for file in Path("out").glob("part-*"))
        ['part-000000.txt', 'part-000001.txt']
    """
    starting: AbstractContextManager[ShardWorkers] = (
        WorkerPool(work, processes, workers) if ray is None else start_actors(work, processes, ray)
    )
    with starting as pool, work.folder.lock():
        about = {**about, "shard_size": size, "aligner": pool.method.signature}
        previous = work.folder.begin(about, resume=resume)
        previous.warn(warn)
        if pool.method.needs_centre and work.folder.centre is None:
            items = pool.write_centre(items)
        pairs = 0
        for more in pool.write_shards(items, size, previous.intact):
            pairs += more
            progress("aligning", pairs, about.get("pairs"))
        work.folder.finish(about, pairs, size)
