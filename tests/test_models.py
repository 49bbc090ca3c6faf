"""The aligner that comes with the package: the file that was measured, and what it says of sentences."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from otalign import Aligner, models
from otalign.models import CARD, Measured, digests

CARDS = {name: (models.folder(name) / CARD).read_text(encoding="utf-8") for name in models.names()}


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    return Aligner.load()


def said(aligner: Aligner, source: str, target: str) -> set[str]:
    """The links as words, and ∅ for what has none."""
    found = aligner.align(source, target)
    links = {f"{found.source[i]}–{found.target[j]}" for i, j, _ in found.links}
    links |= {f"{found.source[i]}–∅" for i in found.source_nulls}
    return links | {f"∅–{found.target[j]}" for j in found.target_nulls}


@pytest.mark.parametrize("name", models.names())
def test_the_files_are_those_that_were_measured(name):
    folder = models.folder(name)
    assert Measured.read(folder).digests == digests(folder)


@pytest.mark.parametrize("name", models.names())
def test_the_card_tells_what_was_measured(name):
    measured = Measured.read(models.folder(name))
    assert f"**{100 * measured.mean:.1f}**" in CARDS[name]
    for corpus in dict.fromkeys(column.split()[0] for column in measured.f1):
        levels = [measured.f1.get(f"{corpus} {level}") for level in ("sure", "possible")]
        row = " / ".join(f"{100 * f1:.1f}" for f1 in levels if f1 is not None)
        assert f"| {row} |" in CARDS[name], corpus


def test_the_package_stays_small():
    files = [file for name in models.names() for file in models.folder(name).iterdir()]
    assert sum(file.stat().st_size for file in files) <= 25e6


def test_a_phrase_has_one_counterpart_and_words_without_any_have_none(aligner):
    found = said(aligner, "She gave up smoking last year.", "Last year she quit smoking for good.")
    assert {"gave–quit", "up–quit", "last–Last", "year–year", "∅–for", "∅–good"} <= found


def test_what_only_one_side_says_is_null(aligner):
    found = said(aligner, "The minister resigned.", "The minister resigned after weeks of protests.")
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
    pair = "He bought a used car.", "He purchased a second-hand car yesterday."
    sure, possible = (Aligner.load(links=links).align(*pair) for links in ("sure", "possible"))
    assert sure.pairs < possible.pairs
    assert sure.pairs == aligner.align(*pair).pairs


def test_it_is_found_by_its_name_too(aligner):
    assert Aligner.load("small").signature == aligner.signature
    with pytest.raises(ValueError, match="choose one of small"):
        models.folder("large")


def test_what_its_training_has_decided_cannot_be_asked_of_it():
    with pytest.raises(ValueError, match="it has learned its transport"):
        Aligner.load(distortion=0.5)


def test_the_command_line_uses_it(tmp_path):
    """Without torch, and without anything that was said in the environment."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OTALIGN")}

    def printed(*arguments: str) -> str:
        command = [sys.executable, "-m", "otalign", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert printed("align", "It rains.", "It is raining!", "--format", "pharaoh").startswith("0-0 1-2")
    listed = printed("models")
    assert "small: " in listed
    assert f"mean {100 * Measured.read(models.folder('small')).mean:.1f}" in listed
    assert printed("models", "small") == CARDS["small"]


@pytest.mark.parametrize("name", ["encoder.onnx", "head.safetensors", "otalign.json", "tokenizer.json"])
def test_a_file_that_was_changed_is_refused(name, tmp_path, monkeypatch):
    folder = Path(shutil.copytree(models.folder("small"), tmp_path / "small"))
    monkeypatch.setattr(models, "HOME", tmp_path)
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / name).write_bytes(content)
    for model in (None, "small", folder):
        with pytest.raises(ValueError, match=rf"{name} is not the file that otalign was released with"):
            Aligner.load(model)
    (folder / name).unlink()
    with pytest.raises(ValueError, match=rf"{name} is not the file that otalign was released with"):
        models.check_digests(folder)
