"""`otalign tune` as a user runs it, with a tiny encoder."""

import json
import subprocess
import sys
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from otalign.gold import Gold
from otalign.io import write

pytest.importorskip("torch")

from otalign import Aligner, cli, encoders
from otalign.metrics import compute_scores, count
from otalign.problems import PROBLEMS
from otalign.scoring.heads import ProjectionHead, TransportHead
from otalign.settings import Cost
from otalign.text.words import join_words
from otalign.tuning import EmbeddingStore, EncoderChoice
from otalign.tuning.sweep import DevCorpus

WORDS = ["he", "she", "bought", "sold", "a", "used", "car", "house", "yesterday", "big", "old", "the"]
LAYERS = 3


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("models") / "tiny"
    vocabulary = {word: k for k, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=LAYERS,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def golds():
    rng = np.random.default_rng(0)
    golds = []
    for _ in range(30):
        source = rng.choice(WORDS, size=rng.integers(2, 8), replace=False).tolist()
        target = rng.permutation([*source[1:], "the"]).tolist()
        golds.append(
            Gold(source, target, {(i, target.index(word)) for i, word in enumerate(source) if word in target})
        )
    return golds


@pytest.fixture
def run(monkeypatch, tmp_path, golds, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OTALIGN_DATA", raising=False)
    write(golds, tmp_path / "dev.tsv", "multimwa")

    def run(*arguments, command: str = "tune", rc: int = 0) -> str:
        monkeypatch.setattr("sys.argv", ["otalign", command, *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        captured = capsys.readouterr()
        assert stop.value.code == rc, captured.err
        return captured.err if rc else captured.out

    return run


@pytest.fixture
def corpora(run, monkeypatch, tmp_path, golds):
    """Two small corpora by name; three dev pairs of Wiki, and none of MTRef, are in the train set."""
    vague = [
        Gold(gold.source, gold.target, frozenset(sorted(gold.sure)[1:]), frozenset(sorted(gold.sure)[:1]))
        for gold in golds
    ]
    for name, train, dev in (("Wiki", golds[:10], golds[7:18]), ("MTRef", golds[18:24], vague[24:])):
        folder = tmp_path / "multimwa" / f"MultiMWA-{name}"
        folder.mkdir(parents=True)
        for split, pairs in (("train", train), ("dev", dev)):
            write(pairs, folder / f"{name.lower()}-{split}.tsv", "multimwa")
    monkeypatch.setenv("OTALIGN_DATA", str(tmp_path))
    return ("wiki", "mtref")


def test_layers_of_one_run_are_those_of_an_encoder_at_each(model, golds):
    pairs = [(join_words(gold.source), join_words(gold.target)) for gold in golds]
    assert encoders.list_layers(model) == range(LAYERS + 1)
    for pairing in ("joint", "separate"):
        found = encoders.load(model, LAYERS).embed_layers(pairs, pairing, [0, 2, LAYERS])
        assert list(found) == [0, 2, LAYERS]
        for layer, embeddings in found.items():
            alone = encoders.load(model, layer).embed(pairs, pairing)
            np.testing.assert_array_equal(embeddings.vectors, alone.vectors)
    with pytest.raises(ValueError, match="layer must be from 0 to 1, the last layer of tiny in use, got 2"):
        encoders.load(model, 1).embed_layers(pairs, "joint", [2])


def test_it_saves_an_aligner_that_reaches_what_it_says(run, model, golds, tmp_path):
    several = ("--layers", "all", "--pairings", "joint,separate", "--problem", "bot")
    output = run("dev.tsv", "-o", "mine", "--model", model, *several)
    aligner = Aligner.load(tmp_path / "mine")
    assert aligner.centre is not None
    assert aligner.signature in output
    assert not (tmp_path / "mine" / ".tuning").exists()
    found = compute_scores(
        count(aligner.align_many((gold.source, gold.target) for gold in golds), golds), ["f1"]
    )
    assert f"F1 {100 * found['f1']:.1f} " in output
    assert "on 30 dev pairs, level sure" in output


def test_an_interrupted_run_continues(run, model, monkeypatch, tmp_path):
    options = ("dev.tsv", "--model", model, "--layers", "1,2", "--problem", "none")
    whole = run(*options, "-o", "whole")
    curves = DevCorpus.compute_curves
    solved = []

    def failing(*given):
        if len(solved) == 9:
            raise ValueError("the lights went out")
        solved.append(given)
        return curves(*given)

    monkeypatch.setattr(DevCorpus, "compute_curves", failing)
    assert run(*options, "-o", "parts", rc=2) == "otalign: the lights went out\n"
    left = tmp_path / "parts" / ".tuning"
    assert len((left / "rows.jsonl").read_text().splitlines()) == 9
    assert len(list((left / "embeddings").iterdir())) == 2
    monkeypatch.setattr(DevCorpus, "compute_curves", curves)
    monkeypatch.setattr(EmbeddingStore, "_make", None)  # embeddings are not made again
    assert run(*options, "-o", "parts").replace("parts", "whole") == whole
    one, other = (json.loads((tmp_path / name / "otalign.json").read_text()) for name in ("whole", "parts"))
    assert one == other


def test_a_threshold_on_costs_alone_can_be_tuned(run, model, tmp_path):
    output = run("dev.tsv", "-o", "mine", "--model", model, "--problem", "none", "--limit", 10)
    assert "on 10 dev pairs, level sure, 11 settings tried" in output
    assert Aligner.load(tmp_path / "mine").settings.problem is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nope.tsv", "-o", "x"), "there is no file or corpus nope.tsv; the corpora are msr-rte"),
        (("newsela", "-o", "x"), "newsela has no dev set; take one that has: msr-rte"),
        (("empty.tsv", "-o", "x"), "empty.tsv holds no link to tune on"),
        (("plain.tsv", "-o", "x", "--from", "tsv"), "must hold words and links"),
        (
            ("dev.tsv", "same.tsv", "dev.tsv", "-o", "x"),
            "settings are searched on one dev set, got 2: dev.tsv, same.tsv; give one, or a trained",
        ),
        (("dev.tsv", "-o", "full"), "full already exists and is not empty; give a new folder"),
        (("dev.tsv", "-o", "dev.tsv"), "dev.tsv is a file; give a new folder"),
        (("dev.tsv", "-o", "dev.tsv/x"), "cannot write into dev.tsv/x: Not a directory"),
        (("dev.tsv", "-o", "x", "--level", "p"), "--level must be one of sure, possible"),
        (("dev.tsv", "-o", "x", "--hysteresis", "0.2"), "--hysteresis must be two numbers with a comma"),
        (("dev.tsv", "-o", "x", "--hysteresis", "0.2,1"), "possible_hysteresis must be less than 1, got 1.0"),
        (("dev.tsv", "-o", "x", "--hysteresis", "0.2,0"), "--hysteresis applies only to a trained aligner"),
        (("dev.tsv", "-o", "x", "--layers", "1,b"), "--layers must be all, or numbers with commas"),
        (("dev.tsv", "-o", "x", "--layers", "9"), "--layers must be from 0 to 3"),
        (("dev.tsv", "-o", "x", "--layers", "-1,2"), "--layers must be all, or numbers"),
        (
            ("dev.tsv", "-o", "x", "--costs", "cosine,xyz"),
            f"--costs must be among {', '.join(get_args(Cost))}, with commas between, got 'xyz'",
        ),
        (
            ("dev.tsv", "-o", "x", "--problem", "xyz"),
            f"problem must be one of {', '.join(PROBLEMS)}, got 'xyz'",
        ),
    ],
)
def test_what_cannot_be_done_is_a_clear_error(run, model, tmp_path, arguments, message):
    (tmp_path / "empty.tsv").write_text("")
    (tmp_path / "same.tsv").write_bytes((tmp_path / "dev.tsv").read_bytes())
    (tmp_path / "plain.tsv").write_text("he sold it\the bought it\n")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "something").touch()
    assert message in run(*arguments, "--model", model, rc=2)
    assert not (tmp_path / "x").exists()


def test_it_explains_itself_with_an_example(run):
    assert "otalign tune mtref" in " ".join(run("--help").split())


def test_the_mean_that_is_kept_is_that_of_the_dev_set(run, model, golds, tmp_path):
    run("dev.tsv", "-o", "mine", "--model", model, "--problem", "bot")
    encoder = encoders.load(model)
    pairs = [(gold.source, gold.target) for gold in golds]
    embeddings = EmbeddingStore(encoder, pairs, [EncoderChoice(encoder.layer)], tmp_path / "store")[
        EncoderChoice(encoder.layer)
    ]
    np.testing.assert_allclose(np.load(tmp_path / "mine" / "mean.npy"), embeddings.vectors.mean(0), atol=1e-6)


def test_what_was_trained_is_not_tuned_as_if_it_were_not(run, model, tmp_path):
    head = ProjectionHead.initialize(16, np.random.default_rng(0))
    replace(Aligner.load(model, layer=LAYERS), head=head).save(tmp_path / "trained")
    output = run("dev.tsv", "-o", "mine", "--model", "trained", rc=2)
    assert "trained has been trained, its threshold too" in " ".join(output.split())


def test_calibrating_again_on_the_corpora_of_the_training_changes_nothing(run, model, corpora, tmp_path):
    quick = ("--epochs", 2, "--batch-size", 4, "--device", "cpu")
    trained = run(*corpora, "--encoder", model, *quick, "-o", "trained", command="train")
    tuned = run(*corpora, "--model", "trained", "--device", "cpu", "-o", "tuned")
    pairs, scores = tuned.splitlines()[:2], tuned.splitlines()[2:-1]
    assert pairs == [
        "wiki: calibrated on 8 dev pairs; 3 left out that share a sentence with the train set",
        "mtref: calibrated on 6 dev pairs",
    ]
    assert scores == trained.splitlines()[:-1]
    before, after = (Aligner.load(tmp_path / name) for name in ("trained", "tuned"))
    assert after.settings == before.settings
    assert isinstance(before.head, TransportHead)
    assert isinstance(after.head, TransportHead)
    assert np.ptp(before.head.calibration) > 0
    for name, array in before.head.arrays().items():
        np.testing.assert_array_equal(after.head.arrays()[name], array, name)


def test_corpora_and_files_calibrate_an_exported_aligner_without_torch(run, corpora):
    command = ["otalign", "tune", "wiki", "dev.tsv", "wiki", "--model", "small", "--limit", "9", "-o", "mine"]
    tune = f"import sys; sys.exit = print; sys.argv = {command}; from otalign.__main__ import main; main()"
    code = f"{tune}; print('torch' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    wiki, file, *scores, with_torch = printed.splitlines()
    assert wiki == "wiki: calibrated on 6 dev pairs; 3 left out that share a sentence with the train set"
    assert file == "dev.tsv: calibrated on 9 dev pairs"
    assert [line.partition("   ")[0] for line in scores if " F1 " in line] == [
        "wiki dev sure",
        "dev.tsv dev sure",
    ]
    assert with_torch == "False"


def test_corpora_that_an_aligner_was_not_trained_on_are_used_whole(run, corpora, tmp_path):
    aligner = Aligner.load("small")
    replace(aligner, settings=aligner.settings.replace(trained="mtref, seed 1")).save(tmp_path / "other")
    output = run("wiki", "--model", "other", "-o", "mine")
    assert output.startswith("wiki: calibrated on 11 dev pairs\n")


def test_a_hysteresis_may_be_given(run, tmp_path):
    run("dev.tsv", "--model", "small", "--hysteresis", "0.45,0.1", "-o", "mine")
    problem = Aligner.load(tmp_path / "mine").settings.problem
    assert (problem.sure_hysteresis, problem.possible_hysteresis) == (0.45, 0.1)
