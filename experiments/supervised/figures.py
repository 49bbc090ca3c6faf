"""The figures of the supervised study: F1 by nulls and phrases, and reliability diagrams."""

from collections.abc import Sequence
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

from experiments.columns import Column
from experiments.supervised.rows import ROWS, UNION
from experiments.supervised.study import Supervised
from experiments.unsupervised.figures.lines import SURE, WITHOUT_MSR, Panel, PlotLine, Pooled, figure
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
FEW = 20  # in a bin: too few for a share that means anything


def write(study: Supervised, folder: Path) -> list[Path]:
    """Write the figures that the finished results allow; return the files."""
    by_nulls = [Panel("All corpora", SURE, LINES), Panel("Without MSR-RTE", WITHOUT_MSR, LINES)]
    drawn = {
        "supervised-f1-by-null-rate": figure("null_rate", by_nulls, _make_pool(study)),
        "supervised-f1-by-phrase-share": figure("phrase_share", by_nulls[:1], _make_pool(study)),
        "reliability": reliability(study),
    }
    folder.mkdir(parents=True, exist_ok=True)
    return [path for name, figure in drawn.items() if figure for path in save(figure, folder / name)]


def _make_pool(study: Supervised) -> Pooled:
    def pool(line: PlotLine, columns: Sequence[Column]) -> list[Counts]:
        row, counts = ROWS[line.row], study.ground.results.counts
        return [
            Counts.concatenate(counts(study.group_results(row, column)[seed], column) for column in columns)
            for seed in study.whole_seeds(row, SURE)
        ]

    return pool


def collect_reliability(study: Supervised, level: str, what: str) -> list[Reliability]:
    """Return the reliability of the models of all corpora at a level, by seed."""
    return [
        Reliability.from_dict(result.reliability[level][what])
        for result in study.of_row(ROWS[UNION])
        if level in result.reliability
    ]


def reliability(study: Supervised) -> Any | None:
    """Draw the observed frequency of links and nulls by their predicted probability, over all seeds."""
    if not any(collect_reliability(study, level, "links") for level in LEVELS):
        return None
    drawn, axes = blank(7.6, 3.8, 2)
    for ax, what in zip(axes, ("links", "nulls"), strict=True):
        ax.plot([0, 100], [0, 100], color=FAINT, linestyle=":", linewidth=0.8)
        for level, (name, colour, marker) in LEVELS.items():
            pooled = reduce(add, collect_reliability(study, level, what))
            enough = pooled.counts >= FEW
            points = 100 * pooled.probability[enough], 100 * pooled.share[enough]
            ax.plot(*points, color=colour, marker=marker, linewidth=1.3, markersize=3.5, label=name)
        ax.set_title(what.capitalize(), loc="left", fontsize=10)
        ax.set_xlabel("Probability (%)")
        ax.set_aspect("equal")
    axes[0].set_ylabel("So in the gold (%)")
    axes[0].legend(frameon=False, loc="upper left")
    return drawn
