"""`python -m experiments unsupervised` as a user runs it, over a tiny encoder and corpora made here."""

import csv
import json
import re

import pytest

pytest.importorskip("torch")
pytest.importorskip("ot")

from experiments import paper
from experiments.cli import app
from experiments.columns import COLUMNS
from experiments.unsupervised import ROWS, figures
from experiments.unsupervised.cells import CellStore
from experiments.unsupervised.transport import TransportRow
from otalign import Aligner, Settings
from otalign.io import load
from otalign.metrics import compute_scores, count
from otalign.tuning import EmbeddingStore
from tests.experiments.runner import files, run_experiment


def run(capsys, *arguments, rc: int = 0) -> tuple[str, str]:
    return run_experiment(capsys, "unsupervised", *arguments, rc=rc)


@pytest.fixture(scope="module", autouse=True)
def without_figures():
    """Figures have tests of their own, and take time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "write", lambda study, folder: [folder / "figure.svg"])
        yield


@pytest.fixture(scope="module")
def results(model, corpora, tmp_path_factory):
    """Return the results of a complete run."""
    from typer.testing import CliRunner

    folder = tmp_path_factory.mktemp("results")
    output = CliRunner().invoke(app, ["unsupervised", *options(model, corpora), "-o", str(folder)])
    assert output.exit_code == 0, output.output
    assert "best of 8, mean dev F1" in output.stderr
    assert output.stdout.splitlines()[-1] == str(folder / "figures" / "figure.svg")
    return folder


def options(model, corpora):
    return ["--encoder", str(model), "--data", str(corpora)]


def test_the_tables_hold_all_rows_and_columns(results):
    table = json.loads((results / "table.json").read_text())
    assert [row["row"] for row in table["rows"]] == list(ROWS)
    for row in table["rows"]:
        assert [(cell["corpus"], cell["level"]) for cell in row["cells"]] == [
            (column.corpus, column.level) for column in COLUMNS
        ]
        assert all(cell["signature"].endswith("version:0.1.0") for cell in row["cells"])
    assert len(table["chosen"]["tried"]) == 8
    best = max(table["chosen"]["tried"], key=lambda tried: tried["dev_f1"])
    assert (table["chosen"]["layer"], table["chosen"]["pairing"]) == (best["layer"], best["pairing"])
    text = (results / "table.md").read_text()
    for row in ROWS.values():
        lines = [line for line in text.splitlines() if line.startswith(f"| {row.title} |")]
        assert len(lines) >= 3  # F1, precision, recall
        assert all(len(re.findall(r"[\d.]+", line.partition(" | ")[2])) == len(COLUMNS) + 1 for line in lines)
    assert text.count("| _paper_ |") == len(paper.F1)
    with (results / "table.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(ROWS) * len(COLUMNS)


def test_the_best_of_each_column_is_bold(results):
    text = (results / "table.md").read_text().partition("## F1")[2].partition("## Precision")[0]
    rows = [
        line.split(" | ")[1:-1] for line in text.splitlines() if line.startswith("| ") and "_" not in line
    ]
    for column in list(zip(*rows[1:], strict=True)):
        figures = [float(figure.strip("*")) for figure in column]
        assert [figure.startswith("**") for figure in column] == [one == max(figures) for one in figures]


def test_a_cell_is_what_aligning_with_its_settings_gives(results, model, corpora):
    cells = [json.loads(path.read_text()) for path in (results / "cells").glob("*.json")]
    checked = 0
    for cell in cells:
        if not isinstance(ROWS[cell["row"]], TransportRow):
            continue
        settings = Settings.from_dict(cell["settings"])
        aligner = Aligner.load(model, layer=settings.layer)
        aligner = Aligner(aligner.encoder, settings)
        golds = load(cell["corpus"], "test", corpora)
        found = aligner.align_many((gold.source, gold.target) for gold in golds)
        assert compute_scores(
            count(found, golds, cell["level"]), ["precision", "recall", "f1"]
        ) == pytest.approx({name: cell["test"][name] for name in ("precision", "recall", "f1")})
        checked += 1
        if checked == 12:  # of any rows: the order of files says nothing
            break
    assert checked == 12


def test_a_finished_study_is_not_made_again(results, model, corpora, capsys, monkeypatch):
    before, table = files(results / "cells"), (results / "table.json").read_text()
    monkeypatch.setattr(EmbeddingStore, "_make", None)  # nothing is embedded again either
    for row in ROWS.values():
        monkeypatch.setattr(type(row), "tune", None)
    _, output = run(capsys, *options(model, corpora), "-o", results)
    assert files(results / "cells") == before
    assert (results / "table.json").read_text() == table
    assert [line for line in output.splitlines() if "F1" in line and "best of" not in line] == []


def test_a_killed_run_continues_with_the_same_result(results, model, corpora, capsys, monkeypatch, tmp_path):
    rows = ("--rows", "fast-align,simalign,threshold-cosine")
    put, made = CellStore.write, []

    def failing(self, row, column, *rest):
        if len(made) == 16:
            raise KeyboardInterrupt
        made.append((row.name, column.key))
        put(self, row, column, *rest)

    monkeypatch.setattr(CellStore, "write", failing)
    _, output = run(capsys, *options(model, corpora), "-o", tmp_path, *rows, rc=130)
    assert output.endswith("otalign: interrupted; the same command continues\n")
    before = files(tmp_path / "cells")
    assert len(before) == 2 * 16
    monkeypatch.setattr(CellStore, "write", put)
    _, output = run(capsys, *options(model, corpora), "-o", tmp_path, *rows)
    after = files(tmp_path / "cells")
    assert {name: after[name] for name in before} == before
    assert len(after) == 2 * 3 * len(COLUMNS)
    assert sum(": F1 " in line for line in output.splitlines()) == 3 * len(COLUMNS) - 16
    for name in after:
        if name.endswith(".json"):
            one, other = (json.loads((folder / "cells" / name).read_text()) for folder in (tmp_path, results))
            assert one | {"seconds": 0} == other | {"seconds": 0}


def test_a_changed_setting_is_computed_again_and_the_old_cell_stays(model, corpora, capsys, tmp_path):
    some = (*options(model, corpora), "-o", tmp_path, "--pairing", "joint", "--rows", "threshold-cosine")
    run(capsys, *some, "--layer", 1)
    before = files(tmp_path / "cells")
    run(capsys, *some, "--layer", 2)
    after = files(tmp_path / "cells")
    assert len(after) == 2 * len(before)
    assert {name: after[name] for name in before} == before
    assert "layer 2, joint encoding (as given)" in (tmp_path / "table.md").read_text()
    _, output = run(capsys, *some, "--layer", 2, "--limit", 3)
    assert sum(": F1 " in line for line in output.splitlines()) == len(COLUMNS)
    assert "only the first 3 pairs" in (tmp_path / "table.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--layer", "x"), "--layer must be auto or a number, got 'x'"),
        (("--layer", "9"), "--layer must be from 0 to 3"),
        (("--pairing", "both"), "--pairing must be auto, joint, separate, got 'both'"),
        (("--rows", "main,potts"), "rows must be main, all, or one of fast-align, simalign"),
        (("--data", "nowhere"), "there is no nowhere/"),
        (("-o", __file__), "cannot write into"),
    ],
)
def test_what_cannot_be_done_is_a_clear_error(model, corpora, capsys, tmp_path, arguments, message):
    _, output = run(capsys, *options(model, corpora), "-o", tmp_path / "x", *arguments, rc=2)
    assert message in output


def test_it_explains_itself_with_an_example(capsys):
    out, _ = run(capsys, "--help")
    assert "Example: python -m experiments unsupervised --encoder" in " ".join(out.split())
