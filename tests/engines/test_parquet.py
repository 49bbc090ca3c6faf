"""Parquet input and output: the pairs of the rows, in order, and all fields of an alignment."""

import json
import sys
from io import BytesIO
from pathlib import Path

import pytest

from otalign.alignment import Alignment, Link
from otalign.io import TextPair
from otalign.io.items import WordPair
from otalign.io.parquet import ROWS, Rows, write
from tests.engines.test_shards import PAIRS, command, corpus, drawn_pairs, int8, read_bytes, run, whole  # noqa: F401

arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")


def written(path: Path, rows: list[dict], **options) -> Path:
    parquet.write_table(arrow.Table.from_pylist(rows), path, **options)
    return path


def as_json(row: dict) -> dict:
    """A row as `Alignment.from_dict` takes it."""
    places = {name: [list(value.values()) for value in row[name]] for name in ("links",)}
    spans = {
        name: [list(value.values()) for value in row[name] or []] for name in ("source_spans", "target_spans")
    }
    return {name: value for name, value in (row | places | spans).items() if value is not None}


def test_rows_are_the_pairs_whatever_the_row_groups_and_other_columns(tmp_path):
    rows = [pair | {"id": k} for k, pair in enumerate(drawn_pairs())] * 10
    file = written(tmp_path / "pairs.parquet", rows, row_group_size=333)
    assert len(rows) > ROWS
    assert list(Rows(file)) == [TextPair(row["source"], row["target"]) for row in rows]
    words = [{"source": row["source"].split(), "target": row["target"].split()} for row in rows]
    file = written(tmp_path / "words.parquet", words)
    assert list(Rows(file)) == [WordPair(tuple(row["source"]), tuple(row["target"])) for row in words]


def test_errors_name_their_row(tmp_path):
    bad = written(tmp_path / "bad.parquet", [{"source": "a", "target": "b"}, {"source": None, "target": "b"}])
    with pytest.raises(ValueError, match=r"bad\.parquet, row 2: found None and 'b', expected two texts"):
        list(Rows(bad))
    other = written(tmp_path / "other.parquet", [{"source": "a", "goal": "b"}])
    with pytest.raises(ValueError, match="must have columns source and target, got source, goal"):
        list(Rows(other))
    (tmp_path / "none.parquet").write_text("no table")
    with pytest.raises(ValueError, match=r"none\.parquet is not valid Parquet"):
        list(Rows(tmp_path / "none.parquet"))


def test_alignments_come_back_and_their_bytes_again():
    full = Alignment(
        ("a", "b"), ("c",), (Link(0, 0, 0.25),), ((0, 1), (2, 3)), ((0, 1),), (0.5, 0.75), (0.125,)
    )
    plain = Alignment((), ("é",), ())
    files = [BytesIO(), BytesIO()]
    for file in files:
        write([full, plain], file)
    assert files[0].getvalue() == files[1].getvalue()
    rows = parquet.read_table(BytesIO(files[0].getvalue())).to_pylist()
    assert Alignment.from_dict(as_json(rows[0])) == full
    assert rows[1]["source_spans"] is None
    assert rows[1]["target_nulls"] == [0]


def test_shards_of_parquet_hold_what_shards_of_json_hold(whole, run, tmp_path):  # noqa: F811
    file = written(tmp_path / "pairs.parquet", drawn_pairs(), row_group_size=50)
    run(tmp_path / "out", "--format", "parquet", pairs=file)
    rows = [row for part in sorted((tmp_path / "out").glob("part-*.parquet")) for row in read_rows(part)]
    lines = [line for part in sorted(whole.glob("part-*")) for line in part.read_text().splitlines()]
    assert len(rows) == PAIRS
    assert [Alignment.from_dict(as_json(row)) for row in rows] == [
        Alignment.from_dict(json.loads(line)) for line in lines
    ]
    before = read_bytes(tmp_path / "out")
    (tmp_path / "out" / "part-000001.parquet").unlink()
    run(tmp_path / "out", "--format", "parquet", "--resume", pairs=file)
    assert read_bytes(tmp_path / "out") == before


def read_rows(part: Path) -> list[dict]:
    return parquet.read_table(part).to_pylist()


def test_without_pyarrow_the_error_names_the_remedy(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r"pip install 'otalign\[parquet\]'"):
        list(Rows(tmp_path / "pairs.parquet"))
