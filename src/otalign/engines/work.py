"""What is done to a shard: so many consecutive pairs, aligned by themselves and written to a file.

An encoder's numbers depend a little on what is batched together. So the shards depend on the input alone,
and each is aligned by its own call: whoever aligns it, and how often, its bytes are the same. What they are
all centred on, if the aligner has no centre of its own, is found once and kept in the folder of the run.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import count, islice
from typing import Any, NamedTuple

from otalign.aligner import Aligner, Method, embed_pairs
from otalign.baselines import SimAligner
from otalign.encoders.whitening import Centre, hold_first
from otalign.engines.folder import Folder
from otalign.engines.records import FileRecord
from otalign.failures import CapturedError, capture
from otalign.io.items import Item, sentences
from otalign.text.words import Pair

SIZE = 8192  # pairs of a shard: a minute or two of work
REPORTED = 512  # pairs after which progress is reported
HEAD = 65_536  # pairs at most among which the centre of a corpus is sought

# With more threads, sums of the same numbers may be rounded otherwise, and bytes must not depend on that.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

OnAligned = Callable[[int], Any]  # called with the number of further pairs that are aligned
Warn = Callable[[str], Any]  # told, in a line, what the user should know though the run goes on


class Shard(NamedTuple):
    number: int
    items: Sequence[Item]
    first: int = 0  # index of its first item in the input


class CorpusHead(NamedTuple):
    """The first items of a corpus, to find its centre."""

    items: Sequence[Item]


class Ready(NamedTuple):
    """What an engine must know of the method before it begins."""

    signature: str
    centres: bool  # on the pairs at hand, unless it is given a centre


@dataclass(frozen=True)
class ShardWork:
    """The same for every shard. It can be pickled if `load` can; then each process has its own aligner."""

    folder: Folder
    load: Callable[[], Method]
    pretokenized: bool = False
    unit: str = "pair"  # what errors call an item: a line, where each line of the input is one

    def write(
        self, shard: Shard, method: Method, on_aligned: OnAligned = lambda pairs: None
    ) -> FileRecord | CapturedError:
        """Align a shard and write it; told from time to time how many pairs more are aligned.

        Returns:
            Size and digest of its file; or what went wrong, whatever it was, and with which pair if one alone
            is enough for it.
        """
        read = done = 0

        def pairs() -> Iterator[Pair]:
            nonlocal read
            for read, item in enumerate(shard.items, 1):  # noqa: B007
                yield sentences(item, self.pretokenized)

        def report() -> Iterator[Any]:
            nonlocal done
            for alignment in method.align_many(pairs()):
                yield alignment
                done += 1
                if done % REPORTED == 0:
                    on_aligned(REPORTED)
            on_aligned(done % REPORTED)

        try:
            method = _around(method, self.folder.centre)
            return self.folder.write(shard.number, report())
        except BaseException as error:  # SystemExit and panics of Rust, too, must not end the process unheard
            if isinstance(error, OSError | MemoryError | ImportError):
                return capture(error)
            return capture(error, self._find_failure(shard.items, method, range(done, read)))

    def _find_failure(self, items: Sequence[Item], method: Method, among: Iterable[int]) -> int | None:
        """Return the index of the first item that cannot be aligned and written by itself."""
        for place in among:
            try:
                pair = sentences(items[place], self.pretokenized)
                self.folder.form.write([method.align(*pair)], BytesIO())
            except BaseException:
                return place
        return None

    def keep_centre(self, head: CorpusHead, method: Method) -> FileRecord | CapturedError | None:
        """Keep what a stream that begins so is centred on; nothing if it has no words."""
        assert isinstance(method, Aligner | SimAligner)
        whitening = method.settings.whitening if isinstance(method, Aligner) else 0.0
        pairing = method.settings.pairing if isinstance(method, Aligner) else method.pairing
        try:
            held, words = hold_first(embed_pairs(self._pairs(head.items), method.encoder, pairing))
            return self.folder.keep(Centre.fit((part for _, part in held), whitening)) if words else None
        except BaseException as error:
            return capture(error)

    def _pairs(self, items: Iterable[Item]) -> Iterator[Pair]:
        return (sentences(item, self.pretokenized) for item in items)


def split_into_shards(items: Iterable[Item], size: int = SIZE) -> Iterator[Shard]:
    """Consecutive items, so many at a time, numbered from 0."""
    if size < 1:
        raise ValueError(f"size of a shard must be at least 1, got {size}; it counts pairs")
    items = iter(items)
    for number in count():
        if not (held := list(islice(items, size))):
            return
        yield Shard(number, held, number * size)


def describe_method(method: Method) -> Ready:
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
