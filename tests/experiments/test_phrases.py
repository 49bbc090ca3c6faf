"""`python -m experiments phrases` as a user runs it, and its rates of links between different words."""

import pytest

pytest.importorskip("torch")

from experiments import phrases
from experiments.columns import COLUMNS
from otalign import Alignment, Gold, Link
from tests.experiments.runner import run_experiment


@pytest.fixture(autouse=True)
def without_figures(monkeypatch):
    monkeypatch.setattr(phrases, "plot", lambda results, name, folder: [folder / "figure.svg"])


def test_the_tables_hold_all_variants_and_columns_of_both_splits(capsys, model, corpora, tmp_path):
    options = ["--encoder", str(model), "--layer", "2", "--data", str(corpora), "--test"]
    printed, _ = run_experiment(capsys, "phrases", *options, "-o", str(tmp_path))
    (file,) = tmp_path.glob("phrases-*.md")
    text = file.read_text()
    assert text in printed
    assert printed.splitlines()[-2:] == [str(file), str(tmp_path / "figures" / "figure.svg")]
    dev, test = text.split("## Test sets")
    for part, columns in ((dev, [c for c in COLUMNS if c.corpus == c.dev]), (test, COLUMNS)):
        heading = next(line for line in part.splitlines() if "most phrases" in line)
        assert heading.split(" | ")[4:] == [
            *(column.heading for column in columns[:-1]),
            f"{columns[-1].heading} |",
        ]
        for variant in phrases.VARIANTS:
            rows = [line for line in part.splitlines() if line.startswith(f"| {variant} |")]
            assert len(rows) == 2  # F1, and links between different words
    again, _ = run_experiment(capsys, "phrases", *options, "-o", str(tmp_path))
    assert again == printed


def test_only_links_between_words_that_differ_count():
    gold = Gold(("a", "B", "c"), ("a", "b", "d", "e"), frozenset({(0, 0), (1, 1), (2, 2), (2, 3)}))
    links = (Link(0, 0, 1.0), Link(1, 1, 1.0), Link(2, 2, 1.0), Link(0, 2, 1.0))
    recall, precision = phrases.compute_rates_of_different_words(
        [Alignment(gold.source, gold.target, links)], [gold]
    )
    assert (recall, precision) == (50.0, 50.0)
