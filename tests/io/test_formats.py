"""Every format reads back what it writes, with the meaning that the format defines."""

import gzip
import json
import sys
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign.alignment import Alignment, Link
from otalign.gold import Gold, WordlessLinks
from otalign.io import FORMATS, BadLine, TextPair, WordPair, read, write
from tests.alignment_strategies import alignments, golds, letters, links_without_words, plain_alignments
from tests.io.examples import GOLD, ISTS, TEXT, example, paths_for, read_all

each_format = pytest.mark.parametrize("format", FORMATS)
texts = st.text(letters | st.sampled_from(" \t"), max_size=12)
plain_texts = texts.map(lambda text: text.strip(" \t")).filter(lambda text: "|||" not in text)
texts_in_a_cell = texts.filter(lambda text: "\t" not in text)
words = st.lists(texts, max_size=4).map(tuple)
ITEMS = {
    "pharaoh": links_without_words,
    "talp": links_without_words,
    "naacl": links_without_words,
    "a3": plain_alignments,
    "multimwa": golds(),
    "columns": plain_alignments,
    "msr-rte": golds(),
    "ists": plain_alignments,
    "tsv": st.builds(TextPair, texts_in_a_cell, texts_in_a_cell),
    "csv": st.builds(TextPair, texts, texts),
    "bars": st.builds(TextPair, plain_texts, plain_texts),
    "parallel": st.builds(TextPair, texts, texts),
    "jsonl": alignments() | golds() | st.builds(TextPair, texts, texts) | st.builds(WordPair, words, words),
}
assert ITEMS.keys() == FORMATS.keys(), "every format needs a strategy for its items"
WORDLESS = [name for name, format in FORMATS.items() if format.wordless]


@each_format
@given(data=st.data())
def test_what_is_written_is_read_again(format, data, tmp_path_factory):
    items = data.draw(st.lists(ITEMS[format], max_size=4))
    paths = paths_for(format, tmp_path_factory.getbasetemp())
    assert write(items, paths, format) == len(items)
    reading = read(paths, format)
    assert list(reading) == items == list(reading)
    assert reading.skipped.count == reading.merged.count == 0


@each_format
@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_compressed_or_not_by_suffix(format, suffix, tmp_path):
    if suffix == ".zst" and sys.version_info < (3, 14):
        pytest.importorskip("backports.zstd")
    paths = paths_for(format, tmp_path, suffix)
    write(example(format), paths, format)
    assert list(read(paths, format)) == example(format)


def test_parts_compressed_one_by_one_are_one_file(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"0-0\n") + gzip.compress(b"1-1\n"))
    assert len(list(read(tmp_path / "a.gz", "pharaoh"))) == 2
    zstd = pytest.importorskip("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    (tmp_path / "a.zst").write_bytes(zstd.compress(b"0-0\n") + zstd.compress(b"1-1\n"))
    assert len(list(read(tmp_path / "a.zst", "pharaoh"))) == 2


def test_zst_without_its_library_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "a.zst").touch()
    for name in ("compression", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"pip install 'otalign\[zst\]', or decompress"):
        list(read(tmp_path / "a.zst", "pharaoh"))


def test_chunks_are_read_as_products(tmp_path):
    (alignment,) = read_all(tmp_path, "ists", ISTS)
    assert alignment.pharaoh() == "1-1 1-2 2-0 3-0"
    assert alignment.source_nulls == (0,)


def test_a_phrase_that_is_no_product_is_written_link_by_link(tmp_path):
    ladder = Alignment(("a", "b"), ("c", "d"), (Link(0, 0), Link(0, 1), Link(1, 1)))
    write([ladder], tmp_path / "file", "ists")
    assert "1 <==> 2 // EQUI // 5 // a <==> d" in (tmp_path / "file").read_text()
    assert list(read(tmp_path / "file", "ists")) == [ladder]


def test_possible_links_have_their_marks(tmp_path):
    links = WordlessLinks(frozenset({(0, 0)}), frozenset({(1, 2)}))
    for format, content in {
        "pharaoh": "0-0 1p2\n",
        "talp": "1-1 2p3\n",
        "naacl": "1 1 1 S\n1 2 3 P\n",
    }.items():
        assert read_all(tmp_path, format, content) == [links]
        write([links], tmp_path / "out", format)
        assert (tmp_path / "out").read_text() == content
    assert read_all(tmp_path, "pharaoh", "0-0 1?2\n") == [links]


def test_sentences_without_links_keep_their_places_among_numbers(tmp_path):
    content = "0002 1 1 S 0.9\n2 0 3\n5 2 2 P\n"
    none, pairs = WordlessLinks(frozenset()), [GOLD] * 7
    items = [
        none,
        WordlessLinks(frozenset({(0, 0)})),
        none,
        none,
        WordlessLinks(frozenset(), frozenset({(1, 1)})),
    ]
    assert read_all(tmp_path, "naacl", content) == items
    filled = read_all(tmp_path, "naacl", content, words=pairs)
    assert [len(gold.sure | gold.possible) for gold in filled] == [0, 1, 0, 0, 1, 0, 0]


