"""The tables and the JSON of docs/formats.md are correct; `tests/test_docs.py` runs its other examples."""

import json
import re
from pathlib import Path

import pytest

import otalign
from otalign import io
from otalign.alignment import Alignment, Link
from otalign.gold import Gold
from otalign.io import FORMATS, read, write
from otalign.io.writing import ALIGNMENT_FORMATS, SHARD_SUFFIXES
from tests.io.examples import BLANK_LINES, get_item_types

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "formats.md").read_text(encoding="utf-8")


def test_the_json_examples_are_read_and_written_as_they_stand(tmp_path):
    weighted, gold, phrase = (json.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL))
    items = [Alignment.from_dict(weighted), Gold.from_dict(gold)]
    write(items, tmp_path / "file", "jsonl")
    assert [json.loads(line) for line in (tmp_path / "file").read_text().splitlines()] == [weighted, gold]
    assert list(read(tmp_path / "file", "jsonl")) == items
    links = (Link(1, 1, 0.9444), Link(2, 1, 0.8894))
    (found,) = Alignment(("She", "passed", "away"), ("She", "died"), links).phrase_links
    assert found.to_dict() == phrase


def test_every_format_has_its_row_with_the_types_of_its_items():
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| (`[^|]*`) \|", PAGE, re.MULTILINE)
    documented = {name: set(re.findall(r"\w+", types)) for name, types in rows}
    assert documented == {name: {type_.__name__ for type_ in get_item_types(name)} for name in FORMATS}
    assert all(hasattr(io, name) or hasattr(otalign, name) for names in documented.values() for name in names)


def test_the_table_says_what_a_blank_line_is_in_every_format():
    outcomes = {"a pair without links": "empty pair", "bad": "bad", "ignored": "ignored"}
    documented = {}
    for names, outcome in re.findall(r"^\| a blank line (.*?) \| ([\w ]*\w)", PAGE, re.MULTILINE):
        documented |= dict.fromkeys(re.findall("`(.*?)`", names), outcomes[outcome])
    assert documented == BLANK_LINES


@pytest.mark.parametrize(
    ("page", "passage", "formats"),
    [
        ("align.md", r"\| `--format` \|.*?\n\n", {*ALIGNMENT_FORMATS, "terminal"}),
        ("scale.md", r"`--format` is .*?\.\n", set(SHARD_SUFFIXES)),
    ],
)
def test_the_guide_names_the_formats_that_the_command_has(page, passage, formats):
    (text,) = re.findall(passage, (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)
    rows = re.findall(r"^\| (`[a-z0-9.]+`.*?) \|", text, re.MULTILINE) or [text]
    assert {name for row in rows for name in re.findall("`([a-z0-9.]+)`", row)} == formats
