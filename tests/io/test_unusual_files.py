"""Unusual files have a defined outcome, and lines never shift."""

import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otalign.gold import Gold, WordlessLinks
from otalign.io import FORMATS, BadLine, TextPair, read, write
from tests.io.examples import (
    GOLD,
    ISTS,
    SOURCE,
    TARGET,
    TEXT,
    example,
    file,
    formats_with_blank_line,
    paths_for,
    read_all,
    rewrite,
)

each_format = pytest.mark.parametrize("format", FORMATS)


@each_format
@given(data=st.data())
def test_whatever_is_changed_in_a_file_gives_items_or_bad_lines(format, data, tmp_path_factory):
    paths = paths_for(format, tmp_path_factory.getbasetemp())
    write(example(format), paths, format)

    def changed(content):
        start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(content))] * 2)))
        between = st.binary(max_size=5) | st.sampled_from(
            [b"\n", b"\t", b" ", b"0", b"-", b"({", b"null", b"[]"]
        )
        return content[:start] + data.draw(between) + content[end:]

    rewrite(paths, changed)
    reading = read(paths, format, skip_bad=True)
    list(reading)
    if reading.skipped.count:
        with pytest.raises(BadLine):
            list(read(paths, format))


@each_format
@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.replace(b"\n", b"\r\n"),
        lambda content: b"\xef\xbb\xbf" + content,
        lambda content: content.removesuffix(b"\n"),
        lambda content: b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n").removesuffix(b"\r\n"),
    ],
    ids=["CRLF", "BOM", "no last line end", "all three"],
)
def test_line_ends_and_byte_order_marks_change_nothing(format, change, tmp_path):
    paths = paths_for(format, tmp_path)
    write(example(format), paths, format)
    rewrite(paths, change)
    assert list(read(paths, format)) == example(format)


@each_format
@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf"], ids=["nothing", "only a BOM"])
def test_an_empty_file_has_no_items(format, content, tmp_path):
    paths = paths_for(format, tmp_path)
    write([], paths, format)
    rewrite(paths, lambda _: content)
    assert list(read(paths, format)) == []


@pytest.mark.parametrize("format", formats_with_blank_line("empty pair"))
def test_a_blank_line_is_an_empty_pair_where_lines_are_places(format, tmp_path):
    paths = paths_for(format, tmp_path)
    items = example(format)
    write(items, paths, format)
    rewrite(paths, lambda content: b"\n" + content + b"\n")
    assert list(read(paths, format)) == [items[1], *items, items[1]]


@pytest.mark.parametrize(
    ("format", "empty"), [("pharaoh", WordlessLinks(frozenset())), ("bars", TextPair("", ""))]
)
def test_a_line_of_spaces_is_an_empty_pair_where_spaces_mean_nothing(format, empty, tmp_path):
    assert read_all(tmp_path, format, " \t\n") == [empty]


@pytest.mark.parametrize("format", formats_with_blank_line("bad"))
def test_a_blank_line_is_bad_where_a_line_holds_words(format, tmp_path):
    write(example(format), tmp_path / "file", format)
    content = b"\n" + (tmp_path / "file").read_bytes() + b"\n"
    with pytest.raises(BadLine, match="line 1: found "):
        read_all(tmp_path, format, content)
    reading = read(file(tmp_path, content), format, skip_bad=True)
    assert list(reading) == example(format)
    assert reading.skipped.count == 2
    assert "line 1: found " in str(reading.skipped.first)


@pytest.mark.parametrize("format", formats_with_blank_line("ignored"))
def test_blank_lines_between_pairs_mean_nothing_where_pairs_are_marked(format, tmp_path):
    write(example(format), tmp_path / "file", format)
    starts = {
        "naacl": b"3 4",
        "ists": b"<sentence",
        "a3": b"# Sentence",
        "msr-rte": b"# sentence",
        "csv": b"She",
    }
    start = starts[format]
    content = (tmp_path / "file").read_bytes().replace(b"\n" + start, b"\n\n\n" + start) + b"\n"
    assert read_all(tmp_path, format, content) == example(format)


@each_format
def test_invalid_utf8_spoils_its_own_pair_alone(format, tmp_path):
    paths = paths_for(format, tmp_path)
    items = example(format)
    write([items[0], items[0], items[2]], paths, format)
    source = paths[0] if isinstance(paths, tuple) else paths
    rewrite(source, lambda content: content.replace(b"Ann" if b"Ann" in content else b"1", b"\xff", 1))
    reading = read(paths, format, skip_bad=True)
    assert list(reading) == [items[0], items[2]]
    assert "UTF-8" in str(reading.skipped.first)
    assert "byte 0xff" in str(reading.skipped.first)


