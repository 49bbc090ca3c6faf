"""The work on a shard: consecutive pairs that are aligned together and written to a file.

The embeddings of a pair depend slightly on the batch that it is in. Shards depend on the input alone, and
each is aligned by a separate call, so that its bytes are the same whichever process aligns it, and however
often. If the aligner has no centre, that of the corpus is computed once and written into the folder.
"""

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import chain, count, islice
from typing import Any, NamedTuple

from otalign.aligner import Aligner
from otalign.alignment import Alignment
from otalign.baselines import SimAligner
from otalign.collector import pause_collection
from otalign.encoders.chunks import embed_pairs
from otalign.encoders.whitening import Centre, read_first
from otalign.engines.folder import Folder
from otalign.engines.records import FileRecord
from otalign.engines.remote import RemoteAligner, TextStage
from otalign.failures import CapturedError, capture
from otalign.io.items import Item, get_fields, make_sentences
from otalign.link_arrays import LinkedPairs
from otalign.method import Method
from otalign.text.words import Pair

SIZE = 8192  # pairs per shard: a minute or two of work
PROGRESS_INTERVAL = 512  # pairs between reports of progress
SAMPLE_SIZE = 65_536  # maximum number of pairs to compute the centre of a corpus from

Fields = Mapping[str, Any] | None  # further fields of an item
OnAligned = Callable[[int], Any]  # called with the number of further pairs that are aligned
Warn = Callable[[str], Any]  # called with a line for the user; the run continues


class Shard(NamedTuple):
    """Consecutive items of a corpus.

    Attributes:
        number: Number of the shard, from 0.
        items: The items.
        first: Index of the first item in the input.

    Example:
        >>> from otalign.engines import Shard
        >>> from otalign.io import TextPair
        >>> Shard(3, [TextPair("yes", "ja")], first=24).number
        3
    """

    number: int
    items: Sequence[Item]
    first: int = 0


class CentreSample(NamedTuple):
    """The first items of a corpus, from which its centre is computed."""

    items: Sequence[Item]


class MethodInfo(NamedTuple):
    """Properties of an aligner that an engine needs.

    Attributes:
        signature: Its signature.
        needs_centre: Whether it centres embeddings but has no centre, so that all shards need a common one.
        on_gpu: Whether its model is on a GPU.
        text_stage: A pickled `TextStage`, for processes without the model; None if it has none.
    """

    signature: str
    needs_centre: bool
    on_gpu: bool = False
    text_stage: bytes | None = None


@dataclass(frozen=True)
class ShardWork:
    r"""The work on every shard. It can be pickled if `load` can; each process then has its own aligner.

    Attributes:
        folder: The output folder.
        load: Function that loads the aligner.
        pretokenized: Whether the words of a text are separated by spaces.
        unit: Name of an item in error messages, such as `line` where each line of the input is an item.

    Example:
        >>> from pathlib import Path
        >>> from otalign import Aligner
        >>> from otalign.engines import Folder, OutputFormat, Shard, ShardWork
        >>> from otalign.io import TextPair
        >>> work = ShardWork(Folder(Path("."), OutputFormat("pharaoh")), load=Aligner.load)
        >>> work.write(Shard(0, [TextPair("a used car", "a car")]), work.load()).bytes
        8
        >>> work.folder.part(0).read_text()
        '0-0 2-1\n'
    """

    folder: Folder
    load: Callable[[], Method]
    pretokenized: bool = False
    unit: str = "pair"

    def write(
        self, shard: Shard, method: Method, on_aligned: OnAligned = lambda pairs: None
    ) -> FileRecord | CapturedError:
        """Align a shard and write it.

        Args:
            shard: The shard.
            method: The aligner.
            on_aligned: Function that is called from time to time with the number of pairs that were aligned.

        Returns:
            Size and digest of the file; or the failure, with the index of the item if it alone causes it.
        """
        done = 0

        def link(method: Aligner | RemoteAligner) -> Iterator[tuple[LinkedPairs, Iterable[Fields]]]:
            nonlocal done
            fields = map(get_fields, shard.items)
            for linked in _link_pairs(method, self._make_pairs(shard.items)):
                pairs = len(linked.links.starts) - 1
                yield linked, islice(fields, pairs)
                done += pairs
                on_aligned(pairs)

        def align() -> Iterator[Alignment]:
            nonlocal done
            for alignment in align_items(method, shard.items, self.pretokenized):
                yield alignment
                done += 1
                if done % PROGRESS_INTERVAL == 0:
                    on_aligned(PROGRESS_INTERVAL)
            on_aligned(done % PROGRESS_INTERVAL)

        try:
            method = add_centre(method, self.folder.centre)
            with pause_collection():  # a shard is many objects without cycles
                if isinstance(method, Aligner | RemoteAligner):
                    return self.folder.write_linked_pairs(shard.number, link(method))
                return self.folder.write(shard.number, align())
        except BaseException as error:  # SystemExit and Rust panics, too, must be reported
            if isinstance(error, OSError | MemoryError | ImportError):
                return capture(error)
            return capture(error, self._find_failure(shard.items, method, range(done, len(shard.items))))

    def check_language(self, shard: Shard, method: Method) -> str | None:
        """Return a warning if the first shard seems to be in a language that the aligner does not know.

        Args:
            shard: The shard.
            method: The aligner.
        """
        if shard.number or not isinstance(method, Aligner | RemoteAligner):
            return None
        return method.language_check.check_pairs(self._make_pairs(shard.items))

    def _find_failure(self, items: Sequence[Item], method: Method, candidates: Iterable[int]) -> int | None:
        """Return the index of the first item that cannot be aligned and written by itself."""
        for index in candidates:
            try:
                self.folder.form.write(align_items(method, [items[index]], self.pretokenized), BytesIO())
            except BaseException:
                return index
        return None

    def write_centre(self, sample: CentreSample, method: Method) -> FileRecord | CapturedError | None:
        """Compute the centre of a corpus and write it.

        Args:
            sample: The first items of the corpus.
            method: The aligner.

        Returns:
            Size and digest of the file, None if there are no words, or the failure.
        """
        assert isinstance(method, Aligner | SimAligner)
        whitening = method.settings.whitening if isinstance(method, Aligner) else 0.0
        pairing = method.settings.pairing if isinstance(method, Aligner) else method.pairing
        try:
            chunks, words = read_first(embed_pairs(self._make_pairs(sample.items), method.encoder, pairing))
            centre = Centre.fit((part for _, part in chunks), whitening) if words else None
            return self.folder.write_centre(centre) if centre else None
        except BaseException as error:
            return capture(error)

    def _make_pairs(self, items: Iterable[Item]) -> Iterator[Pair]:
        return (make_sentences(item, self.pretokenized) for item in items)


