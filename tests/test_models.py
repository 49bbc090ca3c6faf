"""The shipped model: its files are those that were measured, and it aligns sentences as expected."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from otalign import Aligner, models
from otalign.io import read
from otalign.models import CARD, LICENCE, MEASURED, Measurements, ModelCard, compute_digests

ROOT = Path(__file__).parent.parent
SMALL = ROOT / "src" / "otalign" / "models" / "small"
BASE = ROOT / "packages" / "otalign-base" / "src" / "otalign_base"
FOLDERS = [folder for folder in (SMALL, BASE) if (folder / MEASURED).is_file()]  # base once it is trained


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    return Aligner.load()


def align_words(aligner: Aligner, source: str, target: str) -> set[str]:
    """The links as words, and ∅ for what has none."""
    found = aligner.align(source, target)
    links = {f"{found.source[i]}–{found.target[j]}" for i, j, _ in found.links}
    links |= {f"{found.source[i]}–∅" for i in found.source_nulls}
    return links | {f"∅–{found.target[j]}" for j in found.target_nulls}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_files_are_those_that_were_measured(folder):
    assert Measurements.read(folder).digests == compute_digests(folder)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_card_shows_what_was_measured(folder):
    text, card = (folder / CARD).read_text(encoding="utf-8"), ModelCard.read(folder)
    assert card.format_tables() in text, "run benchmarks/shipped.py quality --write"
    assert json.loads((folder / MEASURED).read_text(encoding="utf-8")) == card.measured.to_dict()


@pytest.mark.parametrize("folder", [SMALL, BASE], ids=lambda folder: folder.name)
def test_the_card_names_languages_data_limits_and_licence(folder):
    text = (folder / CARD).read_text(encoding="utf-8")
    assert text.startswith("---\nlanguage: English\nlicense: Apache-2.0\n---\n")
    assert all(f"## {title}\n" in text for title in ("Data", "Limits", "Licence"))
    assert (folder / LICENCE).read_bytes() == (SMALL / LICENCE).read_bytes()


def test_the_package_stays_small():
    assert ModelCard.read(SMALL).bytes <= 25e6


def test_a_phrase_has_one_counterpart_and_words_without_any_have_none(aligner):
    found = align_words(aligner, "She gave up smoking last year.", "Last year she quit smoking for good.")
    assert {"gave–quit", "up–quit", "last–Last", "year–year", "∅–for", "∅–good"} <= found


def test_the_pairs_of_the_demo_are_linked_as_annotated(aligner):
    for gold in read(ROOT / "examples" / "gold.tsv", "multimwa"):
        assert gold.pairs("sure") <= aligner.align(gold.source, gold.target).pairs <= gold.pairs("possible")


def test_the_examples_of_the_page_are_linked_right(aligner):
    script = (ROOT / "src" / "otalign" / "server" / "problems.js").read_text(encoding="utf-8")
    examples = re.findall(r'^  \["(.+)", "(.+)"\],$', script, flags=re.MULTILINE)
    annotated = {
        ("".join(gold.source), "".join(gold.target)): gold
        for gold in read(ROOT / "examples" / "gold.tsv", "multimwa")
    }
    first, *others, last = examples
    assert align_words(aligner, *first) == {
        "Last–last", "winter–winter", "her–Her", "grandfather–grandfather", "passed–died", "away–died",
        "∅–suddenly", ".–.",
    }  # fmt: skip
    for source, target in others:
        gold = annotated[source.replace(" ", ""), target.replace(" ", "")]
        assert gold.pairs("sure") <= aligner.align(source, target).pairs <= gold.pairs("possible")
    assert aligner.align(*last).links == ()  # unrelated sentences


def test_what_only_one_side_says_is_null(aligner):
    found = align_words(aligner, "The minister resigned.", "The minister resigned after weeks of protests.")
    assert {"minister–minister", "resigned–resigned"} <= found
    assert {"∅–after", "∅–weeks", "∅–of", "∅–protests"} <= found


def test_sentences_that_share_nothing_share_no_word(aligner):
    found = aligner.align("It rains", "My brother plays the violin")
    assert found.links == ()


def test_a_sentence_is_itself(aligner):
    sentence = "The old bridge across the river was closed for repairs."
    found = aligner.align(sentence, sentence)
    assert found.pairs == {(k, k) for k in range(len(found.source))}


def test_what_is_possible_is_more_than_what_is_sure(aligner):
    pair = "Because the bridge was being repaired, we took the ferry.", "We took the ferry as it was closed."
    sure, possible = (Aligner.load(links=links).align(*pair) for links in ("sure", "possible"))
    assert sure.pairs < possible.pairs
    assert sure.pairs == aligner.align(*pair).pairs


def test_it_is_found_by_its_name_too(aligner):
    assert Aligner.load("small").signature == aligner.signature
    with pytest.raises(ValueError, match="there is no model named 'large'; choose one of small"):
        models.find_model("large")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_it_aligns_in_a_process_that_was_forked_after_it_was_used():
    script = (
        "import os; from otalign import Aligner; pairs = [('It rains.', 'It is raining.')] * 40; "
        "aligner = Aligner.load(threads=2); links = [*aligner.align_many(pairs)]; child = os.fork(); "
        "assert [*aligner.align_many(pairs)] == links; child or os._exit(0); "
        "assert os.waitpid(child, 0)[1] == 0"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, timeout=60)


def test_settings_decided_by_training_cannot_be_changed():
    with pytest.raises(ValueError, match="has learned its transport"):
        Aligner.load(distortion=0.5)


def test_the_command_line_uses_it(command_server, tmp_path):
    """Without torch, and without settings from the environment."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OTALIGN")}

    def printed(*arguments: str) -> str:
        command = [sys.executable, "-m", "otalign", *arguments]
        done = command_server.run(command, cwd=tmp_path, env=environment, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert printed("align", "It rains.", "It is raining!", "--format", "pharaoh").startswith("0-0 1-2")
    listed = printed("models")
    assert listed.startswith("small: ")
    assert f"mean {100 * Measurements.read(SMALL).mean:.1f}" in listed
    assert printed("models", "small") == (SMALL / CARD).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["encoder.onnx", "head.safetensors", "otalign.json", "tokenizer.json"])
def test_a_file_that_was_changed_is_refused(name, tmp_path, monkeypatch):
    folder = Path(shutil.copytree(SMALL, tmp_path / "small"))
    monkeypatch.setattr("otalign.models.installed.HOME", tmp_path)
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / name).write_bytes(content)
    for model in (None, "small", folder):
        with pytest.raises(ValueError, match=rf"{name} is not the file that otalign was released with"):
            Aligner.load(model)
    (folder / name).unlink()
    with pytest.raises(ValueError, match=rf"{name} is not the file that otalign was released with"):
        models.check_digests(folder)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("", "model must be a name or a folder, got ''"),
        ("empty", "there is no model in empty: no otalign.json, encoder.onnx or config.json"),
        ("pairs.tsv", "pairs.tsv is a file; give the folder of a model, or its name"),
        ("no/such/folder", "there is no folder no/such/folder, and no model on the"),
        ("empty/none/", "there is no folder empty/none/, and"),
    ],
)
def test_what_cannot_be_a_model_is_refused_before_torch_is_needed(model, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "pairs.tsv").write_text("a\tb\n")
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ValueError, match=re.escape(message)):
        Aligner.load(model)
