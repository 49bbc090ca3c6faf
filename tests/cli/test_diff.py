"""`otalign diff` as a user runs it: output, files and exit codes."""

import gzip
import json

import pytest

from otalign.diff.difference import Difference

OLD = "He bought a used car. Rain fell on the town. It can't be sold today.\n"
NEW = "He bought a used car. It can't be sold yesterday. The hills are old.\n"


@pytest.fixture(autouse=True)
def texts(tmp_path):
    (tmp_path / "old.txt").write_text(OLD)
    (tmp_path / "new.txt").write_text(NEW)
    (tmp_path / "packed.txt.gz").write_bytes(gzip.compress(OLD.encode()))
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "binary").write_bytes(b"text\n\xff\xfe\n")
    (tmp_path / "zeros").write_bytes(b"text\0\n")


def test_the_exit_says_whether_anything_changed(run):
    assert run("diff", "old.txt", "old.txt").stdout == b"3 sentences, all the same\n"
    assert run("diff", "old.txt", "packed.txt.gz").stdout == b"3 sentences, all the same\n"
    assert run("diff", "empty.txt", "empty.txt").stdout == b"no sentences in either text\n"
    text = run("diff", "old.txt", "new.txt", rc=1).stdout.decode()
    assert text.startswith("3 → 3 sentences: 1 same, ")
    assert "1 → 1" in text


def test_one_text_may_come_from_a_pipe(run):
    assert run("diff", "old.txt", "-", stdin=OLD.encode()).stdout == b"3 sentences, all the same\n"


def test_json_is_the_whole_difference(run):
    data = json.loads(run("diff", "old.txt", "new.txt", "--json", rc=1).stdout)
    found = Difference.from_dict(data)
    assert (found.old.text, found.new.text) == (OLD.rstrip("\n"), NEW.rstrip("\n"))
    assert found.to_dict() == data


def test_a_page_is_written_and_nothing_is_shown(run, tmp_path):
    assert run("diff", "old.txt", "new.txt", "--html", "out.html", rc=1).stdout == b""
    text = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "<h1>old.txt → new.txt</h1>" in text


def test_lines_may_be_sentences(run, tmp_path):
    (tmp_path / "a").write_text("one two. three\nfour\n")
    (tmp_path / "b").write_text("one two. three\n")
    assert run("diff", "a", "b", "--lines", rc=1).stdout.startswith("2 → 1 sentence: 1 same, 1 gone".encode())


def test_a_page_and_json_are_written_together(run, tmp_path):
    done = run("diff", "old.txt", "new.txt", "--html", "out.html", "--json", rc=1)
    assert Difference.from_dict(json.loads(done.stdout)).counts["same"] == 1
    assert (tmp_path / "out.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_texts_may_be_arguments(run, tmp_path):
    done = run("diff", "It rained all day.", "It rained all night.", "--html", "out.html", "--json", rc=1)
    assert json.loads(done.stdout)["old"]["text"] == "It rained all day."
    assert "<h1>old text → new text</h1>" in (tmp_path / "out.html").read_text(encoding="utf-8")
    assert run("diff", "old.txt", OLD).stdout == b"3 sentences, all the same\n"
    assert run("diff", "下雨了。", "下雨了。").stdout == b"1 sentence, the same\n"


def test_case_may_be_ignored(run):
    assert run("diff", "It rained all day.", "it rained ALL day.", rc=1).stdout.startswith(b"1 ")
    assert run("diff", "-i", "It rained all day.", "it rained ALL day.").stdout == b"1 sentence, the same\n"


def test_changes_are_shown_side_by_side_or_by_kind(run):
    assert " │ " in run("diff", "old.txt", "new.txt", "-y", rc=1).stdout.decode()
    text = run("diff", "old.txt", "new.txt", "--only", "gone", "--context", "0", rc=1).stdout.decode()
    assert "not shown" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("old.txt", "none.txt"), "there is no file none.txt"),
        (("old.txt", "."), ". is a folder; give a file"),
        (("old.txt", "binary"), "binary, line 2: found byte 0xff at position 1, expected UTF-8"),
        (("old.txt", "zeros"), "zeros is not a text: it holds zero bytes"),
        (("-", "-"), "only one of the two texts can come from standard input"),
        (("old.txt", "new.txt", "--html", "old.txt"), "old.txt is an input too"),
        (("old.txt", "new.txt", "--html", "no/x.html"), "cannot write no/x.html"),
        (("old.txt", "my text.txt"), "there is no file my text.txt"),
        (
            ("old.txt", "word"),
            "there is no file word; a text that is given instead must have at least two words",
        ),
        (
            ("It rained all day.", "It rained.", "--max-bytes", "5"),
            "has more than 5 bytes; raise --max-bytes",
        ),
        (("old.txt", "new.txt", "--only", "same"), "--only must be one of minor, edited, "),
        (("old.txt", "new.txt", "--method", "simalign"), "--method must be ot for a diff, got 'simalign'"),
    ],
)
def test_errors_are_reported_and_exit_with_2(run, tmp_path, arguments, message):
    done = run("diff", *arguments, rc=2)
    assert done.stderr.decode().startswith("otalign: ")
    assert message in done.stderr.decode()
    assert (tmp_path / "old.txt").read_text() == OLD
