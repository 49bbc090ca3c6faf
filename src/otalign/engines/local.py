"""Alignment of a corpus, shard by shard, by processes of this machine, in constant memory.

A shard is read when a process is free, so that only the shards that are being aligned are in memory.
"""

import warnings
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

from otalign.engines.folder import Folder
from otalign.engines.work import (
    SAMPLE_SIZE,
    SIZE,
    CentreSample,
    OnAligned,
    Shard,
    ShardWork,
    Warn,
    split_into_shards,
)
from otalign.engines.workers import WorkerPool
from otalign.io.items import Item
from otalign.progress import Progress, no_progress


def align(
    items: Iterable[Item],
    work: ShardWork,
    about: Mapping[str, Any],
    *,
    size: int = SIZE,
    processes: int = 1,
    resume: bool = False,
    progress: Progress = no_progress,
    warn: Warn = warnings.warn,
) -> None:
    """Align all items into a folder.

    Args:
        items: The corpus.
        work: The aligner and the output folder.
        about: Description of the run, without the aligner. It must be the same when the run is resumed.
        size: Pairs per shard.
        processes: Number of processes, with an aligner each.
        resume: Whether to continue the run in the folder.
        progress: Function that is called with the number of pairs that were aligned.
        warn: Function that is called with a line about damaged files that are written again.

    Raises:
        ValueError: If the folder holds another run, or is in use.
        ChildProcessError: If a shard cannot be aligned.

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
    pairs = 0

    def count(more: int) -> None:
        nonlocal pairs
        pairs += more
        progress("aligning", pairs, about.get("pairs"))

    with WorkerPool(work, processes) as pool, work.folder.lock():
        about = {**about, "shard_size": size, "aligner": pool.method.signature}
        previous = work.folder.begin(about, resume=resume)
        previous.warn(warn)
        stream = iter(items)
        if pool.method.centres and work.folder.centre is None:
            sample, stream = read_sample(stream)
            pool.write_centre(sample)
        shards = _find_missing(split_into_shards(stream, size), work.folder, previous.intact, count)
        for more in pool.write_shards(shards):
            count(more)
        work.folder.finish(about, pairs, size)


def read_sample(items: Iterator[Item]) -> tuple[CentreSample, Iterator[Item]]:
    """Return the first items, and a stream of all items; an error among the first is raised in its place."""
    sample: list[Item] = []
    try:
        sample.extend(islice(items, SAMPLE_SIZE))  # keeps the items before an error
    except ValueError as error:
        return CentreSample(sample), chain(sample, _raise_later(error))
    return CentreSample(sample), chain(sample, items)


def _raise_later(error: Exception) -> Iterator[Item]:
    raise error
    yield  # makes this a generator, which raises when it is iterated over


def _find_missing(
    shards: Iterable[Shard], folder: Folder, finished: Container[str], on_aligned: OnAligned
) -> Iterator[Shard]:
    """Yield the shards that are not written yet, and report the pairs of the others."""
    for shard in shards:
        if folder.part(shard.number).name in finished:
            on_aligned(len(shard.items))
        else:
            yield shard
