"""Alignments over the tokens of spaCy (`pip install 'otalign[spacy]'`).

    source, target = nlp("He bought a used car."), nlp("He purchased a second-hand car.")
    alignment = align_docs(source, target, aligner)
    for i, j, weight in alignment.links:
        print(source[i].lemma_, target[j].lemma_)

Places in the alignment are those of the tokens in their `Doc`, and its spans are characters of `doc.text`. A
token of white space is a word without a link. Part of a `Doc` is aligned as `span.as_doc()`.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from otalign.alignment import Alignment, Link, Span
from otalign.method import Method
from otalign.text.words import Sentence

if TYPE_CHECKING:
    from spacy.tokens import Doc  # pyright: ignore[reportMissingImports]: an extra


def align_docs(source: "Doc", target: "Doc", aligner: Method) -> Alignment:
    """The alignment of the tokens of two docs."""
    (alignment,) = align_many_docs([(source, target)], aligner)
    return alignment


def align_many_docs(pairs: "Iterable[tuple[Doc, Doc]]", aligner: Method) -> Iterator[Alignment]:
    """The alignments of any number of pairs of docs, in order, as they are asked for."""
    held: deque[tuple[Doc, Doc]] = deque()

    def sentences() -> Iterator[tuple[Sentence, Sentence]]:
        for source, target in pairs:
            held.append((source, target))
            yield _sentence(source), _sentence(target)

    for alignment in aligner.align_many(sentences()):
        yield _over_all_tokens(alignment, *held.popleft())


def _sentence(doc: "Doc") -> Sentence:
    return Sentence(doc.text, tuple(_span(token) for token in doc if not token.is_space))


def _span(token) -> Span:
    return token.idx, token.idx + len(token.text)


def _over_all_tokens(alignment: Alignment, source: "Doc", target: "Doc") -> Alignment:
    """The same links between tokens, where blank ones count too."""
    rows, columns = ([k for k, token in enumerate(doc) if not token.is_space] for doc in (source, target))
    return Alignment(
        tuple(token.text for token in source),
        tuple(token.text for token in target),
        tuple(Link(rows[i], columns[j], weight) for i, j, weight in alignment.links),
        tuple(map(_span, source)),
        tuple(map(_span, target)),
        _confidence(alignment.source_null_confidence, rows, len(source)),
        _confidence(alignment.target_null_confidence, columns, len(target)),
    )


def _confidence(known: Sequence[float] | None, places: Sequence[int], count: int) -> tuple[float, ...] | None:
    if known is None:
        return None
    every = [1.0] * count  # that a blank has no counterpart is sure
    for place, confidence in zip(places, known, strict=True):
        every[place] = confidence
    return tuple(every)
