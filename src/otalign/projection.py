"""Projection of labels from source words to target words through the links of an alignment.

A label belongs to a span of words: `project_spans` takes spans, `project_tags` tags such as B-PER I-PER O.
The words linked to a span may be scattered, but a target span has no gaps. There are two policies:

- "run" (the default): the run of linked words with the largest weight. Words without any link do not break a
  run; words that are linked elsewhere do. A single wrong link does no harm.
- "cover": the smallest span that contains all linked words.

Spans that are disjoint in the source are disjoint in the target: the one with the larger weight of links
comes first, and the other gets what remains. A span without a counterpart is lost. Spans that overlap or are
nested in the source may do so in the target.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, Literal, NamedTuple, get_args

from otalign.alignment import Alignment, Span
from otalign.validation import check_choice

Policy = Literal["run", "cover"]
Unit = Literal["words", "characters"]

TAG = re.compile(r"O|([BIES])-(.+)", re.DOTALL)


class LabelledSpan(NamedTuple):
    """A label on the words, or the characters, [start, end)."""

    start: int
    end: int
    label: str


class ProjectedSpan(NamedTuple):
    """A source span, its target span, and the weight of the links between them."""

    source: LabelledSpan
    target: LabelledSpan
    weight: float


@dataclass(frozen=True)
class SpanProjection:
    """The result of `project_spans`.

    Attributes:
        carried: Spans with a counterpart, in the order of the target.
        lost: Source spans without one.
    """

    carried: tuple[ProjectedSpan, ...]
    lost: tuple[LabelledSpan, ...]

    @property
    def spans(self) -> tuple[LabelledSpan, ...]:
        """Labelled spans of the target."""
        return tuple(span.target for span in self.carried)


@dataclass(frozen=True)
class ProjectedTags:
    """The result of `project_tags`.

    Attributes:
        tags: A tag for each target word.
        lost: Source spans without a counterpart.
    """

    tags: tuple[str, ...]
    lost: tuple[LabelledSpan, ...]


def project_tags(tags: Sequence[str], alignment: Alignment, policy: Policy = "run") -> ProjectedTags:
    """Project tags of source words to target words.

    Args:
        tags: A tag for each source word, in BIO or BIOES.
        alignment: The alignment of the sentences.
        policy: How target spans are chosen; see the module.

    Returns:
        Tags in BIO, or in BIOES if one of the source tags begins with E- or S-.

    Raises:
        ValueError: If there are more or fewer tags than words, or a tag is not valid.

    Example:
        >>> from otalign import Alignment, Link
        >>> alignment = Alignment(("Ada", "Lovelace", "wrote"), ("wrote", "Ada"), (Link(0, 1), Link(2, 0)))
        >>> project_tags(["B-PER", "I-PER", "O"], alignment).tags
        ('O', 'B-PER')
    """
    if len(tags) != len(alignment.source):
        raise ValueError(f"tags must be one for each of the {len(alignment.source)} words, got {len(tags)}")
    projection = project_spans(tags_to_spans(tags), alignment, policy)
    bioes = any(tag[:1] in "ES" for tag in tags)
    return ProjectedTags(spans_to_tags(projection.spans, len(alignment.target), bioes), projection.lost)


def project_spans(
    spans: Iterable[tuple[int, int, str]],
    alignment: Alignment,
    policy: Policy = "run",
    unit: Unit = "words",
    *,
    text_length: int | None = None,
) -> SpanProjection:
    """Project labelled spans of the source to the target.

    Args:
        spans: Source spans (start, end, label).
        alignment: The alignment of the sentences.
        policy: How target spans are chosen; see the module.
        unit: Unit of source and target spans: words, or characters of their texts. A word belongs to a span
            of characters if any part of it does.
        text_length: Number of characters of the source text, which no span may exceed; None for the end of
            its last word.

    Returns:
        The projected spans, and those that were lost.

    Raises:
        ValueError: If a span is out of range, the policy or the unit is unknown, or the unit is characters
            and the alignment has no character offsets.

    Example:
        >>> from otalign import Alignment, Link
        >>> alignment = Alignment(("Ada", "Lovelace", "wrote"), ("wrote", "Ada"), (Link(0, 1), Link(2, 0)))
        >>> project_spans([(0, 2, "PER")], alignment).spans
        (LabelledSpan(start=1, end=2, label='PER'),)
    """
    check_choice("policy", policy, get_args(Policy))
    check_choice("unit", unit, get_args(Unit))
    source_spans = [*map(_to_span, spans)]
    _check_spans(source_spans, alignment, unit, text_length)
    words = source_spans if unit == "words" else [_to_words(span, alignment) for span in source_spans]
    linked = [_find_targets(span, alignment) for span in words]
    result: dict[int, ProjectedSpan] = {}
    for k in sorted(range(len(source_spans)), key=lambda k: (-sum(linked[k].values()), words[k])):
        disjoint = [result[other] for other in result if _are_disjoint(words[other], words[k])]
        taken = {word for span in disjoint for word in range(span.target.start, span.target.end)}
        free = {word: weight for word, weight in linked[k].items() if word not in taken}
        if bounds := _choose_span(free, taken, alignment, policy):
            target = LabelledSpan(*bounds, source_spans[k].label)
            weight = sum(free.get(word, 0.0) for word in range(*bounds))
            result[k] = ProjectedSpan(source_spans[k], target, weight)
    carried = [result[k] for k in sorted(result)]
    if unit == "characters":
        carried = [span._replace(target=_to_characters(span.target, alignment)) for span in carried]
    lost = tuple(span for k, span in enumerate(source_spans) if k not in result)
    return SpanProjection(tuple(sorted(carried, key=lambda span: (span.target, span.source))), lost)


def tags_to_spans(tags: Sequence[str]) -> Iterator[LabelledSpan]:
    """Yield the spans of BIO or BIOES tags. A span may also begin with I- or E-.

    Raises:
        ValueError: If a tag is not valid.

    Example:
        >>> list(tags_to_spans(["O", "B-PER", "I-PER"]))
        [LabelledSpan(start=1, end=3, label='PER')]
    """
    start, label = 0, None
    for k, tag in enumerate([*tags, "O"]):
        match = TAG.fullmatch(tag) if isinstance(tag, str) else None
        if match is None:
            raise ValueError(f"tags must be O, B-…, I-…, E-… or S-…, got {tag!r}; give other labels as spans")
        kind, name = match.groups()
        if label is not None and (kind not in ("I", "E") or name != label):
            yield LabelledSpan(start, k, label)
            label = None
        if label is None and kind is not None:
            start, label = k, name
        if kind in ("E", "S"):
            yield LabelledSpan(start, k + 1, name)
            label = None


def spans_to_tags(spans: Iterable[tuple[int, int, str]], count: int, bioes: bool = False) -> tuple[str, ...]:
    """Return the tags of disjoint spans.

    Args:
        spans: Spans of words (start, end, label).
        count: Number of words.
        bioes: Whether to use BIOES instead of BIO.

    Example:
        >>> spans_to_tags([(1, 3, "PER")], 3)
        ('O', 'B-PER', 'I-PER')
    """
    tags = ["O"] * count
    for start, end, label in spans:
        tags[start:end] = [f"B-{label}"] + [f"I-{label}"] * (end - start - 1)
        if bioes:
            tags[end - 1] = f"{'S' if end - start == 1 else 'E'}-{label}"
    return tuple(tags)


def _to_span(span: Sequence[Any]) -> LabelledSpan:
    try:
        start, end, label = span
        return LabelledSpan(index(start), index(end), label)
    except (TypeError, ValueError):
        raise TypeError(
            f"a span must be (start, end, label), two integers and a label, got {span!r}"
        ) from None


def _check_spans(
    spans: Sequence[LabelledSpan], alignment: Alignment, unit: Unit, text_length: int | None
) -> None:
    if unit == "words":
        length = len(alignment.source)
    elif alignment.source_spans is None or alignment.target_spans is None:
        raise ValueError("unit must be 'words' for an alignment without character offsets")
    else:
        last = max((end for _, end in alignment.source_spans), default=0)
        length = last if text_length is None else text_length
    for start, end, label in spans:
        if not 0 <= start < end <= length:
            raise ValueError(
                f"a span must be (start, end, label) with 0 ≤ start < end, within the source's "
                f"{length} {unit}, got {(start, end, label)}"
            )


def _to_words(span: LabelledSpan, alignment: Alignment) -> LabelledSpan:
    """Return the words of a span of characters; an empty span if there are none."""
    offsets = alignment.source_spans or ()
    inside = [k for k, (start, end) in enumerate(offsets) if start < span.end and span.start < end]
    return LabelledSpan(inside[0], inside[-1] + 1, span.label) if inside else LabelledSpan(0, 0, span.label)


def _to_characters(span: LabelledSpan, alignment: Alignment) -> LabelledSpan:
    offsets = alignment.target_spans or ()
    return LabelledSpan(offsets[span.start][0], offsets[span.end - 1][1], span.label)


def _find_targets(span: LabelledSpan, alignment: Alignment) -> dict[int, float]:
    """Return the target words linked to a span, with the weight of the links to each."""
    weights: dict[int, float] = {}
    for i, j, weight in alignment.links:
        if span.start <= i < span.end:
            weights[j] = weights.get(j, 0.0) + weight
    return weights


def _are_disjoint(first: LabelledSpan, second: LabelledSpan) -> bool:
    return first.end <= second.start or second.end <= first.start


def _choose_span(
    free: dict[int, float], taken: set[int], alignment: Alignment, policy: Policy
) -> Span | None:
    """Return the span that the policy chooses among the free words; taken words always end a span."""
    passable = set(alignment.target_nulls) if policy == "run" else set(range(len(alignment.target)))
    passable -= taken
    runs: list[list[int]] = []
    for word in sorted(free):
        if runs and all(between in passable for between in range(runs[-1][-1] + 1, word)):
            runs[-1].append(word)
        else:
            runs.append([word])
    if not runs:
        return None
    best = max(runs, key=lambda run: sum(free[word] for word in run))  # the first of equals
    return best[0], best[-1] + 1
