"""The figures of the supervised study: F1 by nulls and phrases, and reliability diagrams."""

from collections.abc import Sequence
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

from experiments.columns import Column
from experiments.supervised.rows import ROWS, UNION
from experiments.supervised.study import SupervisedStudy
from experiments.unsupervised.figures.lines import SURE, WITHOUT_MSR, CountPool, Panel, PlotLine, plot_panels
from otalign.metrics import Counts
from otalign.metrics.reliability import Reliability
from otalign.render.canvas import FAINT, blank, save

LINES = (
    PlotLine("learned-further", "learned", "#CC79A7", "D"),
    PlotLine("uot", "UOT", "#009E73", "^"),
    PlotLine("pot", "POT", "#D55E00", "s"),
    PlotLine("bot", "BOT", "#0072B2", "o"),
)
LEVELS = {"sure": ("S", "#0072B2", "o"), "possible": ("S+P", "#D55E00", "s")}
MIN_COUNT = 20  # smallest number of links or nulls of a bin that is drawn


def write(study: SupervisedStudy, folder: Path) -> list[Path]:
    """Write the figures that the finished results allow; return the files."""
    by_nulls = [Panel("All corpora", SURE, LINES), Panel("Without MSR-RTE", WITHOUT_MSR, LINES)]
    figures = {
        "supervised-f1-by-null-rate": plot_panels("null_rate", by_nulls, _make_pool(study)),
        "supervised-f1-by-phrase-share": plot_panels("phrase_share", by_nulls[:1], _make_pool(study)),
        "reliability": plot_reliability(study),
    }
    folder.mkdir(parents=True, exist_ok=True)
    return [path for name, figure in figures.items() if figure for path in save(figure, folder / name)]


def _make_pool(study: SupervisedStudy) -> CountPool:
    def pool(line: PlotLine, columns: Sequence[Column]) -> list[Counts]:
        row, read_counts = ROWS[line.row], study.context.results.read_counts
        return [
            Counts.concatenate(
                read_counts(study.group_results(row, column)[seed], column) for column in columns
            )
            for seed in study.find_complete_seeds(row, SURE)
        ]

    return pool


def collect_reliability(study: SupervisedStudy, level: str, kind: str) -> list[Reliability]:
    """Return the reliability of the models of all corpora at a level, by seed."""
    return [
        Reliability.from_dict(result.reliability[level][kind])
        for result in study.get_results(ROWS[UNION])
        if level in result.reliability
    ]


def plot_reliability(study: SupervisedStudy) -> Any | None:
    """Draw the observed frequency of links and nulls by their predicted probability, over all seeds."""
    if not any(collect_reliability(study, level, "links") for level in LEVELS):
        return None
    figure, axes = blank(7.6, 3.8, 2)
    for ax, kind in zip(axes, ("links", "nulls"), strict=True):
        ax.plot([0, 100], [0, 100], color=FAINT, linestyle=":", linewidth=0.8)
        for level, (name, colour, marker) in LEVELS.items():
            pooled = reduce(add, collect_reliability(study, level, kind))
            enough = pooled.counts >= MIN_COUNT
            points = 100 * pooled.probability[enough], 100 * pooled.share[enough]
            ax.plot(*points, color=colour, marker=marker, linewidth=1.3, markersize=3.5, label=name)
        ax.set_title(kind.capitalize(), loc="left", fontsize=10)
        ax.set_xlabel("Probability (%)")
        ax.set_aspect("equal")
    axes[0].set_ylabel("Share in the gold (%)")
    axes[0].legend(frameon=False, loc="upper left")
    return figure