@pytest.mark.parametrize("letter", ["\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\xa0", "\u3000", "\0"])
def test_what_other_tools_take_for_line_ends_or_spaces_is_a_letter(letter, tmp_path):
    assert read_all(tmp_path, "bars", f"a{letter}b ||| c\nd ||| e\n") == [
        TextPair(f"a{letter}b", "c"),
        TextPair("d", "e"),
    ]
    (alignment,) = read_all(tmp_path, "columns", f"a{letter}b c\td\t1-0\n")
    assert alignment.source == (f"a{letter}b", "c")


def test_tabs_and_spaces_between_links_and_words_do_not_count(tmp_path):
    assert read_all(tmp_path, "pharaoh", " 0-0\t 1-1  \n") == [WordlessLinks(frozenset({(0, 0), (1, 1)}))]
    (alignment,) = read_all(tmp_path, "columns", " a  b \tc\t 1-0 \n")
    assert (alignment.source, alignment.target) == (("a", "b"), ("c",))
    source, target = tmp_path / "sure", tmp_path / "t"
    source.write_text("a\tb\n")
    target.write_text("c\n")
    (gold,) = read(file(tmp_path, "1-0\n"), "pharaoh", words=read((source, target), "parallel"))
    assert gold.source == ("a", "b")


BAD = [
    (
        "pharaoh",
        "0-0 1+1\n",
        "line 1: found '1\\+1', expected links such as 0-1 or 0p1 or 0\\?1, ",
    ),
    ("pharaoh", "0-0\n0-0 -1-2", "line 2: found '-1-2'"),
    ("pharaoh", "0-0\n1-\n", "line 2: found '1-'"),
    ("pharaoh", "٣-٤\n", "line 1: found '٣-٤'"),
    ("pharaoh", "1_0-1\n", "line 1: found '1_0-1'"),
    ("pharaoh", f"{'9' * 5000}-1\n", "line 1: found '999.*…, expected links"),
    ("talp", "1-1 0-1\n", "line 1: found '0-1', expected links such as 1-2 or 1p2, counted from 1"),
    ("talp", "1?1\n", "line 1: found '1\\?1'"),
    ("naacl", "1 1 1\n2 1\n", "line 2: found '2 1', expected sentence, source and target position from 1"),
    ("naacl", "0 1 1\n", "line 1: found '0 1 1'"),
    ("naacl", "2 1 1\n1 1 1\n", "line 2: found sentence 1, expected sentences in the order"),
    ("naacl", "1 1 1 X\n", "line 1: found '1 1 1 X'"),
    ("multimwa", "0\ta\tb\n", "line 1: found 3 columns between tabs, expected sentences in columns 1 and 3"),
    ("multimwa", "0\ta\t-\tb\t-\t1\t1\t0-0\t0-1\t\n", "line 1: found link 0-1 .* out of range for 1 source"),
    ("multimwa", "0\ta\t-\tb\t-\t1\t1\t0p0\t\t\n", "line 1: found '0p0', expected links such as 0-1, "),
    ("columns", "a\tb\tc\t0-0\n", "line 1: found 'c', expected links such as 0-1"),
    ("columns", "a\tb\t0-0\t0.5 1\n", "line 1: found 2 weights for 1 link, expected a weight for each link"),
    ("columns", "a\tb\t0-0\tx\n", "line 1: found 'x', expected a weight for each link"),
    ("columns", "a\tb\t\t\t\t\t\n", "line 1: found 7 columns between tabs, expected three"),
    ("columns", "a b\n", "line 1: found 1 column between tabs"),
    ("columns", "a\tb\t0-0\n\na\tb\t\n", "line 2: found a blank line"),
    ("columns", "a\tb\t1-0\n", "line 1: found link 1-0 .* out of range for 1 source and 1 target words"),
    ("bars", "a ||| b\na b\n", r"line 2: found 0 times \|\|\|, expected one"),
    ("bars", "a ||| b ||| c\n", r"line 1: found 2 times \|\|\|"),
    ("a3", "# Sentence pair (1)\na b\n", "line 1: found 2 lines, header included, expected three"),
    ("a3", "a b\nNULL ({ }) c ({ 1 })\n", "line 1: found 'a b', expected a header"),
    ("a3", "# Sentence pair (1)\na b\nNULL ({ }) c ({ 3 })\n", "line 3: found link 0-2 .* out of range"),
    ("a3", "# Sentence pair (1)\na b\nNULL ({ }) c { 1 })\n", "line 3: found 'c { 1 }\\)', expected NULL"),
    ("a3", "# Sentence pair (1)\na b\nc ({ 1 })\n", "line 3: found .*expected NULL"),
    ("msr-rte", "# sentence pair 1\na b\nNULL ({ / / }) c ({ q1 / / })\n", "line 3: found 'c \\({ q1"),
    (
        "msr-rte",
        "# sentence pair 1\na b\nNULL ({ / / }) c ({ p0 / / })\n",
        "line 3: found link -1-0 .* out",
    ),
    ("ists", "<sentence id='1'>\n<source>\n2 a :\n", "line 1: found no complete <source>"),
    ("jsonl", "{\n", "line 1: found '{', expected a JSON object on one line, with"),
    ("jsonl", "[]\n", "line 1: found .*expected a JSON object on one line, with"),
    (
        "jsonl",
        '{"source": ["a"], "target": "b"}\n',
        "line 1: source and target must be two texts or two lists of words, got \\['a'\\] and 'b'",
    ),
    (
        "jsonl",
        '{"source": ["a"], "links": []}\n',
        "line 1: no field 'target'; the required fields are source",
    ),
    (
        "tsv",
        "a\tb\tc\n",
        "line 1: found 3 columns between tabs, expected two: source, target; the format with links",
    ),
    ("tsv", "a\n", "line 1: found 1 column between tabs"),
    ("jsonl", '{"source": "a", "target": ["b"], "links": []}\n', "line 1: source must be words"),
    ("jsonl", '{"source": ["a"], "target": ["b"], "links": [[0, 1, 1]]}\n', "line 1: link 0-1 .*range"),
    (
        "jsonl",
        '{"source": ["a"], "target": ["b"], "links": "0-0"}\n',
        "line 1: links must be a list, got '0-0'",
    ),
    ("jsonl", '{"source": ["a"], "target": ["b"], "links": [[0]]}\n', "two integers.* weight, got \\[0\\]"),
    ("jsonl", '{"source": ["a"], "target": ["b"], "links": [["0", 0]]}\n', "two integers.*got \\['0', 0\\]"),
    ("jsonl", '{"source": ["a"], "target": ["b"], "links": [[0, 0, {}]]}\n', "two integers.*got \\[0, 0, {}"),
    ("jsonl", '{"source": ["a"], "target": ["b"], "sure": [0], "possible": []}\n', "two integers.*got 0$"),
    (
        "jsonl",
        '{"source": [], "target": [], "links": [], "source_spans": 3}\n',
        "source_spans must .*, got 3",
    ),
    ("jsonl", '{"source": ["a"], "target": ["b"], "links": [[0, 0, NaN]]}\n', "line 1: .*finite"),
    ("jsonl", '{"source": ["a"], "target": ["b"], "sure": [[0, 0]]}\n', "line 1: no field 'possible'"),
    ("jsonl", "[" * 100_000, "line 1: found JSON that is nested too deeply"),
    (
        "jsonl",
        '{"source": ["a"], "target": ["b"], "links": [[0, 0, Infinity]]}',
        "found Infinity, which",
    ),
    ("jsonl", '{"source": "a", "target": "b", "x": NaN}', "line 1: found NaN, which is not JSON"),
    ("jsonl", f'{{"source": ["a"], "target": ["b"], "links": [[0, 0, 1{"0" * 400}]]}}', "too large"),
    ("jsonl", f'{{"source": ["a"], "target": ["b"], "links": [[0, 1{"0" * 99}]]}}', "link 0-1000"),
    (
        "jsonl",
        f'{{"source": ["a"], "target": ["b"], "links": [[0, 1{"0" * 9999}]]}}',
        "found Exceeds",
    ),
]

