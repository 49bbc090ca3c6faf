"""Distillation: predictions of teachers, their mix with the gold, and valid teachers."""

import json
from dataclasses import fields, replace
from typing import get_args

import numpy as np
import pytest

from otalign import cli
from otalign.aligner import Aligner
from otalign.alignment import Level
from otalign.cli.train import train as command
from otalign.gold import Gold
from otalign.ot import Balanced, Partial, Unbalanced
from otalign.scoring.heads import TransportHead
from otalign.settings import Learned
from otalign.training import (
    NO_AUGMENTATION,
    Augmentation,
    Checkpoint,
    CorpusSplits,
    Distillation,
    PairTexts,
    Recipe,
    RunOptions,
    predict_targets,
    refit,
    train,
)
from otalign.training.batches import TrainingBatch
from otalign.training.predictions import predict_part
from otalign.training.store import LEVELS, Targets
from tests.training.examples import EMPTY, GOLDS, LONG, SOURCES, SURE
from tests.training.test_batches import WITH_ODD_ONES, load_encoder, make_stream, read_batch
from tests.training.tiny_runs import QUICK, QUICK_PAPER, drop_seconds, get_weights, train_tiny

PAIRS = [(gold.source, gold.target) for gold in GOLDS]
ALL = np.arange(len(GOLDS))
KNOWN = np.ones((len(GOLDS), len(LEVELS)), dtype=bool)
KNOWN[:5, 0] = False  # as MTRef's train set has it
WRONG = [Gold(gold.source, gold.target, frozenset({(0, gold.shape[1] - 1)})) for gold in GOLDS]


@pytest.fixture(scope="module")
def encoder(tiny_model):
    return load_encoder(tiny_model("bert"))


@pytest.fixture(scope="module")
def teacher(trained_aligners) -> Aligner:
    return trained_aligners.get_result("learned").aligner


@pytest.fixture(scope="module")
def other_teacher(tiny_model) -> Aligner:
    return train_tiny(tiny_model("mpnet"), recipe=QUICK.replace(epochs=2, seed=2)).aligner


@pytest.fixture(scope="module")
def folder(trained_aligners):
    return trained_aligners.get_folder("learned")


def predict_dense(teacher: Aligner, golds, **options) -> list[np.ndarray]:
    """Return the dense predictions of one teacher."""
    texts = PairTexts.build((gold.source, gold.target) for gold in golds)
    found = predict_targets([teacher], texts, **options)
    return [found.expand(k, gold.shape) for k, gold in enumerate(golds)]


def make_dense(golds: list[Gold]) -> list[np.ndarray]:
    """Return the targets of a teacher that knows the gold."""
    made = [np.zeros((len(LEVELS), *gold.shape), dtype=np.float32) for gold in golds]
    for one, gold in zip(made, golds, strict=True):
        for level, name in enumerate(LEVELS):
            for pair in gold.pairs(name):
                one[level, *pair] = 1
    return made


def draw_targets(golds: list[Gold], seed: int = 0) -> list[np.ndarray]:
    random = np.random.default_rng(seed)
    return [random.random((len(LEVELS), *gold.shape)).astype(np.float32) for gold in golds]


def same(one: TrainingBatch, other: TrainingBatch) -> None:
    for field in fields(TrainingBatch):
        expected, found = getattr(one, field.name), getattr(other, field.name)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def batch(golds, encoder, targets=None, share: float = 0.0, known=None) -> TrainingBatch:
    return read_batch(make_stream(golds, encoder, known, targets and Targets.build(targets), share))


# The mix


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 1.0])
def test_a_teacher_that_says_exactly_the_gold_changes_nothing(encoder, share):
    plain = batch(WITH_ODD_ONES, encoder)
    same(plain, batch(WITH_ODD_ONES, encoder, make_dense(WITH_ODD_ONES), share))


def test_a_teacher_without_a_share_changes_nothing_not_even_where_nothing_is_known(encoder):
    """There its predictions have no weight."""
    plain = batch(GOLDS, encoder, known=KNOWN)
    taught = batch(GOLDS, encoder, draw_targets(GOLDS), 0.0, KNOWN)
    known = KNOWN[plain.pairs].T
    np.testing.assert_array_equal(taught.known, plain.known)
    np.testing.assert_array_equal(taught.links[known], plain.links[known])


