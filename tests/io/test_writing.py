"""`--from X` reads the output of `--format X`."""

import pytest

from otalign.alignment import Alignment, Link
from otalign.io import FORMATS, read
from otalign.io.parquet import Rows
from otalign.io.writing import OUTPUT_FORMATS, SHARD_SUFFIXES, WITH_COLUMNS, OutputFormat

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


@pytest.mark.parametrize("name", WITH_COLUMNS)
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("nulls", [False, True])
def test_columns_of_weights_and_nulls_do_not_hinder_the_reader(name, weights, nulls, tmp_path):
    path = written_as(OutputFormat(name, weights, nulls), tmp_path)
    items = list(read(path, name, words=ALIGNMENTS if FORMATS[name].wordless else None))
    if name == "columns" and weights:
        assert items == ALIGNMENTS
    links = [item.pairs if isinstance(item, Alignment) else item.sure for item in items]
    assert links == [alignment.pairs for alignment in ALIGNMENTS]


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
        (("talp", True), "weights and nulls can be written as .*pharaoh.*, not as talp"),
    ],
)
def test_what_cannot_be_written_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        OutputFormat(*options)
