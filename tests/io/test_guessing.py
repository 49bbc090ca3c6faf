"""Formats are guessed from the suffix of a file, or from its first lines."""

import pytest

from otalign.io import FORMATS, guess_format, write
from tests.io.examples import example, paths_for


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "parallel"])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_every_format_is_recognised_by_its_content(format, suffix, tmp_path):
    first, _, third = example(format)
    path = paths_for(format, tmp_path, suffix)
    write([first, third] * 3, path, format)
    assert guess_format(path) == format


@pytest.mark.parametrize(
    ("name", "format"),
    [("a.ndjson", "jsonl"), ("a.jsonl.gz", "jsonl"), ("a.csv", "csv"), ("a.WA", "ists"), ("a.talp", "talp")],
)
def test_a_suffix_determines_the_format_of_any_content(name, format, tmp_path):
    (tmp_path / name).write_bytes(b"")
    assert guess_format(tmp_path / name) == format


def test_too_few_links_from_1_are_taken_to_count_from_0(tmp_path):
    (tmp_path / "links").write_text("1-1 2-2\n")
    assert guess_format(tmp_path / "links") == "pharaoh"
