"""The examples of the README and of some pages run; the other pages are tested beside what they tell of."""

import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = [
    ROOT / "README.md",
    *(ROOT / "docs" / name for name in ("ot.md", "show.md", "diff.md", "project.md")),
]


def examples(document: Path) -> list[str]:
    return re.findall(r"(?<!-->\n)^```python\n(.*?)^```", document.read_text(encoding="utf-8"), re.M | re.S)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_python_examples_of_a_document_run(document, tmp_path, monkeypatch, tiny_model):
    shutil.copytree(tiny_model("bert"), tmp_path / "minilm-l6")  # of no understanding, but of the same kind
    monkeypatch.chdir(tmp_path)
    assert examples(document), f"{document.name} has no example"
    names: dict = {}
    for example in examples(document):
        exec(compile(example.replace("layer=4", "layer=3"), document.name, "exec"), names)


def test_the_example_of_the_readme_prints_what_it_says():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (example,) = (example for example in examples(ROOT / "README.md") if "transport" in example)
    names: dict = {}
    exec(example, names)
    said = re.search(r"target_marginal +# \[(.*?)\]", text)
    assert said is not None
    assert [f"{mass:.2f}" for mass in names["transport"].target_marginal] == said[1].split()
    assert names["transport"].converged is True
