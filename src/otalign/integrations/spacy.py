"""Alignment of spaCy tokens (`pip install 'otalign[spacy]'`).

    source, target = nlp("He bought a used car."), nlp("He purchased a second-hand car.")
    alignment = align_docs(source, target, aligner)
    for i, j, weight in alignment.links:
        print(source[i].lemma_, target[j].lemma_)

Indices in the alignment are those of the tokens in their `Doc`, and its spans are characters of `doc.text`. A
whitespace token is a word without a link. To align part of a `Doc`, pass `span.as_doc()`.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from otalign.alignment import Alignment, Link, Span
from otalign.method import Method
from otalign.text.words import Sentence

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token  # pyright: ignore[reportMissingImports]: an extra


def align_docs(source: "Doc", target: "Doc", aligner: Method) -> Alignment:
    """Align the tokens of two docs.

    Args:
        source: Source doc.
        target: Target doc.
        aligner: An aligner or a baseline.
    """
    (alignment,) = align_many_docs([(source, target)], aligner)
    return alignment


def align_many_docs(pairs: "Iterable[tuple[Doc, Doc]]", aligner: Method) -> Iterator[Alignment]:
    """Align any number of pairs of docs lazily, in order."""
    pending: deque[tuple[Doc, Doc]] = deque()

    def read_sentences() -> Iterator[tuple[Sentence, Sentence]]:
        for source, target in pairs:
            pending.append((source, target))
            yield _to_sentence(source), _to_sentence(target)

    for alignment in aligner.align_many(read_sentences()):
        yield _map_to_tokens(alignment, *pending.popleft())


def _to_sentence(doc: "Doc") -> Sentence:
    return Sentence(doc.text, tuple(_get_span(token) for token in doc if not token.is_space))


def _get_span(token: "Token") -> Span:
    return token.idx, token.idx + len(token.text)


def _map_to_tokens(alignment: Alignment, source: "Doc", target: "Doc") -> Alignment:
    """Return the links between tokens, with indices that count whitespace tokens."""
    rows, columns = ([k for k, token in enumerate(doc) if not token.is_space] for doc in (source, target))
    return Alignment(
        tuple(token.text for token in source),
        tuple(token.text for token in target),
        tuple(Link(rows[i], columns[j], weight) for i, j, weight in alignment.links),
        tuple(map(_get_span, source)),
        tuple(map(_get_span, target)),
        _fill_confidence(alignment.source_null_confidence, rows, len(source)),
        _fill_confidence(alignment.target_null_confidence, columns, len(target)),
    )


def _fill_confidence(
    values: Sequence[float] | None, indices: Sequence[int], count: int
) -> tuple[float, ...] | None:
    if values is None:
        return None
    confidence = [1.0] * count  # a whitespace token certainly has no counterpart
    for k, value in zip(indices, values, strict=True):
        confidence[k] = value
    return tuple(confidence)