def test_what_is_learned_is_the_mix_of_the_gold_and_of_what_the_teacher_says(encoder):
    targets = draw_targets(GOLDS)
    made = batch(GOLDS, encoder, targets, 0.3)
    assert (made.links.dtype, made.known.dtype) == (np.float16, np.float32)
    np.testing.assert_array_equal(made.known, 1)
    for b, k in enumerate(made.pairs):
        n, m = GOLDS[k].shape
        expected = 0.7 * make_dense(GOLDS)[k] + 0.3 * targets[k]
        np.testing.assert_allclose(made.links[:, b, :n, :m], expected, atol=1e-3)
        assert not made.links[:, b, n:].any()
        assert not made.links[:, b, :, m:].any()


def test_a_teacher_that_has_the_whole_share_is_all_that_counts(encoder):
    targets = draw_targets(GOLDS)
    one, other = (batch(golds, encoder, targets, 1.0) for golds in (GOLDS, WRONG))
    same(one, other)
    for b, k in enumerate(one.pairs):
        _, n, m = targets[k].shape
        np.testing.assert_allclose(one.links[:, b, :n, :m], targets[k], atol=1e-3)


def test_a_level_that_is_not_known_is_filled_by_the_teacher_and_counts_its_share(encoder):
    targets = draw_targets(GOLDS)
    made = batch(GOLDS, encoder, targets, 0.25, KNOWN)
    np.testing.assert_array_equal(made.known, np.where(KNOWN[made.pairs].T, 1, 0.25))
    for b, k in enumerate(made.pairs):
        n, m = GOLDS[k].shape
        mixed = 0.75 * make_dense(GOLDS)[k] + 0.25 * targets[k]
        expected = [mixed[0] if KNOWN[k, 0] else targets[k][0], mixed[1]]
        np.testing.assert_allclose(made.links[:, b, :n, :m], expected, atol=1e-3)


# Predictions of a teacher


def test_a_teacher_says_the_probabilities_of_its_links_at_both_levels(teacher):
    """The same as in its alignments, if every cell were a link."""
    reported = []
    targets = predict_dense(teacher, WITH_ODD_ONES, progress=lambda *one: reported.append(one))
    assert [one.shape for one in targets] == [(2, *gold.shape) for gold in WITH_ODD_ONES]
    assert reported[-1] == ("teachers", len(WITH_ODD_ONES), len(WITH_ODD_ONES))
    for level, links in enumerate(get_args(Level)):
        every = replace(teacher, settings=teacher.settings.replace(links=links, threshold=0.0))
        alignments = every.align_many((gold.source, gold.target) for gold in WITH_ODD_ONES)
        for one, alignment in zip(targets, alignments, strict=True):
            found = np.zeros(alignment.shape)
            for link in alignment.links:
                found[link.source, link.target] = link.weight
            np.testing.assert_allclose(one[level], found, atol=0.011)  # small ones are left out


def test_a_teacher_says_the_same_in_any_number_of_chunks(teacher, monkeypatch):
    whole, reported = predict_dense(teacher, WITH_ODD_ONES), []
    monkeypatch.setattr("otalign.encoders.chunks.CHUNK_PAIRS", 3)
    monkeypatch.setattr("otalign.training.predictions.CHUNK", 5)
    parts = predict_dense(teacher, WITH_ODD_ONES, progress=lambda _, done, of: reported.append((done, of)))
    assert len(reported) > 2
    assert reported == sorted(reported)
    assert reported[-1] == (len(WITH_ODD_ONES), len(WITH_ODD_ONES))
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one, other, atol=0.011)


def test_an_exported_teacher_says_the_same(teacher, trained_aligners):
    light = predict_dense(Aligner.load(trained_aligners.get_exported("learned")), [*GOLDS, LONG])
    for one, other in zip(predict_dense(teacher, [*GOLDS, LONG]), light, strict=True):
        np.testing.assert_allclose(one, other, atol=0.015)


def test_of_several_teachers_the_mean_is_learned(teacher, other_teacher):
    texts = PairTexts.build(PAIRS)
    one, other, both = (
        predict_targets(of, texts) for of in ([teacher], [other_teacher], [teacher, other_teacher])
    )
    for k, gold in enumerate(GOLDS):
        mean = (one.expand(k, gold.shape) + other.expand(k, gold.shape)) / 2
        np.testing.assert_allclose(both.expand(k, gold.shape), mean, atol=0.012)


def test_workers_change_nothing_in_what_is_predicted(teacher):
    alone, helped = (predict_dense(teacher, GOLDS, workers=workers) for workers in (0, 1))
    for one, other in zip(alone, helped, strict=True):
        np.testing.assert_allclose(one, other, atol=0.011)


