"""Lines, sentences and archives stay within the memory limits, and no input ends in a traceback."""

import gzip
import json
import random
import sys
import tracemalloc
from contextlib import suppress

import pytest

from otalign.alignment import Alignment
from otalign.io import BadLine, ReaderLimits, TextPair, read, write
from otalign.io import lines as text_module
from otalign.io.parquet import Rows
from tests.io.examples import ISTS, file, read_all

ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
PAIRS = "".join(f"a{k}\tb{k}\n" for k in range(20_000)).encode()


def pack(suffix, content):
    return gzip.compress(content) if suffix == ".gz" else pytest.importorskip(ZSTD).compress(content)


each_suffix = pytest.mark.parametrize("suffix", [".gz", ".zst"])


@each_suffix
def test_an_archive_cut_short_anywhere_is_bad(suffix, tmp_path):
    path, packed = tmp_path / f"pairs{suffix}", pack(suffix, PAIRS)
    for end in (3, 10, len(packed) // 10, len(packed) // 2, len(packed) - 1):
        path.write_bytes(packed[:end])
        for skip_bad in (False, True):
            with pytest.raises(BadLine, match=r"found the end of a truncated compressed file"):
                list(read(path, "tsv", skip_bad=skip_bad))


@each_suffix
def test_what_is_written_is_protected_by_a_checksum(suffix, tmp_path):
    pack(suffix, b"")  # or else skipped
    path = tmp_path / f"pairs{suffix}"
    write([TextPair(f"a{k}", f"b{k}") for k in range(100)], path, "tsv")
    packed = path.read_bytes()
    for place in range(40, len(packed) - 8, 7):
        path.write_bytes(packed[:place] + bytes([packed[place] ^ 1]) + packed[place + 1 :])
        with pytest.raises(BadLine):
            list(read(path, "tsv"))


@each_suffix
def test_a_damaged_archive_is_bad_or_read_but_never_another_error(suffix, tmp_path):
    path, packed, chance = tmp_path / f"pairs{suffix}", pack(suffix, PAIRS[:2000]), random.Random(0)
    bad = 0
    for _ in range(200):
        damaged = bytearray(packed)
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        try:
            list(read(path, "tsv"))
        except BadLine:
            bad += 1
    assert bad > 100
    path.write_bytes(b"no archive at all")
    with pytest.raises(BadLine, match=r"line 1: found a damaged compressed file \(.+\), expected an intact"):
        list(read(path, "tsv"))


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_a_line_without_end_takes_no_more_memory_than_the_limit(suffix, tmp_path):
    path, size = tmp_path / f"bomb{suffix}", 1 << 26
    if suffix:
        path.write_bytes(pack(suffix, bytes(size) + b"\nc\td\n"))
    else:
        with path.open("wb") as bomb:
            bomb.truncate(size)
            bomb.seek(size)
            bomb.write(b"\nc\td\n")
    tracemalloc.start()
    reading = read(path, "tsv", skip_bad=True, limits=ReaderLimits(max_line_bytes=1 << 16))
    assert list(reading) == [TextPair("c", "d")]
    assert tracemalloc.get_traced_memory()[1] < size / 8
    tracemalloc.stop()
    expected = "line 1: found more, expected at most 65,536 bytes a line (max_line_bytes)"
    assert str(reading.skipped.first).endswith(expected)


def test_a_line_as_long_as_the_limit_is_good(tmp_path):
    for end in ("", "\n"):
        assert read_all(tmp_path, "tsv", "a\tbcd" + end, limits=ReaderLimits(max_line_bytes=5))
        with pytest.raises(BadLine, match="at most 4 bytes a line"):
            read_all(tmp_path, "tsv", "a\tbcd" + end, limits=ReaderLimits(max_line_bytes=4))


@pytest.mark.parametrize(
    ("format", "content"),
    [
        ("tsv", "a b c\td\ne\t{}\n"),
        ("bars", "a ||| b\nc ||| {}\n"),
        ("jsonl", '{{"source": "a", "target": "b"}}\n{{"source": "a", "target": "{}"}}\n'),
        ("columns", "a\tb\t\na\t{}\t\n"),
    ],
)
@pytest.mark.parametrize(
    ("long", "message"),
    [
        ("w " * 11, "line 2: found 11 words in the target, expected at most 10 (max_words)"),
        ("w" * 41, "line 2: found 41 characters in the target, expected at most 40 (max_characters)"),
    ],
)
def test_a_sentence_beyond_the_limits_is_a_bad_line(format, content, long, message, tmp_path):
    content, limits = content.format(long.strip()), ReaderLimits(max_words=10, max_characters=40)
    with pytest.raises(BadLine) as caught:
        read_all(tmp_path, format, content, limits=limits)
    assert message in str(caught.value)
    assert len(read_all(tmp_path, format, content, limits=limits, skip_bad=True)) == 1


def test_words_are_counted_as_they_will_be_split(tmp_path):
    content, limits = "a.b, a.b, a.b\tb\n", ReaderLimits(max_words=3)
    with pytest.raises(BadLine, match="found 5 words in the source"):
        read_all(tmp_path, "tsv", content, limits=limits)
    assert read_all(tmp_path, "tsv", content, limits=limits, pretokenized=True)


def test_limits_are_positive():
    with pytest.raises(ValueError, match="max_words must be at least 1, got 0"):
        ReaderLimits(max_words=0)


@pytest.mark.parametrize("format", ["a3", "msr-rte", "ists", "naacl"])
def test_the_lines_of_a_pair_are_not_held_without_end(format, tmp_path, monkeypatch):
    monkeypatch.setattr(text_module, "RECORD_BYTES", 10_000)
    begins = {"a3": "# Sentence pair (1)", "msr-rte": "# sentence pair 1", "ists": "<sentence id='1'>"}
    line = "1 1 1" if format == "naacl" else "word"
    content = "\n".join([begins.get(format, "1 1 1"), *[line] * 1000]) + "\n"
    with pytest.raises(BadLine):
        read_all(tmp_path, format, content)
    reading = read(file(tmp_path, content), format)
    (record,) = reading.format.records(text_module.read_lines(tmp_path / "file"))
    lines = record[0] if format == "msr-rte" else record
    assert len(lines) < 100


def test_short_lists_of_words_cannot_stand_for_any_number_of_links(tmp_path):
    places = "1 " * 2000
    content = ISTS.replace("3 4 <==> 1", f"{places}<==> {places.strip()}")
    with pytest.raises(BadLine, match="found more links, expected at most 1,000,000 in a pair"):
        read_all(tmp_path, "ists", content)


@pytest.mark.parametrize(
    "line",
    [
        r'{"source": "\ud800", "target": "b"}',
        r'{"source": ["a", "\uDFFF"], "target": ["b"]}',
        r'{"source": ["\ud800"], "target": ["b"], "links": []}',
        r'{"source": ["\ud800"], "target": ["b"], "sure": [], "possible": []}',
    ],
)
def test_lone_surrogates_are_bad_lines(line, tmp_path):
    with pytest.raises(BadLine, match=r"line 2: found character \d+ is the lone surrogate U\+D[8F]"):
        read_all(tmp_path, "jsonl", '{"source": "a", "target": "b"}\n' + line + "\n")
    whole = json.dumps({"source": "😀", "target": "b"})  # which is written with two halves
    assert read_all(tmp_path, "jsonl", whole) == [TextPair("😀", "b")]


def test_lone_surrogates_are_no_words():
    with pytest.raises(ValueError, match=r"lone surrogate U\+D800, which is not Unicode text"):
        Alignment(("\ud800",), ("b",), ())


def write_table(path, sources):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"source": sources, "target": ["c"] * len(sources)}), path)
    return path


def test_a_row_of_a_table_has_the_same_limits(tmp_path):
    rows = Rows(write_table(tmp_path / "pairs.parquet", ["a", "a b"]), ReaderLimits(max_words=1))
    with pytest.raises(
        ValueError, match=r"row 2: found 2 words in the source, expected at most 1 \(max_words"
    ):
        list(rows)


def test_a_damaged_table_is_a_clear_error_whatever_is_damaged(tmp_path):
    path, chance = write_table(tmp_path / "pairs.parquet", ["a b"] * 3), random.Random(0)
    packed = path.read_bytes()
    for _ in range(200):
        damaged = bytearray(packed)
        damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        path.write_bytes(damaged)
        with suppress(ValueError):
            list(Rows(path))
