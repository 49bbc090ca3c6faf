"""What newcomers stumbled over: guesses of formats, suggestions, fields that pass through, clear messages."""

import gzip
import json
import os

import pytest

from otalign import Alignment, Gold, Link
from otalign.failures import explain_os_error
from otalign.io import CORPORA, read, write
from tests.io.examples import ISTS

FAST = ("--method", "fast-align")
LABELLED = [
    {"id": 7, "source": "Ann lives in Rome .", "target": "In Rome lives Ann .", "spans": [[0, 3, "PER"]]},
    {"id": 8, "source": ["Ann", "sings"], "target": ["sings", "Ann"], "labels": ["B-PER", "O"]},
]


@pytest.fixture
def labelled(tmp_path):
    (tmp_path / "labelled.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LABELLED))
    return "labelled.jsonl"


@pytest.mark.parametrize(
    "content", ["source,target\na b,c d\n", "a b ||| c d\n", '{"source":"a b","target":"c d"}']
)
def test_pipes_are_guessed_too(run, content):
    assert run("align", "-", *FAST, stdin=content.encode()).stdout == b"0-0 1-1\n"


def test_a_csv_file_may_have_quotes_line_ends_and_other_columns(tmp_path):
    (tmp_path / "a.csv").write_text('id;Source;target\n7;"a; ""b""\nc";d\n')
    ((source, target),) = items = list(read(tmp_path / "a.csv", "csv"))
    assert (source, target, items[0].fields) == ('a; "b"\nc', "d", {"id": "7"})


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("x.jsonl", b'{"source"'),
        ("x.tsv", b"a b\tc d\t0-0"),
        ("x.talp", b"1-1"),
        ("x.parquet", b"PAR1"),
        ("x", b"0-0"),
    ],
)
def test_the_suffix_of_an_output_is_its_format(run, tmp_path, name, start):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    run("align", "a b", "c d", *FAST, "-o", name)
    assert (tmp_path / name).read_bytes().startswith(start)
    run("align", "a b", "c d", *FAST, "-o", "x.jsonl.gz")
    assert gzip.decompress((tmp_path / "x.jsonl.gz").read_bytes()).startswith(b'{"source"')


def test_further_fields_pass_through_align_and_on_to_project(run, labelled):
    lines = run("align", labelled, "--format", "jsonl", *FAST).stdout
    assert [json.loads(line)["id"] for line in lines.splitlines()] == [7, 8]
    first, second = map(json.loads, run("project", "-", stdin=lines).stdout.splitlines())
    assert first["source_text"] == LABELLED[0]["source"]
    assert {"projected", "lost", "id"} <= first.keys()
    assert len(second["target_labels"]) == 2


