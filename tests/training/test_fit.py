"""Validation before training, and the trained aligner: saving, continuing and exporting."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from otalign import encoders
from otalign.aligner import Aligner
from otalign.alignment import LEVELS, Level
from otalign.cli.export import export
from otalign.encoders.onnx import Onnx
from otalign.gold import Gold
from otalign.metrics import compute_scores, count
from otalign.ot import Partial, Unbalanced
from otalign.scoring.heads import ProjectionHead, TransportHead
from otalign.settings import Learned, LearnedSettings, Settings
from otalign.training import CorpusSplits, Recipe, RunOptions, TrainingResult, refit, train
from tests.scoring.random_heads import make_projection_head, make_transport_head
from tests.training.examples import EMPTY, GOLDS, LONG, SOURCES, SURE
from tests.training.tiny_runs import PROBLEMS, QUICK, QUICK_PAPER, get_weights, train_tiny

PAIRS = [(gold.source, gold.target) for gold in [*GOLDS, *EMPTY, LONG]]


@pytest.fixture(params=PROBLEMS)
def problem_name(request) -> str:
    return request.param


@pytest.fixture
def out(trained_aligners, problem_name) -> TrainingResult:
    return trained_aligners.get_result(problem_name)


@pytest.fixture
def folder(trained_aligners, problem_name) -> Path:
    return trained_aligners.get_folder(problem_name)


@pytest.fixture
def light(trained_aligners, problem_name) -> Path:
    return trained_aligners.get_exported(problem_name)


def get_levels(aligner: Aligner) -> tuple[Level, ...]:
    """Return the levels of links that an aligner can give."""
    return LEVELS if isinstance(aligner.settings, LearnedSettings) else ("sure",)


def select_level(aligner: Aligner, level: Level) -> Aligner:
    """Return an aligner that gives the links of a level."""
    return (
        replace(aligner, settings=aligner.settings.replace(links=level))
        if len(get_levels(aligner)) > 1
        else aligner
    )


def check_alike(one: Aligner, other: Aligner, near: float = 0.0):
    """The same links; weights that are rounded to four digits may differ by the last."""
    for level in get_levels(one):
        these, those = (select_level(aligner, level).align_many(PAIRS) for aligner in (one, other))
        for expected, found in zip(these, those, strict=True):
            assert found.pairs == expected.pairs
            assert [link.weight for link in found.links] == pytest.approx(
                [link.weight for link in expected.links], abs=near
            )
            assert found.source_null_confidence == pytest.approx(expected.source_null_confidence, abs=near)


# Validation


def test_sources_with_nothing_to_learn_or_to_choose_by_are_refused():
    """The check comes first: the encoder need not exist."""
    unlinked = [Gold(gold.source, gold.target, frozenset()) for gold in GOLDS]
    for sources, message in (
        ({}, "sources must hold at least one corpus, got none"),
        ({"mine": CorpusSplits([], GOLDS)}, "mine has an empty train set; training needs pairs in both"),
        ({"good": SOURCES["examples"], "mine": CorpusSplits(GOLDS, [])}, "mine has an empty dev set"),
        (
            {"mine": CorpusSplits(unlinked, GOLDS)},
            "mine: the 14 pairs of the train set have no link to learn from",
        ),
        ({"mine": CorpusSplits(GOLDS, EMPTY)}, "mine: the 3 pairs of the dev set have no link to learn from"),
    ):
        with pytest.raises(ValueError, match=message):
            train("no-such/encoder", sources, Learned(), QUICK)


@pytest.fixture
def no_steps(monkeypatch):
    def step(*_):
        raise AssertionError("a step was made")

    monkeypatch.setattr("otalign.training.run.TrainingRun._step", step)


@pytest.mark.usefixtures("no_steps")
def test_a_tokeniser_of_another_model_is_noticed(tiny_model, tmp_path):
    mixed = shutil.copytree(tiny_model("bert"), tmp_path / "mixed")
    for part in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copyfile(tiny_model("roberta") / part, mixed / part)
    with pytest.raises(
        ValueError, match=r"the tokenizer of mixed has the subword id \d+, but its encoder has"
    ):
        train_tiny(mixed)


@pytest.mark.usefixtures("no_steps")
def test_a_language_that_the_tokeniser_does_not_know_is_noticed(tiny_model):
    words = tuple("天気北東西南山川田中")
    golds = [Gold(words, words, frozenset({(0, 0)}))]
    with pytest.raises(ValueError, match="does not know 87% of the subwords; was it made for this language"):
        train_tiny(tiny_model("bert"), sources={"mine": CorpusSplits(golds, golds)})


@pytest.mark.usefixtures("no_steps")
def test_an_encoder_that_cannot_be_saved_or_has_too_few_layers_is_refused(tiny_model):
    with pytest.raises(ValueError, match=r"only encoders can be trained, and .* has a decoder too"):
        train_tiny(tiny_model("t5"))
    with pytest.raises(ValueError, match=r"layers must be at most 4, as many as .* has, got 5"):
        train_tiny(tiny_model("bert"), recipe=QUICK.replace(layers=5))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"optimizer": "sgd"}, "optimizer must be one of 'adamw', 'adafactor', got 'sgd'"),
        (
            {"ablate": ("nulls",)},
            "ablate must be one of 'competition', 'prices', 'neighbours', 'spelling', 'support', got 'nulls'",
        ),
        ({"batch_size": 0}, "batch_size must be at least 1, got 0"),
        ({"learning_rate": 0.0}, "learning_rate must be above 0 and below 1, got 0.0"),
        ({"steps": -1}, "steps must be at least 0, got -1"),
        ({"patience": 0}, "patience must be at least 1, or None to never stop early, got 0"),
        ({"ema_share": 1.0}, "ema_share must be at least 0 and below 1, got 1.0"),
    ],
    ids=str,
)
def test_a_recipe_checks_itself(wrong, message):
    with pytest.raises(ValueError, match=message):
        Recipe(**wrong)


# The aligner


def test_the_reported_scores_are_those_of_the_aligner(out):
    for level, score in out.dev["examples"].items():
        aligner = select_level(out.aligner, level)
        assert aligner.settings.threshold == score.threshold
        alignments = aligner.align_many([(gold.source, gold.target) for gold in GOLDS])
        found = compute_scores(count(alignments, GOLDS, level), ["f1"])
        assert found["f1"] == pytest.approx(score.f1, abs=1e-6)


def test_a_trained_aligner_says_on_what(out):
    settings = out.aligner.settings
    level = "" if isinstance(settings.problem, Learned) else " sure"  # learned transport learns both
    assert settings.trained == f"examples{level}, seed 1"
    assert settings.trained in out.aligner.signature
    assert not settings.centring


@pytest.mark.parametrize(("level", "links"), [("sure", "sure"), ("possible", "possible")])
def test_a_learned_transport_can_learn_one_level_and_sees_nothing_of_the_other(tiny_model, level, links):
    alone = [Gold(one.source, one.target, one.pairs(level)) for one in GOLDS]
    recipe = QUICK.replace(epochs=2)
    out, other = (
        train_tiny(
            tiny_model("bert"), recipe=recipe, sources={"examples": CorpusSplits(golds, golds)}, level=level
        )
        for golds in (GOLDS, alone)
    )
    for name, array in get_weights(other).items():
        if "calibration" not in name:  # which is of both levels
            np.testing.assert_array_equal(get_weights(out)[name], array)
    assert list(out.dev["examples"]) == [level]
    assert out.aligner.settings.links == links
    assert out.aligner.settings.threshold == out.dev["examples"][level].threshold
    assert f"|trained:examples {level}, seed 1|" in out.aligner.signature


def test_a_refit_learns_the_level_that_was_chosen_by(tiny_model):
    recipe, model = QUICK.replace(epochs=2), str(tiny_model("bert"))
    first = train_tiny(model, recipe=recipe, level="sure")
    sure = {"examples": CorpusSplits(SURE, SURE)}
    one, other = (
        refit(model, sources, first, options=RunOptions(device="cpu")) for sources in (SOURCES, sure)
    )
    for name, array in get_weights(other).items():
        np.testing.assert_array_equal(get_weights(one)[name], array)


def test_a_saved_aligner_aligns_as_before(out, folder):
    loaded = Aligner.load(folder, device="cpu")
    assert loaded.settings == out.aligner.settings
    assert loaded.signature == out.aligner.signature
    check_alike(out.aligner, loaded)


def test_embeddings_in_torch_are_aligned_as_those_in_numpy(out, folder):
    """As from an encoder on a GPU."""
    import torch

    lent = Aligner.load(folder, device="cpu")
    compute_states = lent.encoder.compute_states
    lent.encoder.compute_states = lambda *arrays: torch.from_numpy(compute_states(*arrays))
    check_alike(out.aligner, lent, near=2e-3)


def test_a_trained_aligner_can_be_saved_where_it_was_loaded_from_and_again_elsewhere(folder, tmp_path):
    copied = shutil.copytree(folder, tmp_path / "copied")
    loaded = Aligner.load(copied, device="cpu")
    loaded.save(copied)
    loaded.save(tmp_path / "elsewhere")
    for place in (copied, tmp_path / "elsewhere"):
        check_alike(loaded, Aligner.load(place, device="cpu"))


def test_training_continues_from_a_trained_aligner(out, folder, tmp_path):
    problem, recipe = out.aligner.settings.problem, QUICK_PAPER
    if isinstance(problem, Learned):
        recipe = QUICK
    still = train_tiny(folder, problem, recipe.replace(learning_rate=1e-9, epochs=1))
    assert still.epochs[0].f1 == pytest.approx(max(epoch.f1 for epoch in out.epochs), abs=0.02)
    assert still.aligner.settings.trained == f"{out.aligner.settings.trained}; {out.aligner.settings.trained}"
    assert still.aligner.settings.encoder == out.aligner.settings.encoder
    # It can replace the aligner that it was trained from.
    copied = shutil.copytree(folder, tmp_path / "copied")
    again = train_tiny(copied, problem, recipe.replace(epochs=1))
    again.aligner.save(copied)
    check_alike(again.aligner, Aligner.load(copied, device="cpu"))


def test_an_encoder_can_be_trained_by_its_first_layers_alone(tiny_model, tmp_path):
    recipe = QUICK.replace(depth=2, layers=2)
    found = train_tiny(tiny_model("bert"), Learned(), recipe)
    found.aligner.save(tmp_path / "small")
    again = Aligner.load(tmp_path / "small")
    assert again.settings.layer == 2
    assert list(encoders.list_layers(tmp_path / "small")) == [2]
    check_alike(found.aligner, again)
    with pytest.raises(ValueError, match="depth must be at most 3"):
        train_tiny(tiny_model("bert"), Learned(), recipe.replace(depth=4))


def test_where_all_links_are_sure_the_possible_ones_have_their_threshold(tiny_model):
    settings = train_tiny(
        tiny_model("bert"), recipe=QUICK.replace(epochs=1), sources={"plain": CorpusSplits(SURE, SURE)}
    ).aligner.settings
    assert isinstance(settings.problem, Learned)
    assert settings.problem.sure == settings.problem.possible == settings.threshold


def test_no_parts_of_another_aligner_stay_behind(tiny_model, tmp_path):
    one = train_tiny(tiny_model("bert"), recipe=QUICK.replace(epochs=1)).aligner
    other = train_tiny(tiny_model("bert"), Unbalanced(0.5), QUICK_PAPER.replace(epochs=1)).aligner
    plain = Aligner.load(tiny_model("bert"), layer=2, device="cpu")
    one.save(tmp_path)
    assert (tmp_path / "mix.npy").is_file()
    for aligner, kind in ((other, ProjectionHead), (one, TransportHead), (plain, type(None))):
        aligner.save(tmp_path)
        loaded = Aligner.load(tmp_path, device="cpu")
        assert type(loaded.head) is kind
        check_alike(aligner, loaded)


# Heads and settings that belong together


def test_a_head_and_a_problem_must_suit_each_other(tiny_model):
    encoder = Aligner.load(tiny_model("bert"), layer=3, device="cpu").encoder
    plain = Settings(encoder="tiny", layer=3, centring=False)
    trained = LearnedSettings(encoder="tiny", layer=3)
    for settings, head, message in (
        (trained, None, "settings must have a transport problem, since the aligner has no trained head"),
        (trained, make_projection_head(size=16), "settings must have a transport problem"),
        (
            plain.replace(problem=Partial(0.5)),
            make_transport_head(size=16),
            "settings must be LearnedSettings",
        ),
        (plain.replace(problem=None), make_transport_head(size=16), "settings must be LearnedSettings"),
    ):
        with pytest.raises(ValueError, match=message):
            Aligner(encoder, settings, head=head)
    for settings, head in (
        (trained, make_transport_head(size=16)),
        (plain, make_projection_head(size=16)),
        (plain, None),
    ):
        assert Aligner(encoder, settings, head=head).align("the car", "a car").shape == (2, 2)


def test_a_trained_aligner_is_not_loaded_as_another(folder, out):
    if isinstance(out.aligner.settings.problem, Learned):
        with pytest.raises(
            ValueError, match=r"problem must be left out: the model .* has learned its transport"
        ):
            Aligner.load(folder, device="cpu", problem=Partial(1.0))
        with pytest.raises(ValueError, match=r"layer must be 3 for .*, whose last layers are mixed, got 2"):
            encoders.load(folder, 2, device="cpu")
        assert encoders.list_layers(folder) == range(3, 4)
        assert encoders.load(folder, device="cpu").layer == 3
        assert Aligner.load(folder, device="cpu", links="possible").settings.links == "possible"
    else:
        assert Aligner.load(folder, device="cpu", problem=Partial(1.0)).head
    with pytest.raises(ValueError, match=r"layer must be 3, with which .* was trained, got 2"):
        Aligner.load(folder, layer=2, device="cpu")


def test_a_torn_head_or_mix_is_named(folder, out, tmp_path):
    torn = shutil.copytree(folder, tmp_path / "torn")
    if (torn / "mix.npy").is_file():
        (torn / "mix.npy").write_bytes(b"no array")
        with pytest.raises(ValueError, match=r"mix\.npy is not an array"):
            Aligner.load(torn, device="cpu")
        shutil.copyfile(folder / "mix.npy", torn / "mix.npy")
    (torn / "head.safetensors").write_bytes(b"no head")
    with pytest.raises(ValueError, match=r"head\.safetensors is not a valid otalign head file"):
        Aligner.load(torn, device="cpu")


# Without torch

EXPORTED_PARTS = {"encoder.onnx", "tokenizer.json", "head.safetensors", "otalign.json"}


@pytest.mark.parametrize("problem_name", ["learned"])
def test_an_exported_aligner_gives_the_same_links(out, light, tmp_path):
    assert {part.name for part in light.iterdir()} == EXPORTED_PARTS
    light = Aligner.load(light)
    assert light.settings == out.aligner.settings
    check_alike(out.aligner, light, near=2e-3)
    light.save(tmp_path / "copy")
    check_alike(light, Aligner.load(tmp_path / "copy"))


@pytest.mark.parametrize("problem_name", ["learned"])
def test_others_may_read_what_was_trained_and_exported_as_they_may_read_new_files(folder, light, tmp_path):
    (tmp_path / "new").touch()
    (tmp_path / "folder").mkdir()
    for place in (folder, light):
        assert place.stat().st_mode == (tmp_path / "folder").stat().st_mode
        assert {part.stat().st_mode for part in place.iterdir()} == {(tmp_path / "new").stat().st_mode}


@pytest.mark.parametrize("problem_name", ["uot"])
def test_another_head_is_kept_with_an_exported_encoder(out, exported, tmp_path):
    """An encoder that another test exports, since that takes seconds."""
    settings = out.aligner.settings.replace(layer=3)
    light = replace(out.aligner, encoder=Onnx(exported("bert", 3)), settings=settings)
    light.save(tmp_path)
    assert {part.name for part in tmp_path.iterdir()} == EXPORTED_PARTS
    again = Aligner.load(tmp_path)
    assert again.settings == settings
    check_alike(light, again)
    check_without_torch(tmp_path)


@pytest.mark.parametrize("problem_name", ["learned"])
def test_an_exported_aligner_takes_no_torch_along(light):
    check_without_torch(light)


def check_without_torch(folder: Path) -> None:
    code = (
        "import sys; from otalign import Aligner; "
        "print(Aligner.load(sys.argv[1]).align('he bought a car', 'he purchased cars').shape); "
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, check=True)
    shape, loaded = done.stdout.splitlines()
    assert shape == "(4, 3)"
    assert not {name.partition(".")[0] for name in loaded.split()} & {"torch", "transformers", "accelerate"}


@pytest.mark.parametrize("problem_name", ["learned"])
def test_an_exported_aligner_in_int8_is_smaller_and_close(out, folder, light, tmp_path, capsys, monkeypatch):
    import onnx

    # The graph in float32, which takes seconds to make, is there already.
    monkeypatch.setattr("otalign.encoders.export.make_graph", lambda _: onnx.load(light / "encoder.onnx"))
    export(str(folder), tmp_path / "lighter", int8=True)
    assert "words compared with the original, " in capsys.readouterr().out
    sizes = [(place / "encoder.onnx").stat().st_size for place in (light, tmp_path / "lighter")]
    assert sizes[1] < sizes[0]
    lighter = Aligner.load(tmp_path / "lighter")
    found, expected = (
        {(k, *pair) for k, one in enumerate(aligner.align_many(PAIRS)) for pair in one.pairs}
        for aligner in (lighter, out.aligner)
    )
    assert len(found & expected) > 0.8 * len(found | expected)


def test_settings_of_a_trained_aligner_are_plain(folder):
    data = json.loads((folder / "otalign.json").read_text())
    assert data["trained"].startswith("examples")
    assert str(folder) not in (folder / "otalign.json").read_text()


def test_two_epochs_are_two_even_of_a_few_pairs(tiny_model):
    out = train_tiny(tiny_model("bert"), recipe=Recipe(epochs=2, batch_size=7))
    assert [epoch.number for epoch in out.epochs] == [1, 2]


def test_a_learned_aligner_links_the_same_whichever_sentence_is_the_source(tiny_model, tmp_path):
    out = train_tiny(tiny_model("bert"), recipe=QUICK.replace(epochs=2))
    out.aligner.save(tmp_path / "mine")
    aligner = Aligner.load(tmp_path / "mine", device="cpu", threshold=0.05)
    assert aligner.settings.pairing == "canonical"
    pairs = [(gold.source, gold.target) for gold in [*GOLDS, LONG]]
    pairs += [(("the", "old", "car"), ("old", "the", "car"))]  # as long as each other
    there, back = (
        list(aligner.align_many(of)) for of in (pairs, [(target, source) for source, target in pairs])
    )
    assert sum(len(one.links) for one in there) > 50
    for one, other in zip(there, back, strict=True):
        transposed = other.transpose()
        np.testing.assert_allclose(one.source_null_confidence, transposed.source_null_confidence, atol=1e-5)
        weights = {(i, j): weight for i, j, weight in one.links}
        for i, j, weight in transposed.links:
            assert weights.get((i, j), 0.05) == pytest.approx(weight, abs=1e-5)


def test_an_aligner_that_read_the_source_first_continues_to_do_so(tiny_model, tmp_path):
    out = train_tiny(tiny_model("bert"), recipe=QUICK.replace(epochs=1)).aligner
    replace(out, settings=out.settings.replace(pairing="joint")).save(tmp_path / "before")
    further = train_tiny(tmp_path / "before", recipe=QUICK.replace(epochs=1)).aligner
    assert further.settings.pairing == "joint"
