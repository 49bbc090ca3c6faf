"""F1 by a property of the pairs, a line for each system, over the test sets pooled at the level S."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from experiments.columns import COLUMNS, Column
from experiments.unsupervised.rows import ROWS
from experiments.unsupervised.run import Study
from otalign.metrics import Counts, Grouping, break_down, compute_scores
from otalign.render.canvas import FAINT, INK, blank

BINS = 8
SURE = tuple(column for column in COLUMNS if column.level == "sure")
WITHOUT_MSR = tuple(column for column in SURE if column.corpus != "msr-rte")
LABELS: dict[Grouping, str] = {
    "null_rate": "Null words in the gold (% of the words)",
    "phrase_share": "Phrases in the gold (% of its groups of links)",
}


@dataclass(frozen=True)
class PlotLine:
    """The style of a row: colour and marker by kind of transport, dashed if exact.

    Rows that are far below the others are not drawn, since they would compress the scale.
    """

    row: str
    name: str
    colour: str
    marker: str
    dashes: str = "-"
    far_below: bool = False


# Colours of Okabe and Ito, which are distinct for the colour-blind.
LINES = (
    PlotLine("uot-sinkhorn", "UOT", "#009E73", "^"),
    PlotLine("pot-sinkhorn", "POT", "#D55E00", "s"),
    PlotLine("bot-sinkhorn", "BOT", "#0072B2", "o"),
    PlotLine("pot-exact", "POT exact", "#D55E00", "s", "--"),
    PlotLine("bot-exact", "BOT exact", "#0072B2", "o", "--", far_below=True),
    PlotLine("simalign", "SimAlign", INK, "D", ":"),
    PlotLine("fast-align", "fast-align", FAINT, "x", ":", far_below=True),
)
BETTER = tuple(line for line in LINES if not line.far_below)


@dataclass(frozen=True)
class Panel:
    """Test sets, and the lines drawn for them."""

    title: str
    columns: tuple[Column, ...]
    lines: tuple[PlotLine, ...]


Points = list[tuple[float, float]]
CountPool = Callable[[PlotLine, Sequence[Column]], list[Counts]]  # returns the counts on test sets, by seed


def plot_by_null_rate(study: Study) -> Any | None:
    """Draw F1 over all test sets, and for the better systems without MSR-RTE, which has the most nulls."""
    panels = [Panel("All corpora", SURE, LINES), Panel("Without MSR-RTE", WITHOUT_MSR, BETTER)]
    return plot_panels("null_rate", panels, _make_pool(study))


def plot_by_phrase_share(study: Study) -> Any | None:
    """Draw F1 over all test sets, for all systems and for the better ones."""
    panels = [Panel("All corpora", SURE, LINES), Panel("The better systems", SURE, BETTER)]
    return plot_panels("phrase_share", panels, _make_pool(study))


def _make_pool(study: Study) -> CountPool:
    def pool(line: PlotLine, columns: Sequence[Column]) -> list[Counts]:
        row = ROWS[line.row]
        if not all(study.find_cell(row, column) for column in SURE):
            return []
        return [Counts.concatenate(study.read_counts(row, column) for column in columns)]

    return pool


def plot_panels(by: Grouping, panels: Sequence[Panel], pool: CountPool) -> Any | None:
    """Draw F1 by a property, unless a panel has no line. Several seeds give a mean line."""
    counts = [{line: pool(line, panel.columns) for line in panel.lines} for panel in panels]
    if not all(any(by_line.values()) for by_line in counts):
        return None
    known = [{line: seeds for line, seeds in by_line.items() if seeds} for by_line in counts]
    return draw_lines(by, {panel.title: lines for panel, lines in zip(panels, known, strict=True)})


def draw_lines(by: Grouping, panels: Mapping[str, Mapping[PlotLine, list[Counts]]]) -> Any:
    """Draw F1 by a property, given the panels by title, and in each the counts of its lines, by seed."""
    figure, axes = blank(4.4 * len(panels) + 0.4, 4.2, len(panels))
    for ax, (title, lines) in zip(axes, panels.items(), strict=True):
        _draw(ax, {line: _compute_points(seeds, by) for line, seeds in lines.items()})
        pairs = len(next(iter(lines.values()))[0])
        ax.set_title(f"{title}, {pairs:,} pairs", loc="left", fontsize=10)
        ax.set_xlabel(LABELS[by])
    axes[0].set_ylabel("F1 (%)")
    return figure


def _compute_points(seeds: Sequence[Counts], by: Grouping) -> Points:
    """Compute the mean of the property in each bin of pairs, and of F1 over the seeds, in percent."""
    # Bins depend on the gold alone, so they are the same for all seeds.
    bins = [[part.counts for part in break_down(counts, by, BINS)] for counts in seeds]
    return [
        (
            100 * mean(getattr(by_seed[0], by).tolist()),
            100 * mean(compute_scores(counts, ["f1"])["f1"] for counts in by_seed),
        )
        for by_seed in zip(*bins, strict=True)
    ]


def _draw(ax: Any, lines: dict[PlotLine, Points]) -> None:
    for line, points in lines.items():
        style = {"color": line.colour, "linestyle": line.dashes, "marker": line.marker}
        ax.plot(*zip(*points, strict=True), **style, linewidth=1.3, markersize=3.5)
    bottom, top = ax.get_ylim()
    top = min(100, top + 0.05 * (top - bottom))  # room for a name above the highest line
    ax.set_ylim(bottom, top)
    ends = [points[-1] for points in lines.values()]
    heights = spread_labels([y for _, y in ends], 0.045 * (top - bottom))
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


def spread_labels(heights: Sequence[float], gap: float) -> list[float]:
    """Return heights as close to these as a minimum gap allows, in the same order."""
    order = sorted(range(len(heights)), key=lambda k: heights[k])
    groups: list[tuple[list[int], float]] = []  # members, and the height of their middle
    for k in order:
        members, middle = [k], heights[k]
        while groups and middle - groups[-1][1] < gap * (len(members) + len(groups[-1][0])) / 2:
            members = groups.pop()[0] + members
            middle = sum(heights[one] for one in members) / len(members)
        groups.append((members, middle))
    found = list(heights)
    for members, middle in groups:
        for rank, k in enumerate(members):
            found[k] = middle + gap * (rank - (len(members) - 1) / 2)
    return found