@given(st.lists(golds(), max_size=5), st.sampled_from(WORDLESS))
def test_links_with_words_from_another_file_are_gold_again(tmp_path_factory, items, format):
    folder = tmp_path_factory.getbasetemp()
    write(items, folder / "links", format)
    write(items, folder / "words", "multimwa")
    assert list(read(folder / "links", format, words=read(folder / "words", "multimwa"))) == items


def test_a_file_of_msr_rte_may_end_without_its_last_parenthesis(tmp_path):
    (gold,) = read_all(tmp_path, "msr-rte", "# sentence pair 1\na b\nNULL ({ / / }) c ({ 2 / / }")
    assert gold.sure == {(1, 0)}


def test_annotators_are_joined_by_majority(tmp_path):
    votes = ["1 2", "1 p2 p3", "p1 3"]
    for name, places in zip("ABC", votes, strict=True):
        content = (
            f"\ufeff\ufeff# sentence pair 1\r\nx \ufeffy z\r\nNULL ({{ / / }}) w ({{ {places} / / }}) \r\n"
        )
        (tmp_path / name).write_bytes(content.encode())
    (gold,) = read([tmp_path / name for name in "ABC"], "msr-rte")
    assert gold == Gold(("x", "y", "z"), ("w",), frozenset({(0, 0)}), frozenset({(1, 0), (2, 0)}))
    (tmp_path / "C").write_text("# sentence pair 1\nx y\nNULL ({ / / }) w ({ / / })\n")
    with pytest.raises(BadLine, match=r"C, line 1: found .* of 2 and 1 words, expected .* of 3 and 1 "):
        list(read([tmp_path / name for name in "ABC"], "msr-rte"))
    (tmp_path / "C").write_text("# sentence pair 2\nx y z\nNULL ({ / / }) w ({ / / })\n")
    with pytest.raises(BadLine, match=r"C, line 1: found '# sentence pair 2' .*, expected '.* pair 1' "):
        list(read([tmp_path / name for name in "ABC"], "msr-rte"))
    (tmp_path / "C").write_text("")
    with pytest.raises(BadLine, match="A, line 1: found no such pair in another annotator's file"):
        list(read([tmp_path / name for name in "ABC"], "msr-rte"))


@pytest.mark.parametrize(
    ("item", "format", "message"),
    [
        (
            GOLD,
            "columns",
            r"pair 1 .* as columns: the format has no possible links; choose those of one level",
        ),
        (GOLD, "a3", "pair 1 .* as a3: the format has no possible links"),
        (TEXT, "pharaoh", "text without links; align it first"),
        (
            WordlessLinks(frozenset()),
            "multimwa",
            "these links have no words; give them with words=",
        ),
        (WordlessLinks(frozenset()), "jsonl", "these links have no words"),
        (
            Alignment(("a b",), (), ()),
            "columns",
            "the word 'a b' is empty or contains a space .*; write jsonl",
        ),
        (Alignment(("",), (), ()), "a3", "the word '' is empty"),
        (TextPair("a\nb", ""), "parallel", "contains a line end"),
        (Gold(("#", "sentence", "pair"), (), frozenset()), "msr-rte", "taken for a header; write jsonl"),
        (TextPair("a\tb", ""), "tsv", "contains a tab; write two parallel files"),
        (WordPair(("a",), ()), "pharaoh", "text without links; align it first"),
        (TextPair("a ||| b", ""), "bars", r"contains \|\|\|; write two parallel files"),
    ],
)
def test_what_a_format_cannot_hold_is_refused(item, format, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        write([item], paths_for(format, tmp_path), format)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: read("x", "giza"), "format must be one of .*pharaoh.*, got 'giza'"),
        (lambda: write([], "x", "giza"), "format must be one of"),
        (lambda: read("x", "parallel"), "parallel takes 2 files, got 1"),
        (lambda: read(("x", "y"), "pharaoh"), "pharaoh takes 1 file, got 2"),
        (lambda: read("x", "columns", words=[]), "words must be left out for 'columns', which has its own"),
        (
            lambda: read("x", "pharaoh", words=read("y", "columns", skip_bad=True)),
            "words must be read without skip_bad",
        ),
    ],
)
def test_invalid_arguments_are_named(ask, message):
    with pytest.raises(ValueError, match=message):
        ask()


def test_a_long_file_is_read_and_written_in_constant_memory(tmp_path):
    def peak(count):
        tracemalloc.start()
        write((WordlessLinks(frozenset({(k % 50, 0)})) for k in range(count)), tmp_path / "file", "pharaoh")
        assert sum(len(links.sure) for links in read(tmp_path / "file", "pharaoh")) == count
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    peak(100)  # what is kept for good
    assert peak(20_000) < peak(1_000) + 100_000  # bytes; the lines themselves would take megabytes


def test_json_lines_hold_nulls_and_weights_for_other_programs(tmp_path):
    alignment = Alignment(("a", "b"), ("c",), (Link(0, 0, 0.5),), target_null_confidence=(0.25,))
    write([alignment], tmp_path / "file", "jsonl")
    assert json.loads((tmp_path / "file").read_text()) == {
        "source": ["a", "b"],
        "target": ["c"],
        "links": [[0, 0, 0.5]],
        "source_nulls": [1],
        "target_nulls": [],
        "target_null_confidence": [0.25],
    }