def test_predictions_are_kept_and_only_what_is_missing_is_predicted(
    teacher, other_teacher, tmp_path, monkeypatch
):
    monkeypatch.setattr("otalign.training.predictions.CHUNK", 5)
    first = predict_dense(teacher, GOLDS[:12], folder=tmp_path)
    files = sorted(tmp_path.iterdir())
    assert len(files) == 3
    files[1].unlink()  # as if it had been interrupted there
    asked = []
    real = Aligner.embed

    def embed(self, pairs, workers=0):
        asked.extend(pairs := list(pairs))
        return real(self, pairs, workers)

    monkeypatch.setattr(Aligner, "embed", embed)
    reported = []
    again = predict_dense(
        teacher, GOLDS[:12], folder=tmp_path, progress=lambda *one: reported.append(one[1:])
    )
    assert len(asked) in (2, 5)
    assert reported[0] == (12 - len(asked), 12)
    assert reported[-1] == (12, 12)
    for one, other in zip(first, again, strict=True):
        np.testing.assert_allclose(one, other, atol=0.011)
    asked.clear()
    predict_dense(other_teacher, GOLDS[:12], folder=tmp_path)
    assert len(asked) == 12


def test_parts_that_are_predicted_separately_make_the_whole(teacher, tmp_path, monkeypatch):
    monkeypatch.setattr("otalign.training.predictions.CHUNK", 5)
    texts = PairTexts.build((gold.source, gold.target) for gold in GOLDS[:12])
    for part, files in ((2, 1), (1, 3), (1, 3)):
        predict_part([teacher], texts, tmp_path, (part, 2))
        assert len(list(tmp_path.iterdir())) == files
    whole = predict_dense(teacher, GOLDS[:12])
    monkeypatch.setattr(Aligner, "embed", None)  # nothing is left to predict
    for one, other in zip(whole, predict_dense(teacher, GOLDS[:12], folder=tmp_path), strict=True):
        np.testing.assert_allclose(one, other, atol=0.011)


# Training


def likeness(one: Aligner, other: Aligner) -> float:
    """Return the share of the links of either that are links of both."""
    these, those = (
        {(k, *pair) for k, found in enumerate(aligner.align_many(PAIRS)) for pair in found.pairs}
        for aligner in (one, other)
    )
    return len(these & those) / len(these | those)


def test_a_student_of_a_teacher_alone_follows_it_whatever_the_gold(tiny_model, teacher):
    """The gold of the train set is wrong, and that of the dev set is right."""
    sources = {"wrong": CorpusSplits(WRONG, GOLDS)}
    led = train_tiny(
        tiny_model("mpnet"),
        recipe=QUICK.replace(teaching=1.0),
        sources=sources,
        distillation=Distillation([teacher]),
    )
    misled = train_tiny(tiny_model("mpnet"), sources=sources)
    follows, misleads = (likeness(teacher, one.aligner) for one in (led, misled))
    assert follows > 0.8  # 0.96
    assert misleads < 0.5  # 0.32: the best of its epochs by gold that is right


def test_a_student_with_a_teacher_that_has_no_share_is_the_one_without(tiny_model, teacher):
    recipe = QUICK.replace(epochs=2, teaching=0.0)
    alone, taught = (
        train_tiny(tiny_model("bert"), recipe=recipe, distillation=Distillation(one))
        for one in ([], [teacher])
    )
    assert drop_seconds(alone.epochs) == drop_seconds(taught.epochs)
    expected, found = get_weights(alone), get_weights(taught)
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name])


def test_a_distilled_aligner_names_its_teachers_also_if_refitted(tiny_model, teacher):
    recipe, reported = QUICK.replace(epochs=1), []
    taught = Distillation([teacher])
    out = train_tiny(
        tiny_model("bert"), recipe=recipe, distillation=taught, progress=lambda *one: reported.append(one)
    )
    name = teacher.settings.encoder
    assert out.aligner.settings.trained == f"examples, seed 1, taught by {name}"
    assert reported[1] == ("teachers", len(GOLDS), len(GOLDS))
    reported.clear()
    again = refit(
        str(tiny_model("bert")),
        SOURCES,
        out,
        distillation=taught,
        options=RunOptions(device="cpu", progress=lambda *one: reported.append(one)),
    )
    assert reported[1] == ("teachers", 2 * len(GOLDS), 2 * len(GOLDS))
    assert again.aligner.settings.trained == f"examples, seed 1, taught by {name}, dev sets too"
    assert isinstance(again.aligner.head, TransportHead)


