"""F1 by a property of the pairs, a line for each system, over the test sets pooled at the level S."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from otalign.metrics import Counts, Grouping, breakdown, scores
from otalign.study.columns import COLUMNS, Column
from otalign.study.figures.canvas import FAINT, INK, blank, spread
from otalign.study.rows import ROWS
from otalign.study.run import Study

BINS = 8
SURE = tuple(column for column in COLUMNS if column.level == "s")


@dataclass(frozen=True)
class Line:
    """How a row is drawn: kinds of transport by colour and mark, exact ones dashed."""

    row: str
    name: str
    colour: str
    marker: str
    dashes: str = "-"


# Colours of Okabe and Ito, which the colour-blind can tell apart.
LINES = (
    Line("uot-sinkhorn", "UOT", "#009E73", "^"),
    Line("pot-sinkhorn", "POT", "#D55E00", "s"),
    Line("bot-sinkhorn", "BOT", "#0072B2", "o"),
    Line("pot-exact", "POT exact", "#D55E00", "s", "--"),
    Line("bot-exact", "BOT exact", "#0072B2", "o", "--"),
    Line("simalign", "SimAlign", INK, "D", ":"),
    Line("fast-align", "fast-align", FAINT, "x", ":"),
)

LEADER = {"arrowstyle": "-", "linewidth": 0.4, "shrinkA": 1, "shrinkB": 3}  # from a line's end to its name

Points = list[tuple[float, float]]


def by_null_rate(study: Study) -> Any | None:
    """Over all test sets, and without MSR-RTE, whose nulls are far more than those of the others."""
    others = tuple(column for column in SURE if column.corpus != "msr-rte")
    panels = [("All corpora", SURE), ("Without MSR-RTE", others)]
    return _figure(study, "null_rate", "Null words in the gold (% of the words)", panels)


def by_phrase_share(study: Study) -> Any | None:
    label = "Phrases in the gold (% of its groups of links)"
    return _figure(study, "phrase_share", label, [("All corpora", SURE)])


def _figure(
    study: Study, by: Grouping, label: str, panels: Sequence[tuple[str, Sequence[Column]]]
) -> Any | None:
    drawn = [line for line in LINES if all(study.cell(ROWS[line.row], column) for column in SURE)]
    if not drawn:
        return None
    figure, axes = blank(4.4 * len(panels) + 0.4, 4.2, len(panels), sharey=True)
    for ax, (title, columns) in zip(axes, panels, strict=True):
        found = {line: _points(study, line, columns, by) for line in drawn}
        _draw(ax, found)
        ax.set_title(title)
        ax.set_xlabel(label)
    axes[0].set_ylabel("F1 (%)")
    return figure


def _points(study: Study, line: Line, columns: Sequence[Column], by: Grouping) -> Points:
    """For each bin of pairs the mean of the property, and F1, in percent."""
    counts = Counts.joined(study.counts(ROWS[line.row], column) for column in columns)
    bins = [part.counts for part in breakdown(counts, by, BINS)]
    return [(100 * mean(getattr(part, by).tolist()), 100 * scores(part, ["f1"])["f1"]) for part in bins]


def _draw(ax: Any, lines: dict[Line, Points]) -> None:
    for line, points in lines.items():
        style = {"color": line.colour, "linestyle": line.dashes, "marker": line.marker}
        ax.plot(*zip(*points, strict=True), **style, linewidth=1.3, markersize=3.5)
    bottom, top = ax.get_ylim()
    ends = [points[-1] for points in lines.values()]
    heights = spread([y for _, y in ends], 0.045 * (top - bottom))
    right = max(x for x, _ in ends)
    left = min(points[0][0] for points in lines.values())
    for line, (_, y), height in zip(lines, ends, heights, strict=True):
        ax.annotate(
            line.name,
            (right, y),
            (right + 0.045 * (right - left), height),
            color=line.colour,
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": line.colour,
                "linewidth": 0.4,
                "shrinkA": 1,
                "shrinkB": 3,
            },
        )
