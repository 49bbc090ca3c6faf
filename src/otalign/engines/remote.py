"""An aligner in several processes: one holds the model, others do the work before and after it.

A GPU aligns pairs faster than one process can read, tokenize and write them. Therefore one process only runs
the model. Others convert text to arrays, request the links, which are arrays too, and write files. The arrays
are in shared memory; only their handles are sent.
"""

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from threading import Lock
from typing import NamedTuple

import numpy as np

from otalign.aligner import Aligner
from otalign.alignment import Alignment
from otalign.encoders import Pairing, PairPreparer, PreparedPairs
from otalign.encoders.chunks import split_into_chunks
from otalign.failures import CapturedError, capture
from otalign.languages import LanguageCheck
from otalign.link_arrays import LinkArrays, LinkedPairs
from otalign.method import Method
from otalign.scoring.paragraphs import realign_long_pairs
from otalign.shared_arrays import ArraysHandle, SharedArrays, free_arrays, read_arrays
from otalign.text.spelling import WordFeatures
from otalign.text.words import Pair, Text

AT_ONCE = 2  # requests that are answered in parallel: while one waits for the GPU, another one submits work
MAX_OPEN = 64  # answers whose shared memory stays open


class LinkRequest(NamedTuple):
    """A request for the links of prepared pairs: the handle of their arrays."""

    arrays: ArraysHandle


Answer = ArraysHandle | CapturedError


@dataclass(frozen=True)
class TextStage:
    """The steps of an aligner before and after the model, for a process without the model.

    Attributes:
        signature: Signature of the aligner.
        reader: Preparer of the encoder's inputs.
        pairing: Whether the sentences of a pair are encoded jointly or separately.
        max_words: Number of words in a chunk; None for what suits a CPU.
        word_features: Features of words that the scorer reads, if any.
        splits_paragraphs: Whether the sentences of long pairs are matched first.
        languages: Languages that the aligner was trained for.
    """

    signature: str
    reader: PairPreparer
    pairing: Pairing
    max_words: int | None
    word_features: WordFeatures | None
    splits_paragraphs: bool
    languages: tuple[str, ...]

    @classmethod
    def from_aligner(cls, aligner: Aligner) -> "TextStage":
        """Return the text stage of an aligner."""
        encoder, scorer = aligner.encoder, aligner.scorer
        return cls(
            aligner.signature,
            encoder.reader,
            aligner.settings.pairing,
            encoder.words_at_once,
            scorer.word_features,
            scorer.splits_paragraphs,
            aligner.languages,
        )


@dataclass(frozen=True, eq=False)
class RemoteAligner(Method):
    """An aligner whose model is in another process. It gives the same links as the aligner itself.

    Attributes:
        stage: What it does to text.
        ask: Function that sends a request, and waits for the answer.
    """

    stage: TextStage
    ask: Callable[[LinkRequest], Answer]

    @property
    def signature(self) -> str:
        """Signature of the aligner."""
        return self.stage.signature

    @property
    def language_check(self) -> LanguageCheck:
        """Check for text in a language that the aligner does not know."""
        return LanguageCheck(self.stage.reader, self.stage.languages)

    def align_many(self, pairs: Iterable[tuple[Text, Text]]) -> Iterator[Alignment]:
        """Align pairs."""
        for linked in self.link_many(pairs):
            yield from linked.make_alignments()

    def link_many(self, pairs: Iterable[tuple[Text, Text]]) -> Iterator[LinkedPairs]:
        """Find the links of pairs, in the chunks of the aligner."""
        for chunk, links in self._link_words(pairs):
            if self.stage.splits_paragraphs:
                links = realign_long_pairs(chunk, links, self._link_words)
            yield LinkedPairs(chunk, links)

    def _link_words(self, pairs: Iterable[tuple[Text, Text]]) -> Iterator[LinkedPairs]:
        for chunk in split_into_chunks(pairs, self.stage.max_words):
            yield LinkedPairs(chunk, self._find_links(chunk))

    def _find_links(self, pairs: Sequence[Pair]) -> LinkArrays:
        prepared = self.stage.reader.prepare(pairs, self.stage.pairing)
        counts = np.zeros((0, 0), np.int8)
        if features := self.stage.word_features:
            counts = features.count([word for pair in pairs for sentence in pair for word in sentence.words])
        shared = SharedArrays([counts, *prepared.to_arrays()])
        try:
            answer = self.ask(LinkRequest(shared.handle))
        finally:
            shared.free()
        if isinstance(answer, CapturedError):
            raise answer.error
        starts, source, target, weights, nulls = read_arrays(answer)
        free_arrays(answer)
        return LinkArrays(starts, source, target, weights, prepared.starts, nulls)


def connect_remote_aligner(stage: bytes, connection: Connection) -> RemoteAligner:
    """Return an aligner that requests links through a pipe.

    Args:
        stage: A `TextStage`, pickled.
        connection: This end of the pipe.
    """

    def ask(request: LinkRequest) -> Answer:
        connection.send(request)
        return connection.recv()

    return RemoteAligner(pickle.loads(stage), ask)


def answer_requests(connection: Connection, aligner: Aligner) -> None:
    """Answer numbered requests for links from a pipe until this process ends.

    Args:
        connection: This end of the pipe.
        aligner: The aligner.
    """
    lock = Lock()
    answers: deque[SharedArrays] = deque()  # kept open, since Windows frees what no process has open

    def answer(number: int, request: LinkRequest) -> None:
        result = answer_request(aligner, request)
        with lock:
            if isinstance(result, SharedArrays):
                answers.append(result)
            connection.send((number, result.handle if isinstance(result, SharedArrays) else result))
            if len(answers) > MAX_OPEN:
                answers.popleft().close()

    with ThreadPoolExecutor(AT_ONCE) as threads:
        while True:
            threads.submit(answer, *connection.recv())


def answer_request(aligner: Aligner, request: LinkRequest) -> SharedArrays | CapturedError:
    """Return the arrays of the requested links, or the error that the request fails with."""
    try:
        counts, *arrays = read_arrays(request.arrays)
        prepared = PreparedPairs.from_arrays(arrays)
        links = aligner.find_prepared_links(prepared, counts if counts.size else None)
        return SharedArrays([links.starts, links.source, links.target, links.weights, links.nulls])
    except BaseException as error:
        return capture(error)