def test_further_fields_pass_through_shards_and_a_folder_of_parquet_opens_in_pandas(run, labelled, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    run("align", labelled, "-o", "out/", "--format", "parquet", "--shard-size", "1")
    frame = pandas.read_parquet(tmp_path / "out")
    assert sorted(frame["id"]) == [7, 8]
    run("align", labelled, "-o", "one.parquet")
    assert list(pandas.read_parquet(tmp_path / "one.parquet")["id"]) == [7, 8]
    assert run("show", "one.parquet", "--pair", "2").stdout.decode().count("Ann") == 2
    assert json.loads(run("project", "one.parquet").stdout.splitlines()[0])["id"] == 7


def test_a_folder_of_an_earlier_version_is_resumed(run, labelled, tmp_path):
    run("align", labelled, "-o", "out/", "--shard-size", "1")
    (tmp_path / "out" / "_run.json").rename(tmp_path / "out" / "run.json")
    (tmp_path / "out" / "part-000001.jsonl").unlink()
    run("align", labelled, "-o", "out/", "--shard-size", "1", "--resume")
    assert sorted(os.listdir(tmp_path / "out")) == [
        ".lock",
        "_run.json",
        "part-000000.jsonl",
        "part-000001.jsonl",
    ]


def test_types_and_scores_of_chunks_are_written_again(run, tmp_path):
    (tmp_path / "gold.wa").write_text(ISTS)
    run("convert", "gold.wa", "gold.jsonl")
    run("convert", "gold.jsonl", "again.wa")
    assert "2 <==> 2 3 // SPE1 // 4 // sold <==> was sold" in (tmp_path / "again.wa").read_text()


def test_chunks_that_do_not_fit_the_links_are_not_written(tmp_path):
    chunks = [{"source": [0], "target": [0], "type": "OPPO", "score": 1}]
    write([Alignment(("a",), ("b",), (), fields={"chunks": chunks})], tmp_path / "a.wa", "ists")
    assert "OPPO" not in (tmp_path / "a.wa").read_text()


def test_links_with_weights_are_read(tmp_path):
    (tmp_path / "links").write_text("0-0-1.0 1p2-0.25 3-3\n")
    (links,) = read(tmp_path / "links", "pharaoh")
    assert (links.sure, links.possible) == ({(0, 0), (3, 3)}, {(1, 2)})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("evaluate", "links.txt", "mtrf"), "there is no file or corpus mtrf; did you mean mtref?"),
        (("evaluate", "link.txt", "gold.tsv"), "there is no file link.txt; did you mean links.txt?"),
        (
            ("align", "a", "b", "--model", "smal"),
            "there is no model or folder named 'smal'; did you mean small?",
        ),
        (
            ("align", "a", "b", "--model", "./mine"),
            "there is no folder ./mine, and no model on the Hugging Face hub",
        ),
        (
            ("align", "a", "b", "--model", "mine/"),
            "there is no folder mine/, and no model on the Hugging Face hub",
        ),
        (("align", "a", "b", "--model", "gold.tsv"), "gold.tsv is a file; give the folder of a model"),
        (("train", "mtrf", "-o", "x", "--encoder", "small"), "no file or corpus mtrf; did you mean mtref?"),
        (("align", "gold.tsv", *FAST, "--train", "mtrf"), "got 'mtrf'; did you mean mtref?"),
        (("align", "It rains."), "there is no file named 'It rains.'; to align two sentences, give both"),
        (
            ("evaluate", "gold.tsv", "links.txt"),
            "links.txt has links without words (pharaoh), and is given",
        ),
        (("align", "utf16.tsv"), "expected UTF-8, not UTF-16; convert it (iconv -f utf-16 -t utf-8)"),
        (("diff", "a b", "c d", "--only", "move"), "got 'move'; did you mean moved?"),
        (("align", "links.txt", "gold.tsv", "--from", "tsv"), "tsv takes 1 file, got 2"),
        (("models", "smal"), "there is no model named 'smal'; did you mean small?"),
        (("align", "a", "b", "--probelm", "uot"), "there is no option --probelm; did you mean --problem?"),
        (("algin", "a", "b"), "there is no command algin; did you mean align?"),
        (("align", "a", "b", "--format", "jsnl"), "got 'jsnl'; did you mean jsonl?"),
        (("show", "x.parquet"), "there is no file or corpus x.parquet"),
        (("align", "nofile.txt"), "there is no file or corpus nofile.txt; the corpora are"),
        (("align", "--bogus", "a", "b"), "there is no option --bogus; see otalign align --help"),
        (("serve", "--port", "abc"), "--port must be an integer, got abc"),
        (("serve", "--port", "99999"), "--port must be 65535 or less, got 99999"),
        (("align", "a", "b", "--threshold", "x"), "--threshold must be a number, got x"),
        (("convert", "none.txt", "--from", "pharaoh", "x", "--to", "talp"), "there is no file none.txt"),
        (
            ("align", "a b", "c d", "-o", "x.jsonl", "--format", "talp"),
            "talp does not suit x.jsonl, whose name",
        ),
        (
            ("align", "a", "b", "-o", "x.csv"),
            "links cannot be written as csv, which the name x.csv stands for",
        ),
        (
            ("align", "a", "b", "--model", "small", "--tau", "0.3"),
            "--tau must be left out: the model small has",
        ),
        (("align", "a", "b", "--model", "small", "--layer", "4"), "leave it out, or give --model an encoder"),
        (
            ("align", "a", "b", "--model", "small", "--layer", "4", "--tau", "0.8"),
            "--layer must be 5, with which small was trained, got 4; leave it out, or give",
        ),
        (
            ("tune", "gold.tsv", "--model", "small", "--layers", "4", "-o", "new"),
            "--layers must be 5, with which small was trained, got 4",
        ),
        (("align", "noise"), "noise, line 1: found byte 0xa5 at position 4, expected UTF-8"),
        (("align", "gold.tsv.xz"), "ends in .xz, a compression that is not supported; use .gz, .zst or none"),
        (("align", "a", "b", "-o", "a.bz2", *FAST), "ends in .bz2, a compression that is not supported"),
        (("align", "a", "b", "-o", "a.html"), "a.html would be a drawing; write a file such as links.jsonl"),
        (("align", "no-target.jsonl", *FAST), "found no field 'target', expected a JSON object on one line"),
        (("export", "small", "-o", "gold.tsv/new"), "gold.tsv is a file; choose a new folder"),
        (("convert", "gold.tsv", "new.tsv"), "--to must be given for new.tsv, which could be columns or tsv"),
        (
            ("project", "beyond.jsonl"),
            "beyond.jsonl, line 1: a span must be (start, end, label) with 0 ≤ start < end, within the "
            "source's 3 characters, got (0, 9, 'PER')",
        ),
    ],
)
def test_mistakes_are_met_with_what_to_do(run, tmp_path, arguments, message):
    (tmp_path / "links.txt").write_text("0-0\n")
    (tmp_path / "final.txt").write_text("a text\n")
    (tmp_path / "utf16.tsv").write_text("a b\tc d\n", encoding="utf-16")
    (tmp_path / "noise").write_bytes(b"a\rb\xa5,\n")
    (tmp_path / "gold.tsv.xz").write_bytes(b"\xfd7zXZ\0")
    (tmp_path / "gold.tsv").write_text("a b\tc d\t0-0\n")
    (tmp_path / "no-target.jsonl").write_text('{"source": "a"}\n')
    (tmp_path / "beyond.jsonl").write_text('{"source": "Ann", "target": "Ann", "spans": [[0, 9, "PER"]]}\n')
    done = run(*arguments, rc=2)
    said = done.stderr.decode()
    assert message in said
    assert "Errno" not in said
    assert said.count("\n") == 1
    assert done.stdout == b""


