"""The baselines with the interface of `Aligner`: sentences in, alignments out, in order, one for each pair.

    SimAligner.load("bert-base-uncased", layer=8).align_many(pairs)       # lazy, a chunk at a time
    FastAligner(more=train_pairs).align_many(pairs)                       # learns from all of them first

The links are those of `SimAlign` and `FastAlign`. Neither has null confidences.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np

from otalign.aligner import Aligner
from otalign.alignment import Alignment, Link
from otalign.baselines.cooccurrence import SentencePair
from otalign.baselines.fast_align import FastAlign, Step
from otalign.baselines.simalign import ArgMax, IterMax, MaximumMatching, SimAlign, compute_similarity
from otalign.baselines.symmetrisation import Symmetrisation, symmetrise
from otalign.encoders import Embeddings, Encoder, Pairing
from otalign.encoders.chunks import embed_pairs, split_into_chunks
from otalign.encoders.embeddings import to_numpy
from otalign.encoders.whitening import Centre, centre_chunks
from otalign.link_arrays import DIGITS
from otalign.method import Method, format_signature
from otalign.progress import Progress, no_progress
from otalign.text.words import Pair, Text, to_pair
from otalign.validation import check_choice

MATCHINGS = {"argmax": ArgMax, "itermax": IterMax, "match": MaximumMatching}


@dataclass(frozen=True, eq=False)
class SimAligner(Method):
    """SimAlign with an encoder. The weight of a link is the similarity of its words, (1 + cosine) / 2.

    Like the original tool, it encodes each sentence by itself and does not centre, by default.

    Attributes:
        encoder: The encoder.
        options: Matching, distortion and threshold.
        pairing: Whether sentences are encoded separately or jointly.
        centring: Whether the mean is subtracted from embeddings.
        centre: The mean to subtract; None for that of the given pairs.

    Example:
        >>> from otalign import Aligner
        >>> from otalign.baselines import SimAligner
        >>> aligner = SimAligner(Aligner.load().encoder)
        >>> aligner.align("He bought a used car.", "He purchased a car.").pharaoh()
        '0-0 1-1 2-2 4-3 5-4'
    """

    encoder: Encoder
    options: SimAlign = SimAlign()
    pairing: Pairing = "separate"
    centring: bool = False
    centre: Centre | None = None

    @classmethod
    def load(
        cls,
        model: str | Path,
        options: SimAlign = SimAlign(),
        *,
        layer: int | None = None,
        pairing: Pairing = "separate",
        centring: bool = False,
        device: str | None = None,
        threads: int | None = None,
        batch_size: int | None = None,
    ) -> "SimAligner":
        """Load the encoder.

        Args:
            model: As for `Aligner.load`; an aligner gives its encoder and layer, and its centre if that was
                fitted with the same pairing.
            options: Matching, distortion and threshold.
            layer: Encoder layer; None for the default.
            pairing: Whether sentences are encoded separately or jointly.
            centring: Whether to subtract the mean from embeddings.
            device: Device of the encoder; None for the best available.
            threads: Number of threads; None for the default.
            batch_size: Subwords of a batch; None for the default.

        Returns:
            The aligner.
        """
        aligner = Aligner.load(model, layer=layer, device=device, threads=threads, batch_size=batch_size)
        same = centring and aligner.settings.pairing == pairing
        return cls(aligner.encoder, options, pairing, centring, aligner.centre if same else None)

    @property
    def signature(self) -> str:
        """Settings as `key:value|…`, enough to reproduce a result."""
        (matching,) = (name for name, kind in MATCHINGS.items() if isinstance(self.options.matching, kind))
        return format_signature(
            {"method": "simalign", "encoder": self.encoder.name, "layer": self.encoder.layer}
            | {"pairing": self.pairing, "centring": self.centring, "matching": matching}
            | asdict(self.options.matching)
            | {"distortion": self.options.distortion, "null_threshold": self.options.threshold}
        )

    def align_many(self, pairs: Iterable[tuple[Text, Text]]) -> Iterator[Alignment]:
        """Align any number of pairs, lazily, a chunk at a time.

        Args:
            pairs: Pairs of texts, or of lists of words.

        Yields:
            An alignment for each pair, in order.
        """
        stream = embed_pairs(pairs, self.encoder, self.pairing)
        if self.centring:
            stream = centre_chunks(stream, self.centre)
        for chunk, embeddings in stream:
            yield from align_similarities(chunk, embeddings, self.options)


def align_similarities(
    pairs: Iterable[Pair], embeddings: Embeddings, options: SimAlign
) -> Iterator[Alignment]:
    """Align pairs whose embeddings are given.

    Args:
        pairs: Pairs of sentences.
        embeddings: Their embeddings, centred if they are to be.
        options: Matching, distortion and threshold.

    Yields:
        An alignment for each pair, in order.
    """
    embeddings = Embeddings(to_numpy(embeddings.vectors), embeddings.starts)  # one copy from a GPU
    for k, pair in enumerate(pairs):
        S = compute_similarity(embeddings[2 * k], embeddings[2 * k + 1])
        weights = np.round(S.astype(np.float64), DIGITS)
        yield _make_alignment(pair, (Link(i, j, float(weights[i, j])) for i, j in options.align(S)))


@dataclass(frozen=True, eq=False)
class FastAligner(Method):
    """fast_align, which learns from the pairs that it aligns.

    The links of a pair depend on the other pairs, and more pairs give better links. Words are compared
    case-sensitively, so lower-case them first. The weight of every link is 1.

    Attributes:
        options: Options of training.
        symmetrisation: How the two directions are combined.
        more: Further pairs to learn from, texts or lists of words; kept as words.
        progress: Function that is called after each iteration.

    Example:
        >>> from otalign.baselines import FastAligner
        >>> pairs = [("a house", "ein Haus"), ("a book", "ein Buch"), ("the house", "das Haus")]
        >>> next(FastAligner().align_many(pairs)).pharaoh()
        '0-0 1-1'
    """

    options: FastAlign = FastAlign()
    symmetrisation: Symmetrisation = "grow-diag-final-and"
    more: Sequence[tuple[Text, Text]] = ()
    progress: Progress = no_progress

    def __post_init__(self) -> None:
        check_choice("symmetrisation", self.symmetrisation, get_args(Symmetrisation))
        words = tuple((source.words, target.words) for source, target in map(to_pair, self.more))
        object.__setattr__(self, "more", words)

    @property
    def signature(self) -> str:
        """Settings as `key:value|…`, enough to reproduce a result on the same pairs."""
        settings = {"method": "fast-align", **asdict(self.options), "symmetrisation": self.symmetrisation}
        return format_signature(settings | {"more_pairs": len(self.more)})

    def _report(self, step: Step) -> None:
        self.progress(f"learning {step.direction}", step.iteration, self.options.iterations - 1)

    def align_many(self, pairs: Iterable[tuple[Text, Text]]) -> Iterator[Alignment]:
        """Align pairs. All of them are read and used for training before this returns.

        Args:
            pairs: Pairs of texts, or of lists of words.

        Returns:
            An alignment for each pair, in order.
        """
        sentences = [pair for chunk in split_into_chunks(pairs) for pair in chunk]
        learnt: Any = self.more  # as words
        corpus: list[SentencePair] = [*learnt, *((one.words, other.words) for one, other in sentences)]
        if not any(source and target for source, target in corpus):
            return (_make_alignment(pair, ()) for pair in sentences)  # nothing to learn or to link
        aligned = self.options.train(corpus, self._report).aligned
        forward, reverse = aligned.forward[len(self.more) :], aligned.reverse[len(self.more) :]
        return (
            _make_alignment(pair, (Link(i, j) for i, j in symmetrise(*directions, self.symmetrisation)))
            for pair, directions in zip(sentences, zip(forward, reverse, strict=True), strict=True)
        )


def _make_alignment(pair: Pair, links: Iterable[Link]) -> Alignment:
    source, target = pair
    return Alignment(source.words, target.words, tuple(links), source.spans, target.spans)
