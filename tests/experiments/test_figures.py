"""Figures of a small study: the files are valid, and the labels of lines do not overlap."""

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.unsupervised.figures import EXAMPLES
from experiments.unsupervised.figures.lines import plot_by_null_rate, spread_labels
from otalign.render.canvas import save


@pytest.fixture(scope="module")
def results(model, corpora, tmp_path_factory):
    pytest.importorskip("torch")
    from experiments.study_data import StudySource
    from experiments.unsupervised import figures, run_study, select_rows
    from otalign.tuning import EncoderChoice

    folder = tmp_path_factory.mktemp("figures")
    rows = select_rows("simalign,bot-sinkhorn,pot-sinkhorn,uot-sinkhorn")
    return (
        run_study(StudySource(str(model), corpora), folder, rows, [EncoderChoice(1)]),
        folder,
        figures,
    )


def test_figures_are_made_as_svg_and_png(results, monkeypatch):
    pytest.importorskip("matplotlib")
    study, folder, figures = results
    monkeypatch.setattr(figures, "EXAMPLES", EXAMPLES[:1])
    written = figures.write(study, folder)
    names = ["f1-by-null-rate", "f1-by-phrase-share", "matrices-1"]
    assert [path.name for path in written] == [f"{name}.{kind}" for name in names for kind in ("svg", "png")]
    for path in written:
        if path.suffix == ".svg":
            assert ET.parse(path).getroot().tag.endswith("svg")
        else:
            assert path.read_bytes().startswith(b"\x89PNG")
    once = written[0].read_bytes()
    assert save(plot_by_null_rate(study), folder / "f1-by-null-rate")[0].read_bytes() == once


def test_without_matplotlib_the_error_says_how_to_get_it(results, monkeypatch):
    study, folder, figures = results
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"figures need matplotlib: pip install 'otalign\[plot\]'"):
        figures.write(study, folder)


def test_the_examples_are_ours():
    ours = (Path(__file__).parents[2] / "examples" / "pairs.tsv").read_text(encoding="utf-8").splitlines()
    assert all("\t".join(pair) in ours for pair in EXAMPLES)


@given(st.lists(st.floats(0, 100), max_size=12), st.floats(0.1, 10))
def test_names_keep_their_order_and_their_distance(heights, gap):
    found = spread_labels(heights, gap)
    order = np.argsort(heights, kind="stable")
    assert (np.diff(np.array(found)[order]) >= gap - 1e-6).all()
    if len(heights) < 2 or np.diff(np.sort(heights)).min() >= gap:
        assert found == pytest.approx(heights)