assert not any(re.search(message, "") for *_, message in BAD), "a pattern matches anything"


@pytest.mark.parametrize(("format", "content", "message"), BAD)
def test_a_bad_line_is_named_or_left_out_and_counted(format, content, message, tmp_path):
    with pytest.raises(BadLine, match=message) as caught:
        read_all(tmp_path, format, content)
    assert str(caught.value).startswith(f"{tmp_path / 'file'}, line ")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    reading = read(file(tmp_path, content), format, skip_bad=True)
    list(reading)
    assert reading.skipped.count == 1
    assert reading.skipped.first == str(caught.value)


@pytest.mark.parametrize(
    ("whole", "broken", "message"),
    [
        ("3 her :", "4 her :", "line 7: found '4 her :', expected word 3, as in 3 word :"),
        ("3 4 <==> 1", "3 5 <==> 1", "line 16: found '3 5 .* expected places up to 4 and 3"),
        ("3 4 <==> 1", "3 4 = 1", "line 16: found '3 4 = 1.* expected chunks such as"),
        ("<translation>", "<target>", "line 10: found '<target>', expected <source>"),
        ("</alignment>\n", "", "line 1: found no complete <alignment>"),
    ],
)
def test_broken_chunk_files_are_named_and_the_next_sentence_is_found(whole, broken, message, tmp_path):
    content = ISTS.replace(whole, broken) + ISTS
    with pytest.raises(BadLine, match=message):
        read_all(tmp_path, "ists", content)
    assert len(read_all(tmp_path, "ists", content, skip_bad=True)) == 1