@pytest.mark.parametrize(
    "arguments", ["align -", "show -", "project -", "evaluate - gold.tsv", "convert - x.jsonl"]
)
def test_a_pipe_that_is_not_text_is_met_with_what_to_do(run, tmp_path, arguments):
    (tmp_path / "gold.tsv").write_text("a b\tc d\t0-0\n")
    for content, message in (
        (
            gzip.compress(b"a b\tc d\n"),
            "standard input, line 1: found byte 0x8b at position 2, expected UTF-8, not gzip; unpack it",
        ),
        (b"PAR1", "Parquet cannot be read from a pipe, got standard input; give a file"),
    ):
        said = run(*arguments.split(), stdin=content, rc=2).stderr.decode()
        assert said.startswith(f"otalign: {message}")
        assert said.count("\n") == 1


def test_a_compressed_file_needs_its_suffix(run, tmp_path):
    (tmp_path / "gold").write_bytes(gzip.compress(b"a b\tc d\t0-0\n"))
    for options in ((), ("--from", "columns")):
        said = run("convert", "gold", "x.jsonl", *options, rc=2).stderr
        assert b"expected UTF-8, not gzip; unpack it (gzip -dc), or give a file whose name ends" in said
    assert not (tmp_path / "x.jsonl").exists()


def test_a_dash_is_standard_output_too(run, labelled, tmp_path):
    (tmp_path / "gold.tsv").write_text("a b\tc d\t0-0\n")
    assert run("align", "gold.tsv", *FAST, "-o", "-").stdout == b"0-0 1-1\n"
    assert run("convert", "gold.tsv", "-", "--to", "talp").stdout == b"1-1\n"
    assert run("project", labelled, *FAST, "-o", "-").stdout.startswith(b'{"id": 7')
    assert run("show", "gold.tsv", "--html", "-").stdout.startswith(b"<!doctype html>")
    assert not (tmp_path / "-").exists()


