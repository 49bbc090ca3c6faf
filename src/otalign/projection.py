"""Labels carried over from source words to target words, through the links of an alignment.

A label is on a span of words: `projected_spans` takes spans, `projected` tags such as B-PER I-PER O. What the
words of a span are linked with may be scattered, and a target span has no gaps, so one of two is made:

- "run" (the default): the heaviest run of linked words. Words without any link do not break it, those that
  are linked elsewhere do. A stray link does no harm.
- "cover": the smallest span that has all of the linked words in it.

Spans that are apart stay apart: the heavier, by its links, goes first, and the other has what is left. A span
without a counterpart is told of as lost. What overlaps or is nested in the source may be so in the target.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from otalign.alignment import Alignment, Span

Policy = Literal["run", "cover"]
Unit = Literal["words", "characters"]

TAG = re.compile(r"O|([BIES])-(.+)", re.DOTALL)


class Labelled(NamedTuple):
    """A label on words, or characters, [start, end)."""

    start: int
    end: int
    label: str


class Carried(NamedTuple):
    """What a source span became, and the weight of the links that say so."""

    source: Labelled
    target: Labelled
    weight: float


@dataclass(frozen=True)
class SpanProjection:
    """Spans that were carried over, in the order of the target, and those that have no counterpart."""

    carried: tuple[Carried, ...]
    lost: tuple[Labelled, ...]

    @property
    def spans(self) -> tuple[Labelled, ...]:
        """The labelled spans of the target."""
        return tuple(one.target for one in self.carried)


@dataclass(frozen=True)
class ProjectedTags:
    """A tag for each target word, and the spans of source words that have no counterpart."""

    tags: tuple[str, ...]
    lost: tuple[Labelled, ...]


def project_tags(tags: Sequence[str], alignment: Alignment, policy: Policy = "run") -> ProjectedTags:
    """Tags of the target words from those of the source words: BIO, or BIOES if E- or S- is among them."""
    if len(tags) != len(alignment.source):
        raise ValueError(f"tags must be one for each of the {len(alignment.source)} words, got {len(tags)}")
    found = projected_spans(tagged_spans(tags), alignment, policy)
    ends = any(tag[:1] in "ES" for tag in tags)
    return ProjectedTags(tags_of(found.spans, len(alignment.target), ends), found.lost)


def projected_spans(
    spans: Iterable[tuple[int, int, str]],
    alignment: Alignment,
    policy: Policy = "run",
    unit: Unit = "words",
) -> SpanProjection:
    """The spans of the target for labelled spans (start, end, label) of the source, both in words or both in
    characters of their texts. A word belongs to a span of characters if any part of it does."""
    for name, value, known in (("policy", policy, get_args(Policy)), ("unit", unit, get_args(Unit))):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}, got {value!r}")
    given = [Labelled(*span) for span in spans]
    _check(given, alignment, unit)
    words = given if unit == "words" else [_in_words(span, alignment) for span in given]
    reached = [_find_targets(span, alignment) for span in words]
    found: dict[int, Carried] = {}
    for k in sorted(range(len(given)), key=lambda k: (-sum(reached[k].values()), words[k])):
        apart = [found[other] for other in found if _are_apart(words[other], words[k])]
        taken = {word for one in apart for word in range(one.target.start, one.target.end)}
        free = {word: weight for word, weight in reached[k].items() if word not in taken}
        if made := _make_span(free, taken, alignment, policy):
            target = Labelled(*made, given[k].label)
            found[k] = Carried(given[k], target, sum(free.get(word, 0.0) for word in range(*made)))
    carried = [found[k] for k in sorted(found)]
    if unit == "characters":
        carried = [one._replace(target=_in_characters(one.target, alignment)) for one in carried]
    lost = tuple(span for k, span in enumerate(given) if k not in found)
    return SpanProjection(tuple(sorted(carried, key=lambda one: (one.target, one.source))), lost)


def tagged_spans(tags: Sequence[str]) -> Iterator[Labelled]:
    """The spans that tags stand for. Where a span begins without B-, it is taken to begin there."""
    start, label = 0, None
    for k, tag in enumerate([*tags, "O"]):
        match = TAG.fullmatch(tag)
        if match is None:
            raise ValueError(f"tags must be O, B-…, I-…, E-… or S-…, got {tag!r}; give other labels as spans")
        kind, name = match.groups()
        if label is not None and (kind not in ("I", "E") or name != label):
            yield Labelled(start, k, label)
            label = None
        if label is None and kind is not None:
            start, label = k, name
        if kind in ("E", "S"):
            yield Labelled(start, k + 1, name)
            label = None


def tags_of(spans: Iterable[tuple[int, int, str]], count: int, ends: bool = False) -> tuple[str, ...]:
    """The tags of so many words in BIO, or with `ends` in BIOES; the spans must be apart."""
    tags = ["O"] * count
    for start, end, label in spans:
        tags[start:end] = [f"B-{label}"] + [f"I-{label}"] * (end - start - 1)
        if ends:
            tags[end - 1] = f"{'S' if end - start == 1 else 'E'}-{label}"
    return tuple(tags)


def _check(spans: Sequence[Labelled], alignment: Alignment, unit: Unit) -> None:
    if unit == "characters" and (alignment.source_spans is None or alignment.target_spans is None):
        raise ValueError("unit must be 'words' for an alignment that does not know the places of its words")
    for start, end, label in spans:
        if not 0 <= start < end or (unit == "words" and end > len(alignment.source)):
            raise ValueError(
                f"a span must be (start, end, label) with 0 ≤ start < end, within the source's "
                f"{len(alignment.source)} words, got {(start, end, label)}"
            )


def _in_words(span: Labelled, alignment: Alignment) -> Labelled:
    """The words of a span of characters, none where it has none."""
    places = alignment.source_spans or ()
    inside = [k for k, (start, end) in enumerate(places) if start < span.end and span.start < end]
    return Labelled(inside[0], inside[-1] + 1, span.label) if inside else Labelled(0, 0, span.label)


def _in_characters(span: Labelled, alignment: Alignment) -> Labelled:
    places = alignment.target_spans or ()
    return Labelled(places[span.start][0], places[span.end - 1][1], span.label)


def _find_targets(span: Labelled, alignment: Alignment) -> dict[int, float]:
    """The target words that a span's words are linked with, and the weight of the links to each."""
    reached: dict[int, float] = {}
    for i, j, weight in alignment.links:
        if span.start <= i < span.end:
            reached[j] = reached.get(j, 0.0) + weight
    return reached


def _are_apart(one: Labelled, other: Labelled) -> bool:
    return one.end <= other.start or other.end <= one.start


def _make_span(free: dict[int, float], taken: set[int], alignment: Alignment, policy: Policy) -> Span | None:
    """The span over the words that are free, as the policy has it; words that are taken always end it."""
    passed = set(alignment.target_nulls) if policy == "run" else set(range(len(alignment.target)))
    passed -= taken
    runs: list[list[int]] = []
    for word in sorted(free):
        if runs and all(between in passed for between in range(runs[-1][-1] + 1, word)):
            runs[-1].append(word)
        else:
            runs.append([word])
    if not runs:
        return None
    best = max(runs, key=lambda run: sum(free[word] for word in run))  # of equals the first
    return best[0], best[-1] + 1
