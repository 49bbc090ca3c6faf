"""What is done to a shard: so many consecutive pairs, aligned by themselves and written to a file.

An encoder's numbers depend a little on what is batched together. So the shards depend on the input alone,
and each is aligned by its own call: whoever aligns it, and how often, its bytes are the same.
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


class Shard(NamedTuple):
    number: int
    items: Sequence[Item]


@dataclass(frozen=True)
class Work:
    """The same for every shard. It can be pickled if `load` can; then each process has its own aligner."""

    folder: Folder
    load: Callable[[], Method]
    pretokenized: bool = False

    def pairs(self, items: Iterable[Item]) -> Iterator[Pair]:
        return (sentences(item, self.pretokenized) for item in items)

    def write(self, shard: Shard, method: Method, tell: Callable[[int], Any] = lambda pairs: None) -> None:
        """Align a shard and write it; told from time to time how many pairs more are aligned."""

        def told() -> Iterator[Any]:
            done = 0
            for done, alignment in enumerate(method.align_many(self.pairs(shard.items)), 1):
                yield alignment
                if done % TOLD == 0:
                    tell(TOLD)
            tell(done % TOLD)

        self.folder.write(shard.number, told())


def shards(items: Iterable[Item], size: int = SIZE) -> Iterator[Shard]:
    """Consecutive items, so many at a time, numbered from 0."""
    if size < 1:
        raise ValueError(f"size of a shard must be at least 1, got {size}; it counts pairs")
    items = iter(items)
    for number in count():
        if not (held := list(islice(items, size))):
            return
        yield Shard(number, held)


def centres_on_the_pairs_at_hand(method: Method) -> bool:
    """Whether a pair's links depend on the others of its call by more than rounding."""
    match method:
        case Aligner():
            return method.settings.centring and method.centre is None
        case SimAligner():
            return method.centring and method.centre is None
    return False


def centre_of(method: Aligner | SimAligner, pairs: Iterable[Pair]) -> Centre | None:
    """What a stream that begins with these pairs is centred on; None if they have no words."""
    if isinstance(method, Aligner):
        pairing, whitening = method.settings.pairing, method.settings.whitening
    else:
        pairing, whitening = method.pairing, 0.0
    held, words = first(embedded(pairs, method.encoder, pairing))
    return Centre.of((part for _, part in held), whitening) if words else None


def around(method: Method, centre: Centre | None) -> Method:
    """The method with a centre kept."""
    if centre is None or not isinstance(method, Aligner | SimAligner):
        return method
    return replace(method, centre=centre)
