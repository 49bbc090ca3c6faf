"""The examples of docs/formats.md do what the page says."""

import json
import re
from pathlib import Path

import pytest

from otalign.alignment import Alignment
from otalign.gold import Gold
from otalign.io import FORMATS, read, write

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"(?<!-->\n)```python\n(.*?)```", PAGE, re.DOTALL)
FILES = {
    "pairs.txt": "Boats sail fast ||| Ships sail\n",
    "links.txt": "0-0 1-1\n",
    "broken.txt": "0-0\n1+1\n\n0-0 0-0\n",
}


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_prints_what_stands_below_it(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    write([Gold(("a",), ("b",), frozenset({(0, 0)}))], "gold.tsv", "multimwa")
    exec(example, {})
    expected = re.findall(r"^# (.*)$", example, re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == expected


def test_the_json_examples_are_read_and_written_as_they_stand(tmp_path):
    weighted, gold = (json.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL))
    items = [Alignment.from_dict(weighted), Gold.from_dict(gold)]
    write(items, tmp_path / "file", "jsonl")
    assert [json.loads(line) for line in (tmp_path / "file").read_text().splitlines()] == [weighted, gold]
    assert list(read(tmp_path / "file", "jsonl")) == items


def test_every_format_has_its_row():
    assert re.findall(r"^\| `([a-z0-9-]+)` \| `", PAGE, re.MULTILINE) == list(FORMATS)