@pytest.mark.parametrize(
    ("format", "content"),
    [
        ("pharaoh", "0-0 1-1 0-0\n"),
        ("pharaoh", "0-0 1-1 0p0\n"),
        ("talp", "1-1 2-2 1p1\n"),
        ("naacl", "1 1 1\n1 2 2\n1 1 1 P\n"),
        ("columns", "a b\tc d\t0-0 1-1 0-0\n"),
        ("multimwa", "0\ta b\t-\tc d\t-\t1\t1\t0-0 1-1\t0-0\t\n"),
        ("a3", "# Sentence pair (1)\na b\nNULL ({ }) c ({ 1 1 }) d ({ 2 })\n"),
        ("msr-rte", "# sentence pair 1\na b\nNULL ({ / / }) c ({ 1 p1 / / }) d ({ 2 / / })\n"),
        ("ists", ISTS.replace("1 <==> 0", "3 <==> 1")),
        ("jsonl", '{"source": ["a"], "target": ["b"], "links": [[0, 0, 0.5], [0, 0, 0.2]]}\n'),
        ("jsonl", '{"source": ["a"], "target": ["b"], "sure": [[0, 0]], "possible": [[0, 0]]}\n'),
    ],
)
def test_links_given_twice_are_merged_and_noted(format, content, tmp_path):
    reading = read(file(tmp_path, content), format)
    (item,) = reading
    assert not getattr(item, "possible", None)
    assert reading.merged.count == 1
    assert "a link is given twice" in str(reading.merged.first)


def test_a_bad_line_does_not_shift_the_words(tmp_path):
    reading = read(
        file(tmp_path, "0-0\nx\n0-9\n4-3\n"), "pharaoh", words=[GOLD, GOLD, GOLD, TEXT], skip_bad=True
    )
    assert list(reading) == [
        Gold(SOURCE, TARGET, frozenset({(0, 0)})),
        Gold(SOURCE, TARGET, frozenset({(4, 3)})),
    ]
    assert reading.skipped.count == 2


def test_as_many_lines_as_pairs_of_words(tmp_path):
    for skip_bad in (False, True):
        with pytest.raises(BadLine, match="line 2: found a line more than there are pairs of words"):
            read_all(tmp_path, "pharaoh", "0-0\n0-0\n", words=[GOLD], skip_bad=skip_bad)
        with pytest.raises(BadLine, match="line 2: found the end of the file, expected a line for each pair"):
            read_all(tmp_path, "pharaoh", "0-0\n", words=[GOLD, GOLD], skip_bad=skip_bad)


def test_parallel_files_of_different_lengths_are_bad(tmp_path):
    (tmp_path / "a").write_text("a\nb\nc\n")
    (tmp_path / "b").write_text("a\nb\n")
    for paths in ((tmp_path / "a", tmp_path / "b"), (tmp_path / "b", tmp_path / "a")):
        with pytest.raises(BadLine, match="a, line 3: found no corresponding line in the other file"):
            list(read(paths, "parallel"))


def test_a_truncated_compressed_file_is_bad_at_its_end(tmp_path):
    write([WordlessLinks(frozenset({(0, 0)}))] * 3, tmp_path / "links.gz", "pharaoh")
    packed = (tmp_path / "links.gz").read_bytes()
    (tmp_path / "links.gz").write_bytes(packed[:-8])
    with pytest.raises(BadLine, match=r"links\.gz, line 4: found the end of a truncated compressed file"):
        list(read(tmp_path / "links.gz", "pharaoh"))


def test_a_sentence_number_far_ahead_is_bad(tmp_path):
    (tmp_path / "links.wa").write_text("1 1 1\n200000000 1 1\n2 1 1\n")
    with pytest.raises(BadLine, match=r"line 2: found sentence 200000000, expected sentences in the order"):
        list(read(tmp_path / "links.wa", "naacl"))
