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
    """How a row is drawn: kinds of transport by colour and mark, exact ones dashed.

    Those that are far below the others leave them too little room to be told apart.
    """

    row: str
    name: str
    colour: str
    marker: str
    dashes: str = "-"
    far_below: bool = False


# Colours of Okabe and Ito, which the colour-blind can tell apart.
LINES = (
    Line("uot-sinkhorn", "UOT", "#009E73", "^"),
    Line("pot-sinkhorn", "POT", "#D55E00", "s"),
    Line("bot-sinkhorn", "BOT", "#0072B2", "o"),
    Line("pot-exact", "POT exact", "#D55E00", "s", "--"),
    Line("bot-exact", "BOT exact", "#0072B2", "o", "--", far_below=True),
    Line("simalign", "SimAlign", INK, "D", ":"),
    Line("fast-align", "fast-align", FAINT, "x", ":", far_below=True),
)
BETTER = tuple(line for line in LINES if not line.far_below)


@dataclass(frozen=True)
class Panel:
    """Some test sets, and the lines drawn of them."""

    title: str
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]


LEADER = {"arrowstyle": "-", "linewidth": 0.4, "shrinkA": 1, "shrinkB": 3}  # from a line's end to its name

Points = list[tuple[float, float]]


def by_null_rate(study: Study) -> Any | None:
    """Over all test sets; and, of the better systems, without MSR-RTE, which has by far the most nulls."""
    others = tuple(column for column in SURE if column.corpus != "msr-rte")
    panels = [Panel("All corpora", SURE, LINES), Panel("Without MSR-RTE", others, BETTER)]
    return _figure(study, "null_rate", "Null words in the gold (% of the words)", panels)


def by_phrase_share(study: Study) -> Any | None:
    label = "Phrases in the gold (% of its groups of links)"
    panels = [Panel("All corpora", SURE, LINES), Panel("The better systems", SURE, BETTER)]
    return _figure(study, "phrase_share", label, panels)


def _figure(study: Study, by: Grouping, label: str, panels: Sequence[Panel]) -> Any | None:
    known = {line for line in LINES if all(study.cell(ROWS[line.row], column) for column in SURE)}
    if any(known.isdisjoint(panel.lines) for panel in panels):
        return None
    figure, axes = blank(4.4 * len(panels) + 0.4, 4.2, len(panels))
    for ax, panel in zip(axes, panels, strict=True):
        drawn = [line for line in panel.lines if line in known]
        counts = {line: _counts(study, line, panel.columns) for line in drawn}
        _draw(ax, {line: _points(of, by) for line, of in counts.items()})
        ax.set_title(f"{panel.title}, {len(counts[drawn[0]]):,} pairs", loc="left", fontsize=10)
        ax.set_xlabel(label)
    axes[0].set_ylabel("F1 (%)")
    return figure


def _counts(study: Study, line: Line, columns: Sequence[Column]) -> Counts:
    return Counts.joined(study.counts(ROWS[line.row], column) for column in columns)


def _points(counts: Counts, by: Grouping) -> Points:
    """For each bin of pairs the mean of the property, and F1, in percent."""
    bins = [part.counts for part in breakdown(counts, by, BINS)]
    return [(100 * mean(getattr(part, by).tolist()), 100 * scores(part, ["f1"])["f1"]) for part in bins]


def _draw(ax: Any, lines: dict[Line, Points]) -> None:
    for line, points in lines.items():
        style = {"color": line.colour, "linestyle": line.dashes, "marker": line.marker}
        ax.plot(*zip(*points, strict=True), **style, linewidth=1.3, markersize=3.5)
    bottom, top = ax.get_ylim()
    top = min(100, top + 0.05 * (top - bottom))  # room for a name above the highest line
    ax.set_ylim(bottom, top)
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
