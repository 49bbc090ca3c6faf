"""The data of a report: the words of each pair, its gold, and what each system found."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from otalign.alignment import Alignment, Level
from otalign.gold import Gold
from otalign.io.items import get_levels
from otalign.metrics import compute_scores, count, score_pairs
from otalign.quantities import count_noun
from otalign.render.words import shown

Systems = Mapping[str, Iterable[Alignment]]  # the alignments of each system, by its name
SCORES = ("f1", "precision", "recall")
GOLD = "gold"  # stands for the gold where a system's name does


def describe(
    systems: Systems,
    golds: Iterable[Gold | Alignment] | None,
    level: Level,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return what the page shows, as values for JSON.

    Args:
        systems: The alignments of each system.
        golds: Gold alignments of the same pairs.
        level: Level of gold that counts.

    Returns:
        The systems and, by its name, each number of the pairs that filters, orders and sizes need; and the
        words and links of each pair.

    Raises:
        ValueError: If there is no system, or if systems or gold have different pairs.
    """
    found = {name: list(alignments) for name, alignments in systems.items()}
    _check_pairs(found)
    gold = None if golds is None else list(golds)
    if gold is not None and GOLD in found:
        raise ValueError("gold is the name of the gold; give the system another name")
    scored = [_score_system(name, alignments, gold, level) for name, alignments in found.items()]
    by_pair = [*zip(*found.values(), strict=True)]
    pairs = [
        _describe_pair(alignments, one)
        for alignments, one in zip(by_pair, gold or [None] * len(by_pair), strict=True)
    ]
    index: dict[str, Any] = {
        "level": level,
        "judged": bool(gold),
        "hasPossible": any("possible" in pair for pair in pairs),
        "systems": [overall for overall, _ in scored],
        "length": [sum(alignments[0].shape) for alignments in by_pair],
        "letters": [max(len(" ".join(pair[side])) for side in ("source", "target")) for pair in pairs],
        "differs": [_count_differences(alignments) for alignments in by_pair],
    }
    for measure in ("nullRate", "f1"):
        index[measure] = [*zip(*(measures[measure] for _, measures in scored), strict=True)]
    return index, pairs


def _check_pairs(systems: Mapping[str, Sequence[Alignment]]) -> None:
    if not systems:
        raise ValueError("there is no system to show; give the alignments of at least one")
    (first, alignments), *others = systems.items()
    for name, more in others:
        if len(more) != len(alignments):
            raise ValueError(
                f"{first} has {count_noun(len(alignments), 'pair')}, but {name} has {len(more):,}; "
                "all systems must align the same pairs"
            )
        for number, (one, two) in enumerate(zip(alignments, more, strict=True), 1):
            if (one.source, one.target) != (two.source, two.target):
                raise ValueError(
                    f"pair {number} has other words in {first} than in {name}; "
                    "all systems must align the same pairs"
                )


def _score_system(
    name: str, alignments: list[Alignment], golds: list[Gold | Alignment] | None, level: Level
) -> tuple[dict[str, Any], dict[str, list[float]]]:
    """Return the name and the scores of a system, and the measures of each pair."""
    # Without gold only the null rate is used, which needs no other alignment.
    counts = count(alignments, alignments if golds is None else golds, level)
    measures = score_pairs(counts)
    overall = {"name": name} | dict(compute_scores(counts, SCORES) if golds else {})
    if golds is None:
        words = sum(sum(one.shape) for one in alignments)
        nulls = sum(len(one.source_nulls) + len(one.target_nulls) for one in alignments)
        overall |= {"links": sum(len(one.links) for one in alignments), "nullRate": nulls / max(words, 1)}
    named = {"nullRate": measures["null_rate"], "f1": measures["f1"]}
    return overall, {key: [round(value, 4) for value in values.tolist()] for key, values in named.items()}


def _describe_pair(alignments: Sequence[Alignment], gold: Gold | Alignment | None) -> dict[str, Any]:
    pair = _describe_words(alignments[0])
    if gold is not None:
        sure, possible = get_levels(gold)
        pair |= {"sure": sorted(sure)} | ({"possible": sorted(possible)} if possible else {})
    return pair | {"systems": [*map(_describe_alignment, alignments)]}


def _describe_alignment(alignment: Alignment) -> dict[str, Any]:
    found: dict[str, Any] = {"links": [[i, j, round(weight, 4)] for i, j, weight in alignment.links]}
    for side in ("source", "target"):
        confidence = getattr(alignment, f"{side}_null_confidence")
        if confidence is not None:
            found[f"{side}Confidence"] = [round(value, 4) for value in confidence]
    return found


def _describe_words(alignment: Alignment) -> dict[str, Any]:
    """Return the words of a pair."""
    described: dict[str, Any] = {}
    for side, words in (("source", alignment.source), ("target", alignment.target)):
        described[side] = [*map(shown, words)]
        drawn = zip(words, described[side], strict=True)
        unlike = {k: word for k, (word, text) in enumerate(drawn) if word != text}
        if unlike:
            described[f"{side}Raw"] = unlike
    return described


def _count_differences(alignments: Sequence[Alignment]) -> int:
    """Return the number of links and nulls that some of the alignments have, but not all."""
    sets = ([one.pairs for one in alignments], *_list_nulls(alignments))
    return sum(len(frozenset.union(*some) - frozenset.intersection(*some)) for some in sets)


def _list_nulls(alignments: Sequence[Alignment]) -> Iterator[list[frozenset[int]]]:
    yield [frozenset(one.source_nulls) for one in alignments]
    yield [frozenset(one.target_nulls) for one in alignments]
