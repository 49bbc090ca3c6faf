"""Rows of the unsupervised table: the threshold sweep of SimAlign, names, and the figures of the paper."""

import re

import numpy as np
import pytest

from experiments import paper
from experiments.columns import COLUMNS
from experiments.unsupervised import MAIN, ROWS, select_rows
from experiments.unsupervised.simalign import compute_curves
from experiments.unsupervised.system import make_alignments
from otalign.baselines import SimAlign
from otalign.gold import Gold
from otalign.metrics import compute_scores, count
from tests.corpus_data import DATA, needs_file
from tests.experiments.conftest import make_random_gold


@pytest.mark.parametrize("distortion", [0.0, 0.4])
def test_the_sweep_of_simalign_is_aligning_at_each_threshold(distortion):
    rng = np.random.default_rng(1)
    golds = [make_random_gold(rng) for _ in range(30)] + [
        Gold(("he",), (), set()),
        Gold(("he",), ("he",), {(0, 0)}),
    ]
    matrices = [rng.random(gold.shape) ** 3 for gold in golds]
    found = compute_curves(
        SimAlign(distortion=distortion), range(2, 100, 7), matrices, golds, ("sure", "possible")
    )
    for level, curve in found.items():
        assert len(set(np.round(curve.f1, 6))) > 3
        for k, threshold in enumerate(curve.thresholds):
            system = SimAlign(distortion=distortion, threshold=float(threshold))
            alone = compute_scores(count(make_alignments(golds, map(system.align, matrices)), golds, level))
            assert (curve.precision[k], curve.recall[k]) == pytest.approx(
                (alone["precision"], alone["recall"])
            )


def test_rows_are_named_by_patterns_in_the_order_of_the_table():
    assert [row.name for row in select_rows("uot-sinkhorn, bot-exact")] == ["bot-exact", "uot-sinkhorn"]
    assert len(select_rows("uot-sinkhorn*")) == 4
    assert len(select_rows("main")) == len(MAIN)
    assert select_rows("all") == tuple(ROWS.values())
    with pytest.raises(ValueError, match=r"rows must be main, all, or one of fast-align, .*; got 'x'"):
        select_rows("x")


def test_every_figure_of_the_paper_has_a_row_and_a_column():
    assert set(paper.F1) <= {row.name for row in MAIN}
    assert {len(figures) for figures in (*paper.F1.values(), paper.NULL_RATES)} == {len(COLUMNS)}


@needs_file("README.md")
def test_the_figures_of_the_paper_are_those_that_come_with_the_corpora():
    text = (DATA / "README.md").read_text(encoding="utf-8").partition("Unsupervised, cosine")[2]
    titles = {ROWS[name].title: figures for name, figures in paper.F1.items()}
    found = re.findall(r"^\| ([^|]+) \| ([\d. |]+) \|$", text.partition("Supervised, ")[0], re.M)
    assert {title: tuple(map(float, row.split(" | "))) for title, row in found} == titles
