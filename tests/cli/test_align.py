"""`otalign align` as a user runs it: one line of output for each line of input."""

import gzip
import json
import os
import pty
import re
import signal
import subprocess
import time
from contextlib import suppress
from importlib.util import find_spec
from typing import get_args

import pytest

from otalign import Aligner
from otalign.alignment import Alignment
from otalign.io import guess_format, read
from otalign.io.writing import OUTPUT_FORMATS
from otalign.problems import PROBLEMS
from otalign.render.matrix import SHADES
from otalign.render.phrases import describe_phrases
from otalign.settings import Cost
from tests.cli.samples import SOURCE, TARGET, lines
from tests.conftest import use_graph


@pytest.fixture(scope="session")
def expected(model):
    return list(Aligner.load(model).align_many(zip(SOURCE, TARGET, strict=True)))


def test_two_files_give_a_line_for_each_line(run, expected):
    done = run("align", "source.txt", "target.txt")
    assert lines(done) == [alignment.pharaoh() for alignment in expected]
    assert done.stderr == b""


def test_workers_change_nothing_and_are_refused_where_they_have_no_use(run, expected):
    done = run("align", "source.txt", "target.txt", "--workers", "2")
    assert lines(done) == [alignment.pharaoh() for alignment in expected]
    for more, what in (
        (("-o", "out/", "--processes", "2"), "--workers share one model"),
        (("--method", "fast-align"), "--workers applies only to"),
    ):
        done = run("align", "source.txt", "target.txt", "--workers", "2", *more, rc=2)
        assert done.stderr.decode().startswith(f"otalign: {what}")


def test_columns_of_weights_and_nulls_follow_the_links(run, expected):
    rows = [
        line.split("\t") for line in lines(run("align", "source.txt", "target.txt", "--nulls", "--weights"))
    ]
    for (links, weights, source_nulls, target_nulls), alignment in zip(rows, expected, strict=True):
        assert links == alignment.pharaoh()
        assert [float(weight) for weight in weights.split()] == [link.weight for link in alignment.links]
        assert [int(word) for word in source_nulls.split()] == list(alignment.source_nulls)
        assert [int(word) for word in target_nulls.split()] == list(alignment.target_nulls)


def test_phrases_are_the_same_in_every_output_and_in_python(run, expected, tmp_path):
    texts, words = ("source.txt", "target.txt", "--phrases"), [one.to_dict(phrases=True) for one in expected]
    for name in ("out.jsonl", "out.parquet") if find_spec("pyarrow") else ("out.jsonl",):
        run("align", *texts, "-o", name)
        assert [one.to_dict() for one in read(tmp_path / name, guess_format(tmp_path / name))] == words
    run("align", *texts, "-o", "out/", "--shard-size", "2", "--processes", "2")
    shards = sorted((tmp_path / "out").glob("part-*"))
    assert [json.loads(line) for shard in shards for line in shard.read_text().splitlines()] == words
    columns = [line.split("\t")[1] for line in lines(run("align", *texts))]
    assert columns == [" ".join(map(str, one.phrase_links)) for one in expected]


def test_the_phrases_of_a_drawing_are_below_it(run, expected):
    texts = ("source.txt", "target.txt", "--no-pager")
    phrases = [line for line in map(describe_phrases, expected) if line]
    for drawing in (("--format", "terminal"), ("--matrix",)):
        with_phrases, without = (lines(run("align", *texts, *drawing, *more)) for more in (["--phrases"], []))
        assert "".join(with_phrases).count("phrases: ") == len(phrases) > 0
        assert "phrases: " not in "".join(without)


def test_a_table_is_read_from_a_pipe_and_written_as_one(run, expected, tmp_path):
    table = "".join(f"{source}\t{target}\n" for source, target in zip(SOURCE, TARGET, strict=True))
    for arguments in ((), ("-",)):
        (tmp_path / "out.tsv").write_bytes(
            run("align", *arguments, "--format", "columns", stdin=table.encode()).stdout
        )
        items = list(read(tmp_path / "out.tsv", "columns"))
        assert [item.source for item in items] == [alignment.source for alignment in expected]
        assert [item.pairs for item in items] == [alignment.pairs for alignment in expected]


