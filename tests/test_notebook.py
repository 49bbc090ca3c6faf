"""Alignments display themselves in a notebook, and the notebook of the examples runs."""

import ast
import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from otalign import Alignment, Alignments, Link
from otalign.render.svg import svg

NOTEBOOK = Path(__file__).parent.parent / "examples" / "look.ipynb"
ONE = Alignment(("It", "rains"), ("It", "is", "raining"), (Link(0, 0), Link(1, 2)))


def test_an_alignment_shows_its_picture():
    assert ONE._repr_html_() == svg(ONE)


def test_alignments_are_a_tuple_that_shows_the_first_and_says_how_many_more():
    many = Alignments(ONE for _ in range(1_025))
    assert many == (ONE,) * 1_025
    assert many[3] is ONE
    assert type(many[:2]) is Alignments
    html = many._repr_html_()
    assert html.count("<svg") == 20
    assert html.endswith("<p>… 1,005 more</p>")
    assert many[:2]._repr_html_().count("<svg") == 2
    assert "more" not in many[:20]._repr_html_()
    assert Alignments()._repr_html_() == ""


def shown_by(cell: str, names: dict[str, Any]) -> Any:
    """Run a cell; what its last line comes to is what a notebook shows."""
    body = ast.parse(cell).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), NOTEBOOK.name, "exec"), names)
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), NOTEBOOK.name, "eval"), names)
    return None


def test_the_notebook_of_the_examples_runs_with_the_shipped_model_alone(tmp_path, monkeypatch):
    for missing in ("torch", "transformers"):
        monkeypatch.setitem(sys.modules, missing, None)  # importing it fails, as where it is not installed
    monkeypatch.delenv("OTALIGN_MODEL", raising=False)
    monkeypatch.chdir(tmp_path)
    cells = [cell for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] for cell in cells), "outputs would grow old"
    names: dict[str, Any] = {}
    shown = [shown_by("".join(cell["source"]), names) for cell in cells]
    pictures = [one._repr_html_() for one in shown if hasattr(one, "_repr_html_")]
    assert [html.count("<svg") for html in pictures] == [1, 2]
    figures = ("matrix.pdf", "arcs.png") if find_spec("matplotlib") else ()
    for name in ("report.html", *figures):
        assert (tmp_path / name).stat().st_size > 1_000
