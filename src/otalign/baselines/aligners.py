"""The peers behind the interface of `Aligner`: sentences in, alignments out, in order, one for each pair.

SimAligner.load("bert-base-uncased", layer=8).align_many(pairs)       # lazy, a chunk held at a time
FastAligner(more=train_pairs).align_many(pairs)                       # learns from all of them first

What each links is what `SimAlign` and `FastAlign` link. Neither says how sure it is of a null.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_args

import numpy as np

from otalign.aligner import Aligner, embed_pairs, format_signature, split_into_chunks
from otalign.alignment import Alignment, Link
from otalign.baselines.cooccurrence import SentencePair
from otalign.baselines.fast_align import FastAlign, Step
from otalign.baselines.simalign import ArgMax, IterMax, MaximumMatching, SimAlign, similarity
from otalign.baselines.symmetrisation import Symmetrisation, symmetrise
from otalign.encoders import Embeddings, Encoder, Pairing
from otalign.encoders.embeddings import to_numpy
from otalign.encoders.whitening import Centre, centre_stream
from otalign.progress import Progress, no_progress
from otalign.scoring.extraction import DIGITS
from otalign.text.words import Pair, Text

MATCHINGS = {"argmax": ArgMax, "itermax": IterMax, "match": MaximumMatching}


@dataclass(frozen=True, eq=False)
class SimAligner:
    """SimAlign over an encoder. A link's weight is how similar its words are, (1 + cosine) / 2.

    As its tool does, it encodes each sentence alone and centres nothing, unless it is told to.
    """

    encoder: Encoder
    options: SimAlign = SimAlign()
    pairing: Pairing = "separate"
    centring: bool = False
    centre: Centre | None = None  # else that of the pairs at hand

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
        """One over whatever `Aligner.load` takes; of an aligner's folder, its encoder, layer and centre."""
        of = Aligner.load(
            model,
            layer=layer,
            pairing=pairing,
            centring=centring,
            device=device,
            threads=threads,
            batch_size=batch_size,
        )
        return cls(of.encoder, options, pairing, centring, of.centre)

    @property
    def signature(self) -> str:
        """`key:value|…`: all that must be told of a result for it to be got again."""
        (matching,) = (name for name, kind in MATCHINGS.items() if isinstance(self.options.matching, kind))
        return format_signature(
            {"method": "simalign", "encoder": self.encoder.name, "layer": self.encoder.layer}
            | {"pairing": self.pairing, "centring": self.centring, "matching": matching}
            | asdict(self.options.matching)
            | {"distortion": self.options.distortion, "null_threshold": self.options.threshold}
        )

    def align(self, source: Text, target: Text) -> Alignment:
        """The alignment of one pair: two texts, or two lists of words."""
        (alignment,) = self.align_many([(source, target)])
        return alignment

    def align_many(self, pairs: Iterable[tuple[Text, Text]]) -> Iterator[Alignment]:
        """The alignments of any number of pairs, in order, as they are asked for, a chunk held at a time."""
        stream = embed_pairs(pairs, self.encoder, self.pairing)
        if self.centring:
            stream = centre_stream(stream, self.centre)
        for chunk, embeddings in stream:
            yield from align_similarities(chunk, embeddings, self.options)


def align_similarities(
    pairs: Iterable[Pair], embeddings: Embeddings, options: SimAlign
) -> Iterator[Alignment]:
    """SimAlign's alignments of pairs whose embeddings are at hand, centred if they are to be."""
    embeddings = Embeddings(to_numpy(embeddings.vectors), embeddings.starts)  # from a GPU all at once
    for k, pair in enumerate(pairs):
        S = similarity(embeddings[2 * k], embeddings[2 * k + 1])
        weights = np.round(S.astype(np.float64), DIGITS)
        yield _alignment(pair, (Link(i, j, float(weights[i, j])) for i, j in options.links(S)))


@dataclass(frozen=True, eq=False)
class FastAligner:
    """fast_align, which learns from the pairs that it aligns: the more of them at once, the better.

    So a pair's links depend on its company. `more` are pairs to learn from besides, put in front. Words count
    as they are written, so lower-case them first. Every link weighs 1.
    """

    options: FastAlign = FastAlign()
    symmetrisation: Symmetrisation = "grow-diag-final-and"
    more: Sequence[SentencePair] = ()
    progress: Progress = no_progress

    def __post_init__(self):
        known = get_args(Symmetrisation)
        if self.symmetrisation not in known:
            raise ValueError(f"symmetrisation must be one of {', '.join(known)}, got {self.symmetrisation!r}")

    @property
    def signature(self) -> str:
        """`key:value|…`: all that must be told of a result for it to be got again, but the pairs."""
        told = {"method": "fast-align", **asdict(self.options), "symmetrisation": self.symmetrisation}
        return format_signature(told | {"more_pairs": len(self.more)})

    def _report(self, step: Step) -> None:
        self.progress(f"learning {step.direction}", step.iteration, self.options.iterations - 1)

    def align(self, source: Text, target: Text) -> Alignment:
        """The alignment of one pair, learnt from it and from `more`, anew each time."""
        (alignment,) = self.align_many([(source, target)])
        return alignment

    def align_many(self, pairs: Iterable[tuple[Text, Text]]) -> Iterator[Alignment]:
        """The alignments of all pairs, in order. All are read, and learnt from, before this returns."""
        held = [pair for chunk in split_into_chunks(pairs) for pair in chunk]
        learnt_from = [*self.more, *((source.words, target.words) for source, target in held)]
        if not any(source and target for source, target in learnt_from):
            return (_alignment(pair, ()) for pair in held)  # nothing to learn, and nothing to link
        aligned = self.options.train(learnt_from, self._report).aligned
        forward, reverse = aligned.forward[len(self.more) :], aligned.reverse[len(self.more) :]
        return (
            _alignment(pair, (Link(i, j) for i, j in symmetrise(one, other, self.symmetrisation)))
            for pair, one, other in zip(held, forward, reverse, strict=True)
        )


def _alignment(pair: Pair, links: Iterable[Link]) -> Alignment:
    source, target = pair
    return Alignment(source.words, target.words, tuple(links), source.spans, target.spans)