def test_json_lines_hold_all_of_an_alignment(run, expected, tmp_path):
    objects = [{"source": source, "target": target} for source, target in zip(SOURCE, TARGET, strict=True)]
    (tmp_path / "pairs.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, objects)).encode()))
    run("align", "pairs.jsonl.gz", "--format", "jsonl", "-o", "out.jsonl.gz")
    assert list(read(tmp_path / "out.jsonl.gz", "jsonl")) == expected
    # Aligned again by its words, the text is gone, and with it what the encoder saw of it.
    again = [
        Alignment.from_dict(json.loads(line))
        for line in lines(run("align", "out.jsonl.gz", "--format", "jsonl"))
    ]
    assert [alignment.source for alignment in again] == [alignment.source for alignment in expected]


def test_two_sentences_need_no_file(run, expected):
    assert lines(run("align", SOURCE[0], TARGET[0])) == [expected[0].pharaoh()]
    assert lines(run("align", "", "")) == [""]


def test_a_matrix_is_drawn_on_request(run, expected):
    drawn = run("align", SOURCE[0], TARGET[0], "--matrix").stdout.decode()
    grid = drawn.split("\n", 1)[1]  # below the legend
    assert sum(grid.count(shade) for shade in SHADES) == len(expected[0].links)
    assert "┌ purchased" in drawn


def test_pretokenized_text_is_split_at_spaces_alone(run):
    (line,) = lines(run("align", "can't go.", "can't go .", "--pretokenized", "--format", "jsonl"))
    assert json.loads(line)["source"] == ["can't", "go."]
    (line,) = lines(run("align", "can't go.", "can't go .", "--format", "jsonl"))
    assert json.loads(line)["source"] == ["ca", "n't", "go", "."]


def test_every_option_of_the_aligner_is_taken(main, model, texts):
    options = ("--cost", "euclidean", "--fertility", "norm", "--distortion", "0.1", "--threshold", "0.2")
    others = (
        "--pairing",
        "separate",
        "--no-centring",
        "--device",
        "cpu",
        "--batch-size",
        "64",
        "--threads",
        "1",
    )
    for problem in (
        ("--problem", "bot", "--exact"),
        ("--fraction", "0.5"),
        ("--tau", "0.2", "--epsilon", "0.05"),
    ):
        status, output, _ = main("align", *texts, "--model", str(model), *problem, *options, *others)
        assert (status, output.count(b"\n")) == (0, len(SOURCE))
    status, output, _ = main("align", *texts, "--model", str(model), "--problem", "none")
    assert (status, output.count(b"\n")) == (0, len(SOURCE))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("short.txt", "target.txt"), "short.txt has 2 lines and target.txt has 5"),
        (("broken.tsv",), "broken.tsv, line 2: found byte 0xff at position 2, expected UTF-8"),
        (("three.tsv",), "three.tsv, line 1: found 3 columns between tabs, expected two"),
        (("none.txt", "target.txt"), "there is no file none.txt"),
        (("none.txt", "neither.txt"), "there is no file none.txt"),
        (("a", "b", "c"), "give two sentences, two files or one file, got 3"),
        (
            ("source.txt", "target.txt", "-o", "no/out.txt"),
            "cannot write no/out.txt: there is no folder no; make it first",
        ),
        (("source.txt", "target.txt", "-o", "source.txt"), "source.txt is an input too"),
        (
            ("a", "b", "--matrix", "--format", "columns"),
            "--matrix is drawn on the terminal; remove --format",
        ),
        (
            ("a", "b", "--format", "xyz"),
            f"--format must be one of {', '.join(OUTPUT_FORMATS)}, terminal, got 'xyz'",
        ),
        (("a", "b", "--format", "tsv"), "source, target and links are now --format columns"),
        (
            ("a", "b", "--format", "parquet"),
            "--format parquet is for names that end in .parquet, or a folder, got out.txt",
        ),
        (
            ("a", "b", "--format", "naacl", "--phrases"),
            "weights, nulls and phrases can be written as pharaoh, columns, jsonl, jsonl.gz, parquet, not as "
            "naacl",
        ),
        (("a", "b", "--format", "talp", "--nulls"), "weights, nulls and phrases can be written as "),
        (("a", "b", "--problem", "xyz"), f"--problem must be one of {', '.join(PROBLEMS)}, got 'xyz'"),
        (
            ("a", "b", "--problem", "bot", "--tau", "1"),
            "--tau applies only to --problem uot; remove it or choose uot",
        ),
        (("a", "b", "--exact", "--epsilon", "1"), "--epsilon has no effect with --exact; remove one of them"),
        (("a", "b", "--tau", "-1"), "--tau must be positive"),
        (("a", "b", "--cost", "xyz"), f"--cost must be one of {', '.join(get_args(Cost))}, got 'xyz'"),
        (("a", "b", "--threshold", "2"), "--threshold must be from 0 to 1, got 2"),
        (("a", "b", "--layer", "2"), "--layer must be 3, at which"),
        (("a", "b", "--device", "cuda"), "--device must be 'cpu' for the exported encoder"),
        (("a", "b", "--colour"), "there is no option --colour; see otalign align --help"),
    ],
)
def test_errors_are_reported_and_nothing_is_lost(run, tmp_path, arguments, message):
    (tmp_path / "short.txt").write_text("a\nb\n")
    (tmp_path / "broken.tsv").write_bytes(b"a\tb\nc\xff\td\n")
    (tmp_path / "three.tsv").write_text("a\tb\tc\n")
    (tmp_path / "out.txt").write_text("what was here before\n")
    output = () if "-o" in arguments else ("-o", "out.txt")
    done = run("align", *arguments, *output, rc=2)
    assert done.stderr.decode().startswith("otalign: ")
    assert message in done.stderr.decode()
    assert (tmp_path / "out.txt").read_text() == "what was here before\n"
    assert (tmp_path / "source.txt").read_text().startswith(SOURCE[0])


