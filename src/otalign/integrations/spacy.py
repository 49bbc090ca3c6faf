"""Alignment of spaCy tokens (`pip install 'otalign[spacy]'`).

    source, target = nlp("He bought a used car."), nlp("He purchased a second-hand car.")
    alignment = align_docs(source, target, aligner)
    for i, j, weight in alignment.links:
        print(source[i].lemma_, target[j].lemma_)

Both sides are a `Doc` or a `Span`. Indices in the alignment are those of the tokens in it, and its spans are
characters of its text. A whitespace token is a word without a link.

The pipeline component `otalign` aligns each `Doc` with the one in `doc._.counterpart`:

    nlp.add_pipe("otalign")
    source, source._.counterpart = nlp.make_doc("He bought a car."), nlp.make_doc("He purchased a car.")
    nlp(source)._.alignment
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from otalign.aligner import Aligner
from otalign.alignment import Alignment, Link, Span
from otalign.method import Method
from otalign.text.words import Sentence

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token  # pyright: ignore[reportMissingImports]: an extra
    from spacy.tokens import Span as DocSpan  # pyright: ignore[reportMissingImports]


def align_docs(source: "Doc | DocSpan", target: "Doc | DocSpan", aligner: Method) -> Alignment:
    """Align the tokens of two docs, or of parts of docs.

    Args:
        source: Source doc or span.
        target: Target doc or span.
        aligner: An aligner or a baseline.

    Example:
        >>> import spacy
        >>> from otalign import Aligner
        >>> nlp = spacy.blank("en")
        >>> source, target = nlp("It rains. He bought a used car."), nlp("He purchased a car.")
        >>> align_docs(source[3:], target, Aligner.load()).pharaoh()
        '0-0 1-1 2-2 4-3 5-4'
    """
    (alignment,) = align_many_docs([(source, target)], aligner)
    return alignment


def align_many_docs(
    pairs: "Iterable[tuple[Doc | DocSpan, Doc | DocSpan]]", aligner: Method
) -> Iterator[Alignment]:
    """Align any number of pairs of docs or spans lazily, in order.

    Args:
        pairs: Source and target of each pair.
        aligner: An aligner or a baseline.

    Yields:
        The alignments.
    """
    pending: deque[tuple[Any, Any]] = deque()

    def read_sentences() -> Iterator[tuple[Sentence, Sentence]]:
        for source, target in pairs:
            pending.append((source, target))
            yield _to_sentence(source), _to_sentence(target)

    for alignment in aligner.align_many(read_sentences()):
        yield _map_to_tokens(alignment, *pending.popleft())


class AlignmentComponent:
    """The pipeline component `otalign`, which sets `doc._.alignment` where `doc._.counterpart` is set.

    Args:
        aligner: An aligner or a baseline.
    """

    def __init__(self, aligner: Method) -> None:
        from spacy.tokens import Doc  # pyright: ignore[reportMissingImports]

        self.aligner = aligner
        for name in ("counterpart", "alignment"):
            if not Doc.has_extension(name):
                Doc.set_extension(name, default=None)

    def __call__(self, doc: "Doc") -> "Doc":
        """Align a doc with its counterpart, if it has one."""
        (doc,) = self.pipe([doc])
        return doc

    def pipe(self, stream: "Iterable[Doc]", batch_size: int = 256) -> "Iterator[Doc]":
        """Align docs with their counterparts, many at a time.

        Args:
            stream: The docs.
            batch_size: Number of docs that are read before the first is yielded, at most.

        Yields:
            The docs, in order.
        """
        batch: list[Doc] = []
        for doc in stream:
            batch.append(doc)
            if len(batch) >= batch_size:
                yield from self._align(batch)
                batch = []
        yield from self._align(batch)

    def _align(self, docs: "list[Doc]") -> "list[Doc]":
        matched = [doc for doc in docs if doc._.counterpart is not None]
        pairs = [(doc, doc._.counterpart) for doc in matched]
        for doc, alignment in zip(matched, align_many_docs(pairs, self.aligner), strict=True):
            doc._.alignment = alignment
        return docs


def make_component(nlp: Any, name: str, model: str | None) -> AlignmentComponent:
    """Make the pipeline component; spaCy calls it for `nlp.add_pipe("otalign", config={"model": …})`.

    Args:
        nlp: The pipeline.
        name: Name of the component.
        model: The model, as for `Aligner.load`; None for the default.
    """
    return AlignmentComponent(Aligner.load(model))


try:
    from spacy.language import Language  # pyright: ignore[reportMissingImports]
except ImportError:  # without spaCy, the functions take whatever has tokens
    pass
else:
    Language.factory("otalign", default_config={"model": None}, func=make_component)


def _to_sentence(doc: "Doc | DocSpan") -> Sentence:
    if not (hasattr(doc, "text") and isinstance(doc, Iterable)):
        raise TypeError(f"a doc must be a Doc or a Span of spaCy, got {doc!r}")
    start = _get_start(doc)
    return Sentence(doc.text, tuple(_get_span(token, start) for token in doc if not token.is_space))


def _get_start(doc: "Doc | DocSpan") -> int:
    """Return where the text of a span begins in its doc; 0 for a doc."""
    return getattr(doc, "start_char", 0)


def _get_span(token: "Token", start: int) -> Span:
    return token.idx - start, token.idx - start + len(token.text)


def _map_to_tokens(alignment: Alignment, source: "Doc | DocSpan", target: "Doc | DocSpan") -> Alignment:
    """Return the links between tokens, with indices that count whitespace tokens."""
    rows, columns = ([k for k, token in enumerate(doc) if not token.is_space] for doc in (source, target))
    spans, others = (tuple(_get_span(token, _get_start(doc)) for token in doc) for doc in (source, target))
    return Alignment(
        tuple(token.text for token in source),
        tuple(token.text for token in target),
        tuple(Link(rows[i], columns[j], weight) for i, j, weight in alignment.links),
        spans,
        others,
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
