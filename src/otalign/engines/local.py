"""A corpus aligned shard by shard by processes of this machine, in memory that does not grow with it.

One reader hands a shard to each process that is free, so no more of the input is held than is being aligned.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

from otalign.corpus.items import Item
from otalign.engines.work import HEAD, SIZE, Shard, Work, shards
from otalign.engines.workers import Crew

Tell = Callable[[int], Any]  # told how many pairs more are done


def align(
    items: Iterable[Item],
    work: Work,
    about: Mapping[str, Any],
    *,
    size: int = SIZE,
    processes: int = 1,
    threads: int = 1,
    resume: bool = False,
    tell: Tell = lambda pairs: None,
) -> None:
    """Align all items into the folder of the work. `about` says what the run is, the aligner aside, and must
    not have changed when it is resumed. `threads` are those of each process."""
    with Crew(work, processes, threads) as crew:
        about = {**about, "shard_size": size, "aligner": crew.signature}
        work.folder.begin(about, resume=resume)
        stream = iter(items)
        if crew.centres:
            stream = _centred(stream, work, crew)
        seen = Seen()
        for done in crew.written(missing(shards(seen.all(stream), size), work, tell)):
            tell(done)
        work.folder.finish({**about, "pairs": seen.pairs, "shards": -(-seen.pairs // size)})


class Seen:
    """How many items have gone by."""

    pairs = 0

    def all(self, items: Iterable[Item]) -> Iterator[Item]:
        for item in items:
            self.pairs += 1
            yield item


def missing(every: Iterable[Shard], work: Work, tell: Tell) -> Iterator[Shard]:
    """The shards that are not written yet; of the others it is told that they are done."""
    for shard in every:
        if work.folder.part(shard.number).exists():
            tell(len(shard.items))
        else:
            yield shard


def ahead(items: Iterator[Item], most: int) -> tuple[list[Item], Iterator[Item]]:
    """The first items, and all of them still to come. An error among the first comes where it was met."""
    head: list[Item] = []
    try:
        head.extend(islice(items, most))  # keeps those before an error
    except ValueError as error:
        return head, chain(head, _raising(error))
    return head, chain(head, items)


def _raising(error: Exception) -> Iterator[Item]:
    raise error
    yield  # that it is raised when it is asked for


def _centred(items: Iterator[Item], work: Work, crew: Crew) -> Iterator[Item]:
    """The same items, after all processes were given one centre: that of the first, kept with the run."""
    centre = work.folder.centre
    if centre is None:
        head, items = ahead(items, HEAD)
        centre = crew.centre_of(head)
        if centre is not None:
            work.folder.keep(centre)
    crew.centre_on(centre)
    return items