def test_pairs_without_words_can_be_distilled(tiny_model, teacher):
    sources = {"odd": CorpusSplits([*GOLDS[:4], *EMPTY], GOLDS)}
    out = train_tiny(
        tiny_model("bert"),
        recipe=QUICK.replace(epochs=1),
        sources=sources,
        distillation=Distillation([teacher]),
    )
    assert np.isfinite(out.epochs[0].loss)


def test_unlabelled_pairs_are_learned_from_the_teachers(tiny_model, teacher, other_teacher):
    """If the gold is wrong, the student follows the predictions of the teachers for other pairs."""
    sources = {"wrong": CorpusSplits(WRONG[:2], GOLDS)}
    recipe = QUICK.replace(unlabelled_weight=1.0)
    taught = Distillation([teacher], PAIRS)
    out = train_tiny(tiny_model("mpnet"), recipe=recipe, sources=sources, distillation=taught)
    assert likeness(teacher, out.aligner) > 0.6
    both = Distillation([teacher, other_teacher, teacher], PAIRS)
    named = train_tiny(
        tiny_model("mpnet"), recipe=QUICK.replace(epochs=1), sources=sources, distillation=both
    )
    names = f"{teacher.settings.encoder} × 2, {other_teacher.settings.encoder}"
    assert named.aligner.settings.trained == f"wrong, seed 1, taught by {names}"


def test_unlabelled_pairs_need_a_teacher():
    with pytest.raises(ValueError, match="unlabelled pairs are learned from a teacher; give at least one"):
        train("no-such/encoder", SOURCES, Learned(), QUICK, distillation=Distillation([], PAIRS))


@pytest.fixture(scope="module")
def augmented(tiny_model, teacher, tmp_path_factory):
    """The options of a run with augmentation and a teacher, and its result."""
    predictions = tmp_path_factory.mktemp("predictions")
    options = {
        "recipe": QUICK.replace(epochs=2, augmentation=Augmentation()),
        "distillation": Distillation([teacher], PAIRS, predictions),
    }
    return options, train_tiny(tiny_model("bert"), **options)


@pytest.mark.parametrize("workers", [0, 2])
def test_an_augmented_run_that_was_interrupted_and_continued_ends_like_one_that_was_not(
    tiny_model, teacher, tmp_path, augmented, workers
):
    options, whole = augmented

    def stop(epoch):
        raise InterruptedError

    options = options | {"checkpoint": Checkpoint(tmp_path / "run.pt"), "workers": workers}
    with pytest.raises(InterruptedError):
        train_tiny(tiny_model("bert"), **options, on_epoch=stop)
    out = train_tiny(tiny_model("bert"), **options)
    assert [epoch.loss for epoch in out.epochs] == pytest.approx([epoch.loss for epoch in whole.epochs])
    for name, array in get_weights(whole).items():
        np.testing.assert_allclose(get_weights(out)[name], array, atol=1e-6)
    options["distillation"] = Distillation([teacher], PAIRS[1:], options["distillation"].folder)
    with pytest.raises(ValueError, match=r"other settings \(encoder, .*\); use the same inputs"):
        train_tiny(tiny_model("bert"), **options)


# Valid teachers


@pytest.mark.parametrize("problem", [Balanced(), Partial(0.8), Unbalanced(0.5)], ids=repr)
def test_only_a_learned_transport_can_be_distilled(teacher, problem):
    """The check comes first: the encoder need not exist."""
    with pytest.raises(ValueError, match=r"problem must be Learned\(\) to learn from a teacher, got"):
        train("no-such/encoder", SOURCES, problem, QUICK_PAPER, distillation=Distillation([teacher]))


def test_one_level_alone_cannot_be_distilled(teacher):
    with pytest.raises(ValueError, match="level must be left out with a teacher, which predicts both levels"):
        train(
            "no-such/encoder", SOURCES, Learned(), QUICK, distillation=Distillation([teacher]), level="sure"
        )