def test_a_model_that_is_not_there_is_named(main):
    status, output, errors = main("align", "a", "b", "--model", "no-such-folder/at/all")
    assert (status, output) == (2, b"")
    assert errors.startswith("otalign: there is no folder no-such-folder/at/all")


def test_where_a_method_needs_a_model_the_error_names_the_remedy(command, command_server):
    given = command("align", "a", "b", "--method", "simalign")
    del given["env"]["OTALIGN_MODEL"]
    done = command_server.run(**given, text=True)
    assert done.returncode == 2
    assert "give --model (or set OTALIGN_MODEL)" in done.stderr


def test_an_interrupt_leaves_whole_lines(command, command_server, tmp_path):
    pair = b"He bought a used car.\tHe purchased a car.\n"
    out = tmp_path / "out.txt"
    with (
        out.open("wb") as stdout,
        command_server.start(
            **command("align", "-"), stdin=subprocess.PIPE, stdout=stdout, stderr=subprocess.PIPE
        ) as work,
    ):
        assert work.stdin
        assert work.stderr
        end = time.monotonic() + 60
        with suppress(BrokenPipeError):
            while not out.stat().st_size and time.monotonic() < end:
                work.stdin.write(pair * 100)
                work.stdin.flush()
            work.send_signal(signal.SIGINT)
            work.stdin.close()
        assert work.wait(timeout=60) == 130
        assert work.stderr.read() == b""
    written = out.read_bytes()
    assert written.endswith(b"\n")
    assert len(set(written.splitlines())) == 1


def test_a_reader_that_has_seen_enough_is_no_error(command, command_server):
    with command_server.start(
        **command("align", "source.txt", "target.txt"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as work:
        assert work.stdout
        assert work.stderr
        work.stdout.close()
        work.wait(timeout=60)
        assert work.stderr.read() == b""


def test_short_work_shows_no_bar_and_links_are_drawn_on_a_terminal(command, command_server, tmp_path):
    screen, terminal = pty.openpty()
    done = command_server.run(
        **command("align", "source.txt", "target.txt", "-o", "out.txt"), stdout=terminal, stderr=terminal
    )
    assert done.returncode == 0
    assert len((tmp_path / "out.txt").read_text().splitlines()) == len(SOURCE)
    command_server.run(
        **command("align", *(side[0] for side in (SOURCE, TARGET))), stdout=terminal, stderr=terminal
    )
    drawing = os.read(screen, 1 << 16).decode()
    assert "yesterday" in drawing
    os.close(screen)
    os.close(terminal)


def test_an_exported_aligner_is_an_aligner(main, texts, tmp_path, tiny_model, exported, monkeypatch):
    Aligner.load(tiny_model("bert"), layer=3, threshold=0.3).save(tmp_path / "original")
    use_graph(exported("bert", 3), monkeypatch)
    status, output, _ = main("export", "original", "-o", "light")
    assert status == 0
    assert re.fullmatch(rb"light: .* largest difference \S+ \(at most 0\.0001 is allowed\)\n", output)
    (tmp_path / "new").mkdir()
    assert (tmp_path / "light").stat().st_mode == (tmp_path / "new").stat().st_mode
    assert json.loads((tmp_path / "light" / "otalign.json").read_text())["threshold"] == 0.3
    light, original = (main("align", *texts, "--model", name) for name in ("light", "original"))
    assert light == original
    status, _, errors = main("export", "light", "-o", "lighter")
    assert (status, "is exported already" in errors) == (2, True)