def test_errors_of_a_file_are_named_in_words_whatever_reads_it(tmp_path):
    pytest.importorskip("pyarrow")
    with pytest.raises(FileNotFoundError) as caught:
        list(read(tmp_path / "none.parquet", "parquet"))
    assert explain_os_error(caught.value) == f"there is no file {tmp_path / 'none.parquet'}"


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="a file that cannot be read even by root")
@pytest.mark.parametrize("arguments", ["align {}", "evaluate {} gold.tsv", "convert {} x.jsonl --from tsv"])
def test_a_file_whose_bytes_cannot_be_read_is_named(run, tmp_path, arguments):
    (tmp_path / "gold.tsv").write_text("a b\tc d\t0-0\n")
    said = run(*arguments.format("/proc/self/mem").split(), rc=2).stderr
    assert said == b"otalign: /proc/self/mem: input/output error\n"


def test_an_empty_text_is_a_text_and_no_folder(run):
    assert run("diff", "", "It rains.", rc=1).stdout.startswith("0 → 1 sentence: 1 new".encode())
    assert run("diff", "It rains.", "", rc=1).stdout.startswith("1 → 0 sentences: 1 gone".encode())


def test_a_corpus_is_counted_for_each_split_and_level_in_80_columns(run, tmp_path):
    gold = Gold(("a", "b", "c"), ("d", "e"), frozenset({(0, 0), (1, 0)}), frozenset({(2, 1)}))
    for name in CORPORA["mtref"].files.values():
        (tmp_path / name[0]).parent.mkdir(parents=True, exist_ok=True)
        write([gold], tmp_path / name[0], "multimwa")
    table = run("corpus", "stats", "mtref", "--data", ".").stdout.decode()
    assert max(map(len, table.splitlines())) <= 80
    rows = json.loads(run("corpus", "stats", "mtref", "--data", ".", "--json").stdout)
    counts = {(row["split"], row["level"]): (row["words"], row["links"], row["null rate %"]) for row in rows}
    levels = {"sure": (5, 2, 40.0), "possible": (5, 3, 0.0)}
    assert counts == {(split, level): levels[level] for split in ("train", "dev", "test") for level in levels}
    assert [row["in train"] for row in rows if row["split"] == "test"] == [1, 1]


def test_one_pair_is_not_called_pairs(run, tmp_path):
    (tmp_path / "a.txt").write_text("0-0\n")
    assert run("convert", "a.txt", "b.talp").stderr == b"1 pair written to b.talp\n"
    (tmp_path / "b.txt").write_text("a\nb\n")
    assert b"a.txt has 1 line and b.txt has 2" in run("align", "a.txt", "b.txt", rc=2).stderr
    write([Alignment(("a",), ("a",), (Link(0, 0),))], tmp_path / "gold.tsv", "columns")
    tuned = run("tune", "gold.tsv", "--model", "small", "-o", "mine").stdout
    assert b"gold.tsv: calibrated on 1 dev pair\n" in tuned


def test_an_interval_is_called_one(run, tmp_path):
    write([Alignment(("a",), ("b",), (Link(0, 0),))], tmp_path / "gold.tsv", "columns")
    (tmp_path / "a.txt").write_text("0-0\n")
    said = run("evaluate", "a.txt", "gold.tsv", "--by", "length").stdout
    assert b"95% confidence interval of F1: 100.0 to 100.0\n" in said
    assert b"length 2: F1 100.0, 1 pair\n" in said


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("align --mod", "--model"),
        ("ev", "evaluate"),
        *((f"{command} mt", "mtref") for command in ("align", "show", "train", "tune", "corpus stats")),
        *((f"{command} sm", "small") for command in ("models", "align --model", "train --encoder")),
    ],
)
def test_the_shell_completes_commands_options_and_corpora(command, command_server, words, offered):
    asked = command()
    asked["env"] |= {"_OTALIGN_COMPLETE": "complete_bash", "COMP_WORDS": f"otalign {words}"}
    asked["env"]["COMP_CWORD"] = str(len(words.split()))
    assert offered in command_server.run(**asked, text=True).stdout.split()


def test_h_is_help(run):
    assert run("align", "-h").stdout == run("align", "--help").stdout
    assert b"--install-completion" in run("-h").stdout
