"""From two texts to their difference, with one call of the aligner for all passages that were edited."""

from collections.abc import Iterator, Mapping, Sequence

from otalign.aligner import Aligner
from otalign.diff.difference import Difference, Passage, Piece
from otalign.diff.fates import pieces
from otalign.diff.matching import SentenceMatch, bare, in_order, matches
from otalign.text.sentences import Document, Span, document

COMPANY = 64  # passages at least that words are centred on, where the texts have so many


def difference(old: str | Document, new: str | Document, aligner: Aligner) -> Difference:
    """What changed from the old text to the new; `sentences.document` splits what is not split already."""
    old, new = (document(text) if isinstance(text, str) else text for text in (old, new))
    matched = matches(old, new, aligner.encoder)
    spans = {match: (_span(old, match.old), _span(new, match.new)) for match in matched}
    told = _align_matches(spans, old, new, aligner)
    lengths = {match: end - start for match, (_, (start, end)) in spans.items()}
    staying = in_order(matched, lengths)
    made = [Passage(match.old, match.new, told[match], match not in staying) for match in matched]
    return Difference(old, new, tuple(_in_reading_order(made, old, new)))


def _align_matches(
    spans: Mapping[SentenceMatch, tuple[Span, Span]], old: Document, new: Document, aligner: Aligner
) -> dict[SentenceMatch, tuple[Piece, ...]]:
    """What became of the words of each match, whose places are given."""
    texts = {match: (old.text[slice(*one)], new.text[slice(*other)]) for match, (one, other) in spans.items()}
    same = [match for match, (one, other) in texts.items() if bare(one) == bare(other)]
    told: dict[SentenceMatch, tuple[Piece, ...]] = {match: (Piece("kept", *spans[match]),) for match in same}
    edited = [match for match in texts if match not in told]
    # A few pairs have no telling mean of their own: some that stayed the same keep them company.
    company = same[: max(COMPANY - len(edited), 0)] if edited else []
    alignments = aligner.align_many(texts[match] for match in (*edited, *company))
    for match, alignment in zip(edited, alignments, strict=False):
        (old_start, _), (new_start, _) = spans[match]
        told[match] = pieces(alignment, old_start, new_start)
    return told


def _span(document: Document, sentences: Sequence[int]) -> Span:
    return document.spans[sentences[0]][0], document.spans[sentences[-1]][1]


def _in_reading_order(made: Sequence[Passage], old: Document, new: Document) -> Iterator[Passage]:
    """All passages: up to each one that stayed, what is gone, and then what came."""
    matched_old = {i for passage in made for i in passage.old}
    matched_new = {j for passage in made for j in passage.new}
    gone = [
        Passage((i,), (), (Piece("removed", old.spans[i], None),))
        for i in range(len(old))
        if i not in matched_old
    ]
    came = [
        Passage((), (j,), (Piece("added", None, new.spans[j]),))
        for j in range(len(new))
        if j not in matched_new
    ]
    came = sorted([*came, *(passage for passage in made if passage.moved)], key=lambda p: p.new)
    k = m = 0
    for stayed in (*(passage for passage in made if not passage.moved), None):
        while k < len(gone) and (stayed is None or gone[k].old < stayed.old):
            yield gone[k]
            k += 1
        while m < len(came) and (stayed is None or came[m].new < stayed.new):
            yield came[m]
            m += 1
        if stayed:
            yield stayed
