"""Alignments as an HTML page: a single file without external resources, to be read, filtered and printed.

The page is the template `report.html` with styles, scripts and the pairs as JSON. The script draws a pair
when it scrolls into view, so that thousands of pairs open at once. Words may contain anything: in JSON they
are escaped so that they cannot end the script element, and the script inserts them as text only.
"""

import json
from collections.abc import Iterable, Iterator
from html import escape
from string import Template
from typing import Any

from otalign.alignment import Alignment, Level
from otalign.gloss import GlossColumn, columns
from otalign.gold import Gold
from otalign.metrics import Counts, count, per_pair, scores
from otalign.render.assets import asset
from otalign.render.layout import leftwards, word_width
from otalign.render.verdicts import Verdicts, at_level, count_verdicts, verdicts
from otalign.render.words import shown, strengths

SCORES = ("f1", "precision", "recall")
GAP = 14  # pixels between columns, as in report.css


def report(
    alignments: Iterable[Alignment],
    golds: Iterable[Gold | Alignment] | None = None,
    level: Level = "sure",
    *,
    title: str = "Alignments",
) -> str:
    """Return the page as text.

    Args:
        alignments: Alignments to show.
        golds: Gold alignments in the same order, for verdicts and the F1 of each pair.
        level: Level of gold that counts.
        title: Title of the page.
    """
    alignments = list(alignments)
    gold = None if golds is None else [at_level(item, level) for item in golds]
    # Without gold only the length and the null rate are used, which need no other alignment.
    counts = count(alignments, alignments if gold is None else gold, level)
    data = {"scores": None, "pairs": [*_describe_pairs(alignments, gold, counts)]}
    if gold:
        data["scores"] = scores(counts, SCORES) | {"level": level}
    return Template(asset("report.html")).substitute(
        title=escape(title),
        style=asset("linked.css", "report.css"),
        script=asset("linked.js", "report.js"),
        data=_escape_json(data),
    )


def _describe_pairs(
    alignments: list[Alignment], golds: list[Alignment] | None, counts: Counts
) -> Iterator[dict[str, Any]]:
    metrics, tallies = per_pair(counts), count_verdicts(counts)
    for k, alignment in enumerate(alignments):
        pair = _describe_pair(alignment, verdicts(alignment, golds[k]) if golds else None)
        pair |= {"nullRate": _round(metrics["null_rate"][k]), "length": int(metrics["length"][k])}
        if golds:
            pair |= {"f1": _round(metrics["f1"][k]), "tally": tallies[k]}
        yield pair


def _describe_pair(alignment: Alignment, judged: Verdicts | None) -> dict[str, Any]:
    """Return the data of a pair for the page; with gold, each link and null has a verdict."""
    strength = strengths(alignment)
    source_nulls: dict[int, Any] = dict.fromkeys(alignment.source_nulls)
    target_nulls: dict[int, Any] = dict.fromkeys(alignment.target_nulls)
    links = [[i, j, _round(weight), _round(strength[i, j])] for i, j, weight in alignment.links]
    if judged:
        source_nulls, target_nulls = judged.source_nulls, judged.target_nulls
        links = [[*link, judged.links[link[0], link[1]]] for link in links]
        links += [[i, j, None, 1, v] for (i, j), v in judged.links.items() if v == "missed"]
    return {
        "source": [*map(shown, alignment.source)],
        "target": [*map(shown, alignment.target)],
        "leftwards": leftwards(alignment.source + alignment.target),
        "columns": [[column.source, column.target] for column in _lay_out(alignment)],
        "links": links,
        "sourceNulls": [*source_nulls.items()],
        "targetNulls": [*target_nulls.items()],
        "sourceConfidence": _round_all(alignment.source_null_confidence),
        "targetConfidence": _round_all(alignment.target_null_confidence),
    }


def _lay_out(alignment: Alignment) -> tuple[GlossColumn, ...]:
    above, below = (
        [word_width(shown(word)) for word in side] for side in (alignment.source, alignment.target)
    )

    def compute_saving(column: GlossColumn) -> float:
        return min(sum(above[i] for i in column.source), sum(below[j] for j in column.target)) + GAP

    return columns(alignment, compute_saving)


def _round_all(values: tuple[float, ...] | None) -> list[float] | None:
    return None if values is None else [*map(_round, values)]


def _round(value: float) -> float:
    return round(float(value), 4)


def _escape_json(data: Any) -> str:
    """Return JSON for a script element: without <, > and &, so that no word can end the element."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate({ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"})
