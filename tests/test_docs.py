"""The examples of the README and of docs/ot.md run; the other pages are tested beside what they tell of."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "docs" / "ot.md"]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_python_examples_of_a_document_run(document):
    examples = re.findall(r"^```python\n(.*?)^```", document.read_text(encoding="utf-8"), re.M | re.S)
    assert examples, f"{document.name} has no example"
    names: dict = {}
    for example in examples:
        exec(compile(example, document.name, "exec"), names)


def test_the_example_of_the_readme_prints_what_it_says():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    names: dict = {}
    exec(re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)[0], names)
    said = re.search(r"target_marginal +# \[(.*?)\]", text)
    assert said is not None
    assert [f"{mass:.2f}" for mass in names["transport"].target_marginal] == said[1].split()
    assert names["transport"].converged is True
