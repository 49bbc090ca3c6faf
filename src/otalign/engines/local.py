"""A corpus aligned shard by shard by processes of this machine, in memory that does not grow with it.

One reader hands a shard to each process that is free, so no more of the input is held than is being aligned.
"""

import warnings
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

from otalign.engines.folder import Folder
from otalign.engines.work import HEAD, SIZE, CorpusHead, OnAligned, Shard, ShardWork, Warn, split_into_shards
from otalign.engines.workers import Crew
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
    """Align all items into the folder of the work. `about` says what the run is, the aligner aside, and must
    not have changed when it is resumed. `warn` is told of files that are found damaged and made anew."""
    pairs = 0

    def count(more: int) -> None:
        nonlocal pairs
        pairs += more
        progress("aligning", pairs, about.get("pairs"))

    with Crew(work, processes) as crew, work.folder.lock():
        about = {**about, "shard_size": size, "aligner": crew.signature}
        kept = work.folder.begin(about, resume=resume)
        kept.warn(warn)
        stream = iter(items)
        if crew.centres and work.folder.centre is None:
            head, stream = ahead(stream)
            crew.keep_centre(head)
        for more in crew.written(_missing(split_into_shards(stream, size), work.folder, kept.whole, count)):
            count(more)
        work.folder.finish(about, pairs, size)


def ahead(items: Iterator[Item]) -> tuple[CorpusHead, Iterator[Item]]:
    """The first items, and all of them still to come. An error among the first comes where it was met."""
    head: list[Item] = []
    try:
        head.extend(islice(items, HEAD))  # keeps those before an error
    except ValueError as error:
        return CorpusHead(head), chain(head, _raise_later(error))
    return CorpusHead(head), chain(head, items)


def _raise_later(error: Exception) -> Iterator[Item]:
    raise error
    yield  # that it is raised when it is asked for


def _missing(
    every: Iterable[Shard], folder: Folder, whole: Container[str], count: OnAligned
) -> Iterator[Shard]:
    """The shards that are not written yet; of the others it is told that they are done."""
    for shard in every:
        if folder.part(shard.number).name in whole:
            count(len(shard.items))
        else:
            yield shard