def _link_pairs(method: Aligner | RemoteAligner, pairs: Iterable[Pair]) -> Iterator[LinkedPairs]:
    """Find the links of pairs in memory; an aligner reads a chunk while it finds the links of another."""
    if isinstance(method, RemoteAligner):
        return method.link_many(pairs)
    return map(method.link_chunk, method.embed(pairs, ahead=True))


def align_items(
    method: Method, items: Iterable[Item], pretokenized: bool = False, **options: Any
) -> Iterator[Alignment]:
    """Align the sentences of items; the alignments have the further fields of the items.

    Args:
        method: The aligner.
        items: The items. They are read lazily.
        pretokenized: Whether the words of a text are separated by spaces.
        **options: Options of `align_many`.

    Yields:
        An alignment for each item, in order.
    """
    waiting: deque[Mapping[str, Any] | None] = deque()

    def pairs() -> Iterator[Pair]:
        for item in items:
            waiting.append(get_fields(item))
            yield make_sentences(item, pretokenized)

    for alignment in method.align_many(pairs(), **options):
        yield alignment.with_fields(waiting.popleft())


def split_into_shards(items: Iterable[Item], size: int = SIZE) -> Iterator[Shard]:
    """Split a corpus into shards of consecutive items.

    Args:
        items: The corpus.
        size: Items per shard.

    Yields:
        Shards, numbered from 0.

    Raises:
        ValueError: If `size` is less than 1.

    Example:
        >>> from otalign.engines import split_into_shards
        >>> from otalign.io import TextPair
        >>> [shard.first for shard in split_into_shards([TextPair("a", "b")] * 5, size=2)]
        [0, 2, 4]
    """
    if size < 1:
        raise ValueError(f"size of a shard must be at least 1, got {size}; it counts pairs")
    items = iter(items)
    for number in count():
        if not (batch := list(islice(items, size))):
            return
        yield Shard(number, batch, number * size)


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


def describe_method(method: Method) -> MethodInfo:
    """Return the properties of an aligner that an engine needs."""
    match method:
        case Aligner():
            needs_centre = method.settings.centring and method.centre is None
            on_gpu = method.encoder.words_at_once is not None
            return MethodInfo(
                method.signature, needs_centre, on_gpu, pickle.dumps(TextStage.from_aligner(method))
            )
        case SimAligner():
            return MethodInfo(method.signature, method.centring and method.centre is None)
    return MethodInfo(method.signature, needs_centre=False)


def add_centre(method: Method, centre: Centre | None) -> Method:
    """Return the method with a given centre."""
    if centre is None or not isinstance(method, Aligner | SimAligner):
        return method
    return replace(method, centre=centre)
