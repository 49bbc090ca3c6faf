"""Alignments as a page: one HTML file that asks for nothing from outside, to be read, filtered and printed.

The page is `report.html` with styles, scripts and the pairs as JSON put into it. The script draws a
pair when it comes into sight, so that thousands open at once. Words may hold anything: they are data in JSON,
in which nothing can end the element that it stands in, and the script puts them into the page as text only.
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
    """The page as text; with gold it shows what is right, wrong and missed, and the F1 of each pair."""
    alignments = list(alignments)
    gold = None if golds is None else [at_level(one, level) for one in golds]
    # Beside itself an alignment still has a length and a null rate.
    counts = count(alignments, alignments if gold is None else gold, level)
    data = {"scores": None, "pairs": [*_pairs(alignments, gold, counts)]}
    if gold:
        data["scores"] = scores(counts, SCORES) | {"level": level}
    return Template(asset("report.html")).substitute(
        title=escape(title),
        style=asset("linked.css", "report.css"),
        script=asset("linked.js", "report.js"),
        data=_in_script(data),
    )


def _pairs(
    alignments: list[Alignment], golds: list[Alignment] | None, counts: Counts
) -> Iterator[dict[str, Any]]:
    each, tallies = per_pair(counts), count_verdicts(counts)
    for k, alignment in enumerate(alignments):
        pair = _pair(alignment, verdicts(alignment, golds[k]) if golds else None)
        pair |= {"nullRate": _short(each["null_rate"][k]), "length": int(each["length"][k])}
        if golds:
            pair |= {"f1": _short(each["f1"][k]), "tally": tallies[k]}
        yield pair


def _pair(alignment: Alignment, judged: Verdicts | None) -> dict[str, Any]:
    """What the page is told of one pair; where there is gold, `verdict` stands at each link and null."""
    strength = strengths(alignment)
    source_nulls: dict[int, Any] = dict.fromkeys(alignment.source_nulls)
    target_nulls: dict[int, Any] = dict.fromkeys(alignment.target_nulls)
    links = [[i, j, _short(weight), _short(strength[i, j])] for i, j, weight in alignment.links]
    if judged:
        source_nulls, target_nulls = judged.source_nulls, judged.target_nulls
        links = [[*link, judged.links[link[0], link[1]]] for link in links]
        links += [[i, j, None, 1, v] for (i, j), v in judged.links.items() if v == "missed"]
    return {
        "source": [*map(shown, alignment.source)],
        "target": [*map(shown, alignment.target)],
        "leftwards": leftwards(alignment.source + alignment.target),
        "columns": [[column.source, column.target] for column in _columns(alignment)],
        "links": links,
        "sourceNulls": [*source_nulls.items()],
        "targetNulls": [*target_nulls.items()],
        "sourceConfidence": _confidences(alignment.source_null_confidence),
        "targetConfidence": _confidences(alignment.target_null_confidence),
    }


def _columns(alignment: Alignment) -> tuple[GlossColumn, ...]:
    above, below = (
        [word_width(shown(word)) for word in side] for side in (alignment.source, alignment.target)
    )

    def compute_saving(column: GlossColumn) -> float:
        return min(sum(above[i] for i in column.source), sum(below[j] for j in column.target)) + GAP

    return columns(alignment, compute_saving)


def _confidences(values: tuple[float, ...] | None) -> list[float] | None:
    return None if values is None else [*map(_short, values)]


def _short(value: float) -> float:
    return round(float(value), 4)


def _in_script(data: Any) -> str:
    """JSON that can stand in a script element: without <, > and &, no word can end the element."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate({ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"})