def test_only_a_learned_transport_can_teach(tiny_model, tmp_path):
    plain = Aligner.load(tiny_model("bert"), layer=2, device="cpu")
    paper = train_tiny(tiny_model("bert"), Unbalanced(0.5), QUICK_PAPER.replace(epochs=1)).aligner
    learned = train_tiny(tiny_model("bert"), recipe=QUICK.replace(epochs=1))
    for teacher in (plain, paper):
        with pytest.raises(
            ValueError, match="teacher must be an aligner that has learned its transport, got"
        ):
            train("no-such/encoder", SOURCES, Learned(), QUICK, distillation=Distillation([teacher]))
        with pytest.raises(
            ValueError, match="teacher must be an aligner that has learned its transport, got"
        ):
            refit("no-such/encoder", SOURCES, learned, distillation=Distillation([teacher]))


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_is_from_0_to_1(share):
    with pytest.raises(ValueError, match="teaching must be from 0 to 1, got"):
        Recipe(teaching=share)


# The command


@pytest.fixture
def files(tmp_path):
    for name, golds in (("train", SURE), ("dev", GOLDS)):
        lines = "".join(json.dumps(gold.to_dict()) + "\n" for gold in golds)
        (tmp_path / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return tmp_path


def test_the_command_trains_with_teachers(files, tiny_model, teacher, folder, tmp_path, monkeypatch):
    arguments = [
        "otalign",
        "train",
        "train.jsonl",
        "--dev",
        "dev.jsonl",
        "--from",
        "jsonl",
        "--device",
        "cpu",
    ]
    arguments += ["--encoder", str(tiny_model("bert")), "--epochs", "1", "--refit", "-o", "out"]
    arguments += ["--teacher", str(folder), "--teacher", str(folder), "--teaching", "0.75"]
    lines = "".join(f"{' '.join(source)}\t{' '.join(target)}\n" for source, target in PAIRS)
    (files / "more.tsv").write_text("\t\n" + lines, encoding="utf-8")
    arguments += ["--unlabelled", "more.tsv", "--unlabelled-limit", "12", "--predictions", "kept"]
    arguments += ["--augment", "all=0", "--augment", "typos=0.5", "--workers", "1", "--gold-share", "0.6"]
    monkeypatch.chdir(files)
    monkeypatch.setattr("sys.argv", arguments)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 0
    record = json.loads((tmp_path / "out" / "training.json").read_text())
    assert record["teachers"] == [teacher.signature] * 2
    assert record["unlabelled"] == 12
    assert record["recipe"]["teaching"] == 0.75
    assert record["recipe"]["gold_share"] == 0.6
    assert record["recipe"]["augmentation"] == NO_AUGMENTATION.to_dict() | {"typos": 0.5}
    assert len(list((tmp_path / "kept").glob("*.npz"))) == 2  # those of the refit, with the dev set, too
    made = Aligner.load(tmp_path / "out", device="cpu")
    taught = f"train, seed 1, taught by {teacher.settings.encoder} × 2, dev sets too"
    assert made.settings.trained == taught
    assert taught in made.signature


def test_the_command_refuses_teachers_before_it_starts(files, tiny_model, folder, tmp_path):
    Aligner.load(tiny_model("bert"), layer=2, device="cpu").save(tmp_path / "plain")
    given = {"dev": [files / "dev.jsonl"], "format": "jsonl", "device": "cpu", "encoder": "no-such/encoder"}
    for more, message in (
        ({"teacher": [tmp_path / "plain"]}, "teacher must be an aligner that has learned its transport"),
        ({"teacher": [tiny_model("bert")]}, "--teacher must be the folder of a trained aligner, or"),
        ({"teacher": [folder], "problem": "uot"}, r"problem must be Learned\(\) to learn from a teacher"),
        ({"unlabelled": [files / "train.jsonl"]}, "--unlabelled needs a teacher to learn from"),
        ({"augment": ["typo=1"]}, "--augment must name one of exchange, typos"),
        ({"augment": ["typos=much"]}, "--augment must be KIND=SHARE such as typos=0.1, got 'typos=much'"),
        ({"augment": ["typos=2"]}, "the augmentation share of typos must be from 0 to 1, got 2"),
        ({"teacher": [folder], "predict": "3/2"}, "--predict must be K/N such as 1/5, with K from 1 to N"),
        ({"teacher": [folder], "predict": "1/2"}, "--predict needs --predictions, the folder that keeps"),
        ({"teaching": 0.5}, "--teaching needs a teacher to learn from; give --teacher too"),
    ):
        with pytest.raises(ValueError, match=message):
            command(corpora=[str(files / "train.jsonl")], output=tmp_path / "out", **given, **more)
        assert not (tmp_path / "out").exists()
