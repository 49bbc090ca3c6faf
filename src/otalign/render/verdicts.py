"""A prediction beside the gold: which of its links and nulls are right, which are wrong, and what it missed.

These are the things that `otalign.metrics` counts, one by one; how many there are is for its counts to say.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeVar

from otalign.alignment import Alignment, Level
from otalign.gold import Gold
from otalign.metrics import Counts
from otalign.render.words import shown

Verdict = Literal["right", "wrong", "missed"]
Thing = TypeVar("Thing", int, tuple[int, int])


@dataclass(frozen=True)
class Verdicts:
    """Of each link, and each source and target word without one, that is in the prediction or in the gold."""

    links: dict[tuple[int, int], Verdict]
    source_nulls: dict[int, Verdict]
    target_nulls: dict[int, Verdict]


def verdicts(predicted: Alignment, gold: Alignment) -> Verdicts:
    return Verdicts(
        _judge(predicted.pairs, gold.pairs),
        _judge(predicted.source_nulls, gold.source_nulls),
        _judge(predicted.target_nulls, gold.target_nulls),
    )


def count_verdicts(counts: Counts) -> list[dict[Verdict, int]]:
    """Of each pair, how many links and nulls are right, wrong and missed."""
    tally = counts.tally("links+nulls")
    numbers = (tally.correct, tally.predicted - tally.correct, tally.gold - tally.correct)
    rows = zip(*(each.tolist() for each in numbers), strict=True)
    return [{"right": right, "wrong": wrong, "missed": missed} for right, wrong, missed in rows]


def at_level(gold: Gold | Alignment, level: Level) -> Alignment:
    """Gold as one alignment; gold without levels is all sure."""
    return gold.alignment(level) if isinstance(gold, Gold) else gold


def mistakes(alignment: Alignment, judged: Verdicts) -> str:
    """What is wrong and what was missed, a line each, such as `missed: bought – purchased, used ∅`."""
    said = []
    for verdict in ("wrong", "missed"):
        things = [*_name_words(alignment, judged, verdict)]
        if things:
            said.append(f"{verdict}: {', '.join(things)}")
    return "\n".join(said)


def _judge(predicted: Iterable[Thing], gold: Iterable[Thing]) -> dict[Thing, Verdict]:
    said, true = set(predicted), set(gold)
    return {
        one: "missed" if one not in said else "right" if one in true else "wrong"
        for one in sorted(said | true)
    }


def _name_words(alignment: Alignment, judged: Verdicts, verdict: Verdict) -> Iterator[str]:
    for (i, j), found in judged.links.items():
        if found == verdict:
            yield f"{shown(alignment.source[i])} – {shown(alignment.target[j])}"
    sides = ((alignment.source, judged.source_nulls), (alignment.target, judged.target_nulls))
    for words, nulls in sides:
        yield from (f"{shown(words[k])} ∅" for k, found in nulls.items() if found == verdict)
