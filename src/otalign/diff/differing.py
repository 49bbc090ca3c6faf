"""The computation of a difference, with one call of the aligner for all edited passages."""

from collections.abc import Iterator, Mapping, Sequence

from otalign.aligner import Aligner
from otalign.diff.difference import Difference, Passage, Piece
from otalign.diff.fates import Key, pieces
from otalign.diff.gaps import match_gaps
from otalign.diff.matching import SentenceMatch, extend_splits, in_order, matches
from otalign.progress import Progress, no_progress
from otalign.text.matching import normalize_spaces
from otalign.text.sentences import Document, Span, document

MIN_PASSAGES = 64  # passages whose mean embedding is subtracted, if the texts have so many


def difference(
    old: str | Document,
    new: str | Document,
    aligner: Aligner,
    *,
    ignore_case: bool = False,
    progress: Progress = no_progress,
) -> Difference:
    """Compare two versions of a text.

    Args:
        old: The old text, or its sentences.
        new: The new text, or its sentences.
        aligner: Aligner for the words of edited sentences; its encoder also matches the sentences.
        ignore_case: Whether upper and lower case count as equal.
        progress: Function that is called with a description, the amount done, and the total.

    Returns:
        The difference: passages of corresponding sentences, with the changes in each.

    Raises:
        TypeError: If a text is neither a str nor a Document.

    Example:
        >>> from otalign import Aligner
        >>> changes = difference("It rained. We left.", "It rained. We left.", Aligner.load())
        >>> changes.same
        True
    """
    for text in (old, new):
        if not isinstance(text, str | Document):
            raise TypeError(f"a text must be a str or a Document, got {text!r:.100}")
    old, new = (document(text) if isinstance(text, str) else text for text in (old, new))
    key = str.casefold if ignore_case else str
    matched = matches(old, new, aligner.encoder, key, progress)
    matched = [*matched, *match_gaps(old, new, matched, aligner, progress)]
    matched = sorted(extend_splits(matched, old, new))
    spans = {match: (_join_spans(old, match.old), _join_spans(new, match.new)) for match in matched}
    pieces_by_match = _align_matches(spans, old, new, aligner, key, progress)
    lengths = {match: end - start for match, (_, (start, end)) in spans.items()}
    unmoved = in_order(matched, lengths)
    passages = [
        Passage(match.old, match.new, pieces_by_match[match], match not in unmoved) for match in matched
    ]
    return Difference(old, new, tuple(_order_passages(passages, old, new)))


def _align_matches(
    spans: Mapping[SentenceMatch, tuple[Span, Span]],
    old: Document,
    new: Document,
    aligner: Aligner,
    key: Key,
    progress: Progress,
) -> dict[SentenceMatch, tuple[Piece, ...]]:
    """Return the pieces of each match, given its spans in both texts."""
    texts = {match: (old.text[slice(*a)], new.text[slice(*b)]) for match, (a, b) in spans.items()}
    same = [m for m, (a, b) in texts.items() if key(normalize_spaces(a)) == key(normalize_spaces(b))]
    result: dict[SentenceMatch, tuple[Piece, ...]] = {
        match: (Piece("kept", *spans[match]),) for match in same
    }
    edited = [match for match in texts if match not in result]
    # The mean embedding of a few pairs says little: some unchanged pairs are added.
    unchanged = same[: max(MIN_PASSAGES - len(edited), 0)] if edited else []
    alignments = aligner.align_many(texts[match] for match in (*edited, *unchanged))
    for number, (match, alignment) in enumerate(zip(edited, alignments, strict=False)):
        progress("aligning words", number, len(edited))
        (old_start, _), (new_start, _) = spans[match]
        result[match] = pieces(alignment, old_start, new_start, key)
    return result


def _join_spans(document: Document, sentences: Sequence[int]) -> Span:
    return document.spans[sentences[0]][0], document.spans[sentences[-1]][1]


def _order_passages(matched: Sequence[Passage], old: Document, new: Document) -> Iterator[Passage]:
    """Yield all passages: before each one that did not move, the removed ones and the new ones."""
    matched_old = {i for passage in matched for i in passage.old}
    matched_new = {j for passage in matched for j in passage.new}
    removed = [
        Passage((i,), (), (Piece("removed", old.spans[i], None),))
        for i in range(len(old))
        if i not in matched_old
    ]
    added = [
        Passage((), (j,), (Piece("added", None, new.spans[j]),))
        for j in range(len(new))
        if j not in matched_new
    ]
    added = sorted([*added, *(passage for passage in matched if passage.moved)], key=lambda p: p.new)
    k = m = 0
    for unmoved in (*(passage for passage in matched if not passage.moved), None):
        last_k, last_m = k, m
        while k < len(removed) and (unmoved is None or removed[k].old < unmoved.old):
            k += 1
        while m < len(added) and (unmoved is None or added[m].new < unmoved.new):
            m += 1
        yield from _order_between(removed[last_k:k], added[last_m:m], old, new)
        if unmoved:
            yield unmoved


def _order_between(
    removed: Sequence[Passage], added: Sequence[Passage], old: Document, new: Document
) -> Iterator[Passage]:
    """Yield removed passages before new ones, but first those of the paragraph that goes on."""
    k = next((k for k, passage in enumerate(removed) if passage.old[0] in old.paragraph_starts), len(removed))
    m = next((m for m, passage in enumerate(added) if passage.new[0] in new.paragraph_starts), len(added))
    yield from (*removed[:k], *added[:m], *removed[k:], *added[m:])
