"""`otalign project` as a user runs it: one line of output with labels for each line of input."""

import json

import pytest

from otalign import Aligner
from otalign.projection import project_spans, project_tags
from tests.cli.samples import SOURCE, TARGET, lines

ALIGNED = {"source": ["a", "b"], "target": ["b"], "links": [[1, 0, 1.0]]}
WORDS = {"source": SOURCE[0].split(), "target": TARGET[0].split()}
TAGS = ["B-PER", "O", "B-OBJ", "I-OBJ", "I-OBJ"]


def text(*records: dict) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def test_labels_and_spans_are_carried_over_and_all_else_stays(run):
    given = text(
        ALIGNED | {"id": 7, "spans": [[0, 1, "X"], [1, 2, "Y"]]}, ALIGNED | {"labels": ["B-X", "B-Y"]}
    )
    first, second = map(json.loads, lines(run("project", "-", stdin=given)))
    assert (first["projected"], first["lost"], first["id"]) == ([[0, 1, "Y"]], [[0, 1, "X"]], 7)
    assert (second["target_labels"], second["lost"]) == (["B-Y"], [[0, 1, "X"]])


def test_what_is_aligned_needs_no_model(command, run, monkeypatch):
    given = text(ALIGNED | {"labels": ["O", "B-Y"]})
    (line,) = lines(run("project", "-", "--model", "no-such-folder", stdin=given))
    assert json.loads(line)["target_labels"] == ["B-Y"]


def test_what_is_not_aligned_is_aligned_and_lines_keep_their_order(run, model, tmp_path):
    records = [
        ALIGNED | {"labels": ["O", "B-Y"]},
        WORDS | {"labels": TAGS},
        ALIGNED | {"labels": ["O", "O"]},
        {"source": SOURCE[0], "target": TARGET[0], "spans": [[0, 2, "PER"], [12, 20, "OBJ"]]},
        ALIGNED | {"labels": ["B-X", "O"]},
    ]
    (tmp_path / "in.jsonl").write_bytes(text(*records))
    run("project", "in.jsonl", "-o", "out.jsonl", "--policy", "cover")
    made = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    aligner = Aligner.load(model)
    assert [line["target_labels"] for line in (made[0], made[2], made[4])] == [["B-Y"], ["O"], ["O"]]
    by_words = aligner.align(WORDS["source"], WORDS["target"])
    assert made[1]["target_labels"] == list(project_tags(TAGS, by_words, "cover").tags)
    by_text = aligner.align(SOURCE[0], TARGET[0])
    found = project_spans([(0, 2, "PER"), (12, 20, "OBJ")], by_text, "cover", "characters")
    assert made[3]["projected"] == [list(span) for span in found.spans]
    assert (made[3]["source_text"], made[3]["source"]) == (SOURCE[0], list(by_text.source))
    # What was written can be read, and says the same again.
    again = lines(run("project", "out.jsonl", "--policy", "cover"))
    assert list(map(json.loads, again)) == made


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (b"x\n", "line 1: found 'x', expected a JSON object on one line, with source and"),
        (text(ALIGNED), "line 1: found neither labels nor spans in {"),
        (text({"source": "a", "labels": []}), "line 1: found no 'target', expected a JSON object on one"),
        (b"[]\n", "line 1: found '[]', expected a JSON object on one line"),
        (text(ALIGNED | {"labels": ["O", 3]}), "line 1: tags must be O, B-…, I-…, E-… or S-…, got 3"),
        (text(ALIGNED | {"spans": [[0, 1]]}), "(start, end, label), two integers and a label, got [0, 1]"),
        (text(ALIGNED | {"spans": [["0", 1, "X"]]}), "two integers and a label, got ['0', 1, 'X']"),
        (text(ALIGNED | {"labels": ["O"]}), "line 1: tags must be one for each of the 2 words, got 1"),
        (text(ALIGNED | {"spans": [[0, 9, "X"]]}), "within the source's 2 words"),
    ],
)
def test_a_line_that_is_wrong_is_named(run, given, message):
    assert message in run("project", "-", stdin=given, rc=2).stderr.decode()


def test_a_policy_must_be_one(run):
    assert (
        "--policy must be one of run, cover, got 'x'"
        in run("project", "-", "--policy", "x", rc=2).stderr.decode()
    )
