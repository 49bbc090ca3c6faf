"""The tables and the JSON of docs/formats.md are correct; `tests/test_docs.py` runs its other examples."""

import json
import re
from pathlib import Path

from otalign.alignment import Alignment
from otalign.gold import Gold
from otalign.io import FORMATS, read, write

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")


def test_the_json_examples_are_read_and_written_as_they_stand(tmp_path):
    weighted, gold = (json.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL))
    items = [Alignment.from_dict(weighted), Gold.from_dict(gold)]
    write(items, tmp_path / "file", "jsonl")
    assert [json.loads(line) for line in (tmp_path / "file").read_text().splitlines()] == [weighted, gold]
    assert list(read(tmp_path / "file", "jsonl")) == items


def test_every_format_has_its_row():
    assert re.findall(r"^\| `([a-z0-9-]+)` \| `", PAGE, re.MULTILINE) == list(FORMATS)
