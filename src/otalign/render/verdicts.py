"""Comparison of a prediction with gold: which links and nulls are right, wrong or missed.

These are the single items that `otalign.metrics` counts.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeVar

from otalign.alignment import Alignment, Level
from otalign.gold import Gold
from otalign.metrics import Counts
from otalign.render.words import shown

Verdict = Literal["right", "wrong", "missed"]
Item = TypeVar("Item", int, tuple[int, int])


@dataclass(frozen=True)
class Verdicts:
    """The verdict on every link and null word that is in the prediction or in the gold."""

    links: dict[tuple[int, int], Verdict]
    source_nulls: dict[int, Verdict]
    target_nulls: dict[int, Verdict]


def verdicts(predicted: Alignment, gold: Alignment) -> Verdicts:
    """Compare a prediction with gold."""
    return Verdicts(
        _judge(predicted.pairs, gold.pairs),
        _judge(predicted.source_nulls, gold.source_nulls),
        _judge(predicted.target_nulls, gold.target_nulls),
    )


def count_verdicts(counts: Counts) -> list[dict[Verdict, int]]:
    """Return the number of right, wrong and missed links and nulls of each pair."""
    tally = counts.tally("links+nulls")
    numbers = (tally.correct, tally.predicted - tally.correct, tally.gold - tally.correct)
    rows = zip(*(column.tolist() for column in numbers), strict=True)
    return [{"right": right, "wrong": wrong, "missed": missed} for right, wrong, missed in rows]


def at_level(gold: Gold | Alignment, level: Level) -> Alignment:
    """Return gold as an alignment; gold without levels is returned as it is."""
    return gold.alignment(level) if isinstance(gold, Gold) else gold


def mistakes(alignment: Alignment, judged: Verdicts) -> str:
    """Return a line of wrong and a line of missed items: `missed: “bought” – “purchased”, “used” ∅`."""
    lines = []
    for verdict in ("wrong", "missed"):
        items = [*_describe_items(alignment, judged, verdict)]
        if items:
            lines.append(f"{verdict}: {', '.join(items)}")
    return "\n".join(lines)


def _judge(predicted: Iterable[Item], gold: Iterable[Item]) -> dict[Item, Verdict]:
    found, true = set(predicted), set(gold)
    return {
        item: "missed" if item not in found else "right" if item in true else "wrong"
        for item in sorted(found | true)
    }


def _describe_items(alignment: Alignment, judged: Verdicts, verdict: Verdict) -> Iterator[str]:
    for (i, j), value in judged.links.items():
        if value == verdict:
            yield f"{_quote(alignment.source[i])} – {_quote(alignment.target[j])}"
    sides = ((alignment.source, judged.source_nulls), (alignment.target, judged.target_nulls))
    for words, nulls in sides:
        yield from (f"{_quote(words[k])} ∅" for k, value in nulls.items() if value == verdict)


def _quote(word: str) -> str:
    """Return a word between quotation marks, to tell a comma that is a word from one between words."""
    return f"“{shown(word)}”"
