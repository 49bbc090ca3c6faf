"""What is done to a shard: so many consecutive pairs, aligned by themselves and written to a file.

An encoder's numbers depend a little on what is batched together. So the shards depend on the input alone,
and each is aligned by its own call: whoever aligns it, and how often, its bytes are the same. What they are
all centred on, if the aligner has no centre of its own, is found once and kept in the folder of the run.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from typing import Any, NamedTuple

from otalign.aligner import Aligner, Method, Pair, embedded
from otalign.centring import Centre, first
from otalign.corpus.items import Item, sentences
from otalign.engines.folder import Folder
from otalign.peers import SimAligner

SIZE = 8192  # pairs of a shard: a minute or two of work
TOLD = 512  # pairs after which progress is told
HEAD = 65_536  # pairs at most among which the centre of a corpus is sought

# With more threads, sums of the same numbers may be rounded otherwise, and bytes must not depend on that.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

Tell = Callable[[int], Any]  # told how many pairs more are done


class Shard(NamedTuple):
    number: int
    items: Sequence[Item]


class Head(NamedTuple):
    """The first items of a corpus, to find its centre."""

    items: Sequence[Item]


class Ready(NamedTuple):
    """What an engine must know of the method before it begins."""

    signature: str
    centres: bool  # on the pairs at hand, unless it is given a centre


@dataclass(frozen=True)
class Work:
    """The same for every shard. It can be pickled if `load` can; then each process has its own aligner."""

    folder: Folder
    load: Callable[[], Method]
    pretokenized: bool = False

    def write(self, shard: Shard, method: Method, tell: Tell = lambda pairs: None) -> None:
        """Align a shard and write it; told from time to time how many pairs more are aligned."""
        method = _around(method, self.folder.centre)

        def told() -> Iterator[Any]:
            done = 0
            for done, alignment in enumerate(method.align_many(self._pairs(shard.items)), 1):
                yield alignment
                if done % TOLD == 0:
                    tell(TOLD)
            tell(done % TOLD)

        self.folder.write(shard.number, told())

    def keep_centre(self, head: Head, method: Method) -> None:
        """Keep what a stream that begins so is centred on; nothing if it has no words."""
        assert isinstance(method, Aligner | SimAligner)
        whitening = method.settings.whitening if isinstance(method, Aligner) else 0.0
        pairing = method.settings.pairing if isinstance(method, Aligner) else method.pairing
        held, words = first(embedded(self._pairs(head.items), method.encoder, pairing))
        if words:
            self.folder.keep(Centre.of((part for _, part in held), whitening))

    def _pairs(self, items: Iterable[Item]) -> Iterator[Pair]:
        return (sentences(item, self.pretokenized) for item in items)


def shards(items: Iterable[Item], size: int = SIZE) -> Iterator[Shard]:
    """Consecutive items, so many at a time, numbered from 0."""
    if size < 1:
        raise ValueError(f"size of a shard must be at least 1, got {size}; it counts pairs")
    items = iter(items)
    for number in count():
        if not (held := list(islice(items, size))):
            return
        yield Shard(number, held)


def ready(method: Method) -> Ready:
    match method:
        case Aligner():
            centres = method.settings.centring and method.centre is None
        case SimAligner():
            centres = method.centring and method.centre is None
        case _:
            centres = False
    return Ready(method.signature, centres)


def _around(method: Method, centre: Centre | None) -> Method:
    """The method with a centre kept."""
    if centre is None or not isinstance(method, Aligner | SimAligner):
        return method
    return replace(method, centre=centre)
