"""`--from X` reads the output of `--format X`."""

import pytest

from otalign.alignment import Alignment, Link
from otalign.io import FORMATS, BadLine, read, write
from otalign.io.guessing import guess_format
from otalign.io.parquet import Rows
from otalign.io.writing import EXTRA_COLUMNS, OUTPUT_FORMATS, SHARD_SUFFIXES, OutputFormat

ALIGNMENTS = [
    Alignment(("he", "sold", "cars"), ("cars", "sold"), (Link(1, 1, 0.5), Link(2, 0, 1e-5))),
    Alignment(("rain",), ("snow", "falls"), ()),
    Alignment((), (), ()),
    Alignment(("a", "b"), ("b", "a"), (Link(0, 1), Link(1, 0, 0.25))),
]


def written_as(form: OutputFormat, folder, alignments=ALIGNMENTS):
    path = folder / f"links{SHARD_SUFFIXES.get(form.name, '')}"
    with path.open("wb") as file:
        form.write(alignments, file)
    return path


@pytest.mark.parametrize("name", [name for name in OUTPUT_FORMATS if name != "parquet"])
def test_what_a_format_writes_is_read_under_its_name(name, tmp_path):
    path = written_as(OutputFormat(name), tmp_path)
    name = name.removesuffix(".gz")  # files are unpacked by their suffix
    words = ALIGNMENTS if FORMATS[name].wordless else None
    items = list(read(path, name, words=words))
    assert [(item.source, item.target) for item in items] == [(one.source, one.target) for one in ALIGNMENTS]
    links = [item.pairs if isinstance(item, Alignment) else item.sure for item in items]
    assert links == [alignment.pairs for alignment in ALIGNMENTS]


def test_pairs_are_read_from_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    rows = Rows(written_as(OutputFormat("parquet"), tmp_path))
    assert list(rows) == list(ALIGNMENTS)


@pytest.mark.parametrize("name", EXTRA_COLUMNS)
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("phrases", [False, True])
def test_columns_beside_the_links_do_not_hinder_the_reader(name, weights, nulls, phrases, tmp_path):
    path = written_as(OutputFormat(name, weights, nulls, phrases), tmp_path)
    assert guess_format(path) == name
    items = list(read(path, name, words=ALIGNMENTS if FORMATS[name].wordless else None))
    if name == "columns" and weights:
        assert items == ALIGNMENTS
    links = [item.pairs if isinstance(item, Alignment) else item.sure for item in items]
    assert links == [alignment.pairs for alignment in ALIGNMENTS]


def test_the_columns_of_phrases_have_their_words_and_weights():
    alignment = Alignment(("a", "b"), ("c", "d"), (Link(0, 1, 0.5), Link(1, 1, 0.25), Link(1, 0, 0.25)))
    form = OutputFormat("pharaoh", weights=True, nulls=True, phrases=True)
    assert form.format_alignment(alignment, 1) == "0-1 1-0 1-1\t0.5 0.25 0.25\t\t\t0,1:0,1\t0.3333\n"


@pytest.mark.parametrize("name", ["jsonl", "jsonl.gz", "parquet"])
def test_phrases_are_read_back_and_kept_by_other_formats_that_have_them(name, tmp_path):
    if name == "parquet":
        pytest.importorskip("pyarrow")
    several = [*ALIGNMENTS, Alignment(("a", "b"), ("c",), (Link(0, 0, 0.75), Link(1, 0, 0.25)))]
    items = list(
        read(written_as(OutputFormat(name, phrases=True), tmp_path, several), name.partition(".")[0])
    )
    assert items == several
    assert items[-1].fields == {
        "phrase_links": [{"source": [0, 1], "target": [0], "weight": 0.5, "type": "n-1"}]
    }
    for format in ("jsonl", *(["parquet"] if name == "parquet" else [])):
        write(items, tmp_path / "again", format)
        again = list(read(tmp_path / "again", format))
        assert [item.to_dict() for item in again] == [item.to_dict(phrases=True) for item in several]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("pharaoh", "0-0 1-1\t0:0 1:0"),
        ("pharaoh", "0-0 1-1\t0.5 1\t0,1:0,1"),
        ("columns", "a b\tc d\t0-0 1-1\t0:0"),
        ("columns", "a b\tc d\t0-0 1-1\t0.5 1\t0:0 1:0\t0.5 1"),
    ],
)
def test_phrases_that_contradict_the_links_are_refused(name, line, tmp_path):
    (tmp_path / "links").write_text(f"{line}\n")
    with pytest.raises(BadLine, match=r"line 1: found the phrases .*, expected those of the links, 0:0 1:1,"):
        list(read(tmp_path / "links", name))


@pytest.mark.parametrize("line", ["a b\tc d\t0-0\t0:0\t1\t1", "a\tb\t0-0\t\t\t\t0\t0", "a\tb\t\t1"])
def test_columns_that_nothing_accounts_for_are_refused(line, tmp_path):
    (tmp_path / "links").write_text(f"{line}\n")
    with pytest.raises(BadLine, match="line 1"):
        list(read(tmp_path / "links", "columns"))


def test_links_between_tabs_are_links(tmp_path):
    (tmp_path / "links").write_text("0-0\t1-1\n")
    (links,) = read(tmp_path / "links", "pharaoh")
    assert links.sure == {(0, 0), (1, 1)}


def test_a_blank_inside_a_word_does_not_divide_it(tmp_path):
    alignment = Alignment(("New York", "wins"), ("gagne", "a\tb"), (Link(0, 1),))
    (item,) = read(written_as(OutputFormat("columns"), tmp_path, [alignment]), "columns")
    assert item.source == ("New\u00a0York", "wins")
    assert item.pairs == alignment.pairs


def test_a_pair_that_a_format_cannot_hold_is_named(tmp_path):
    alignments = [*ALIGNMENTS, Alignment(("New York",), ("wins",), ())]
    with pytest.raises(ValueError, match="pair 5 cannot be written as a3: the word 'New York' is empty or"):
        written_as(OutputFormat("a3"), tmp_path, alignments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("tsv",), "format must be one of .*pharaoh.*, got 'tsv'"),
        (("talp", True), "weights, nulls and phrases can be written as .*pharaoh.*, not as talp"),
        (("naacl", False, False, True), "phrases can be written as .*parquet, not as naacl"),
        (("a3", False, False, True), "phrases can be written as .*jsonl.*, not as a3"),
    ],
)
def test_what_cannot_be_written_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        OutputFormat(*options)
