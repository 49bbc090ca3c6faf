"""Two languages: from raw text to links by a multilingual encoder, and the gold of the field with its AER."""

import json
import warnings
from pathlib import Path

import pytest

from otalign import Aligner
from otalign.io import read
from tests.encoders import tiny

SOURCE = ("The cat sleeps on the roof.", "She bought a new car.", "孩子们在海边玩。")
TARGET = ("Кошка спит на крыше.", "Η γυναίκα αγόρασε ένα αυτοκίνητο.", "Children play at the beach.")
KNOWN = ("the", "cat", "sleeps", "roof", "children", "кошка", "спит", "крыше", "γυναίκα", "αυτοκίνητο")

# Counted from 1. A = 1-1 2-4 3-3 of the first pair, 1-2 2-1 of the second.
NAACL = "0001 1 1 S\n0001 2 2 S\n0001 3 3 P\n0001 3 4 P\n0002 1 2 S\n0002 2 1 P\n"
FILES = {
    "de.txt": "Das Haus brennt\nEr kommt\n",
    "en.txt": "The house is burning\ncomes he\n",
    "links.txt": "0-0 1-3 2-2\n0-1 1-0\n",
    "links.talp": "1-1 2-4 3-3\n1-2 2-1\n",
    "gold.naacl": NAACL,
    "gold.talp": "1-1 2-2 3p3 3p4\n1-2 2p1\n",
    "gold.pharaoh": "0-0 1-1 2p2 2p3\n0-1 1p0\n",
    "sure.talp": "1-1 2-2\n1-2\n",
    "possible.talp": "1-1 2-2 3-3 3-4\n2-1 1-2\n",  # such files often repeat the sure links
    "marked.talp": "3p3 3p4\n2p1\n",
    "short.talp": "1-1\n",
    "sure.naacl": "1 1 1\n1 2 2\n2 1 2\n",
    "possible.naacl": "1 3 3\n1 3 4\n2 2 1\n",
}
# |A ∩ S| = 1 + 1, |A ∩ (S ∪ P)| = 2 + 2, |A| = 3 + 2, |S| = 2 + 1
AER = 1 - (2 + 4) / (5 + 3)


@pytest.fixture(scope="module")
def encoder(shared_folder) -> Path:
    letters = [word for text in (*SOURCE, *TARGET) for word in text.replace(".", " .").lower().split()]
    tokenizer = tiny.multilingual([*KNOWN, *letters, *"abcdefghijklmnopqrstuvwxyzTCSКΗ。"])
    return shared_folder("multilingual", lambda path: tiny.model("xlm-roberta", path, tokenizer=tokenizer))


def test_a_multilingual_encoder_aligns_two_scripts_from_raw_text(encoder):
    aligner = Aligner.load(encoder, layer=2, problem="uot", tau=0.5, threshold=0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it knows these letters, so there is nothing to warn about
        found = list(aligner.align_many(zip(SOURCE, TARGET, strict=True)))
    assert aligner.languages == ()
    for alignment, source, target in zip(found, SOURCE, TARGET, strict=True):
        assert "".join(alignment.source) == source.replace(" ", "")
        assert [source[start:end] for start, end in alignment.source_spans or ()] == list(alignment.source)
        assert [target[start:end] for start, end in alignment.target_spans or ()] == list(alignment.target)
        assert alignment.links
    assert found[2].source[:2] == ("孩", "子")


def test_the_command_gives_the_same_links_without_a_warning(encoder, main, tmp_path):
    (tmp_path / "a.txt").write_text("".join(line + "\n" for line in SOURCE), encoding="utf-8")
    (tmp_path / "b.txt").write_text("".join(line + "\n" for line in TARGET), encoding="utf-8")
    model = ("--model", str(encoder), "--layer", "2")
    transport = ("--problem", "uot", "--tau", "0.5", "--threshold", "0.05")
    arguments = ("align", "a.txt", "b.txt", *model, *transport, "--format", "jsonl", "-o", "links.jsonl")
    assert main(*arguments) == (0, b"", "")
    aligner = Aligner.load(encoder, layer=2, problem="uot", tau=0.5, threshold=0.05)
    expected = aligner.align_many(zip(SOURCE, TARGET, strict=True))
    assert [item.pairs for item in read(tmp_path / "links.jsonl", "jsonl")] == [one.pairs for one in expected]


@pytest.fixture
def evaluate(run, tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)

    def evaluate(*arguments: str, words: bool = True, rc: int = 0) -> str:
        given = ("--words", "de.txt", "--words", "en.txt") if words else ()
        done = run("evaluate", *arguments, *given, "--json", rc=rc)
        return (done.stderr if rc else done.stdout).decode()

    return evaluate


@pytest.mark.parametrize(
    "arguments",
    [
        ("links.txt", "gold.naacl", "--gold-format", "naacl"),
        ("links.txt", "gold.talp", "--gold-format", "talp"),
        ("links.txt", "gold.pharaoh", "--gold-format", "pharaoh"),
        ("links.talp", "gold.talp", "--gold-format", "talp", "--format", "talp"),
        ("links.txt", "sure.talp", "--gold-format", "talp", "--possible", "possible.talp"),
        ("links.txt", "sure.talp", "--gold-format", "talp", "--possible", "marked.talp"),
        ("links.txt", "sure.naacl", "--gold-format", "naacl", "--possible", "possible.naacl"),
    ],
)
def test_gold_of_sure_and_possible_links_is_read_as_it_is_published(evaluate, arguments):
    (found,) = json.loads(evaluate(*arguments))["systems"].values()
    assert found["aer"] == pytest.approx(AER)
    assert found["links_recall"] == pytest.approx((1 / 2 + 1) / 2)  # at level sure
    (found,) = json.loads(evaluate(*arguments, "--level", "possible"))["systems"].values()
    assert found["aer"] == pytest.approx(AER)
    assert found["links_recall"] == pytest.approx((2 / 4 + 1) / 2)


def test_files_that_count_from_0_and_from_1_are_not_confused(evaluate):
    error = evaluate("links.txt", "gold.pharaoh", "--gold-format", "talp", rc=2)
    assert "gold.pharaoh, line 1: found '0-0', " in error
    assert "counted from 1 (a file that counts from 0 is pharaoh)" in error
    error = evaluate("links.txt", "gold.talp", "--gold-format", "pharaoh", rc=2)
    assert "gold.talp, line 1: found link 3-" in error
    assert "counted from 0 (a file that counts from 1 is talp)" in error


def test_gold_without_words_is_refused_with_what_is_missing(evaluate):
    error = evaluate("links.txt", "gold.talp", "--gold-format", "talp", words=False, rc=2)
    assert "gold.talp has links without words (talp), and is given as gold; give evaluate" in error
    error = evaluate("links.txt", "gold.talp", "--gold-format", "jsonl", rc=2)
    assert "--words applies only to gold without words; jsonl has its own" in error
    error = evaluate("links.txt", "mtref", rc=2)
    assert "--words and --possible apply only to gold in files, not to the corpus mtref" in error
    error = evaluate("links.txt", "sure.talp", "--gold-format", "talp", "--possible", "short.talp", rc=2)
    assert "short.talp, line 2: found the end of the file" in error
