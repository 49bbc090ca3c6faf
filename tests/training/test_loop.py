"""The loop: it learns, comes out the same again, and can be taken up where it was broken off."""

import copy
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from accelerate import Accelerator

from otalign.gold import Gold
from otalign.ot import Balanced, Partial, Unbalanced
from otalign.scoring.heads import ProjectionHead, TransportHead
from otalign.settings import Learned, LearnedSettings, Settings
from otalign.training import NO_AUGMENTATION, PAPER, Checkpoint, CorpusSplits, Epoch, Recipe, Trained, train
from otalign.training.batches import PairSet
from otalign.training.dev import DevScore, DevSet
from otalign.training.loop import TrainingLoop
from otalign.training.model import Model
from otalign.training.reading import Split, in_order
from tests.training.examples import EMPTY, GOLDS, SOURCES
from tests.training.test_batches import encoder_of

QUICK = Recipe(
    learning_rate=3e-3,
    head_pace=3.0,
    batch_size=4,
    epochs=12,
    steps=0,
    average=0.3,
    augmentation=NO_AUGMENTATION,
)
QUICK_PAPER = PAPER.replace(learning_rate=3e-3, batch_size=4, epochs=12, patience=None)
RECIPES = {"learned": (Learned(), QUICK), "paper": (Unbalanced(0.5), QUICK_PAPER)}


def trained(folder, problem=Learned(), recipe=QUICK, sources=SOURCES, **options) -> Trained:
    return train(str(folder), sources, problem, recipe, device="cpu", **options)


def a_run(folder, golds=GOLDS, recipe=QUICK, head=None, problem=Learned(), **options) -> TrainingLoop:
    encoder = encoder_of(folder)
    kind = TransportHead if isinstance(problem, Learned) else ProjectionHead
    head = head or kind.initialize(16, np.random.default_rng(0))
    if isinstance(problem, Learned):
        settings = LearnedSettings(encoder="", layer=3, problem=problem)
    else:
        settings = Settings(encoder="", layer=3, centring=False, fertility="norm", problem=problem)
    model = Model(encoder, head, settings, "sure", recipe)
    levels = ("sure", "possible") if isinstance(problem, Learned) else ("sure",)
    dev = {"dev": DevSet.of(PairSet(golds, encoder), levels)}
    pairs = PairSet(golds, encoder, both_directions=recipe.both_directions)
    return TrainingLoop(model, pairs, dev, recipe, Accelerator(cpu=True), **options)


def weights_of(out: Trained) -> dict[str, np.ndarray]:
    encoder = {name: x.numpy() for name, x in out.aligner.encoder.model.state_dict().items()}
    assert out.aligner.head
    mix = out.aligner.encoder.mix
    return encoder | out.aligner.head.arrays() | ({} if mix is None else {"mix": mix})


def told(epochs) -> list[dict]:
    return [{k: v for k, v in epoch.to_dict().items() if k != "seconds"} for epoch in epochs]


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
@pytest.mark.parametrize("problem", [Learned(), Unbalanced(0.5), Partial(0.8), Balanced()], ids=repr)
def test_what_is_seen_is_learned(tiny_model, problem, kind):
    recipe = QUICK if isinstance(problem, Learned) else QUICK_PAPER
    folder = tiny_model(kind)
    (before,) = trained(folder, problem, recipe.replace(learning_rate=1e-9, epochs=1)).epochs
    out = trained(folder, problem, recipe)
    assert max(epoch.f1 for epoch in out.epochs) > before.f1 + 0.15
    assert out.epochs[-1].loss < 0.8 * out.epochs[0].loss
    assert out.dev["examples"]["sure"].f1 > before.f1 + 0.15


@pytest.mark.parametrize("how", RECIPES)
def test_the_same_seed_gives_the_same_weights_and_another_gives_others(tiny_model, how):
    problem, recipe = RECIPES[how]
    recipe = recipe.replace(epochs=2)
    one, again, other = (
        trained(tiny_model("bert"), problem, recipe.replace(seed=seed)) for seed in (1, 1, 2)
    )
    assert told(one.epochs) == told(again.epochs)
    for name, array in weights_of(one).items():
        np.testing.assert_array_equal(weights_of(again)[name], array)
    assert one.aligner.settings == again.aligner.settings
    assert not np.allclose(weights_of(one)["map"], weights_of(other)["map"])


class Stopped(Exception):
    pass


@pytest.mark.parametrize("after", [1, 3])
@pytest.mark.parametrize("how", RECIPES)
def test_a_run_that_was_broken_off_and_taken_up_is_the_one_that_was_not(tiny_model, tmp_path, how, after):
    problem, recipe = RECIPES[how]
    recipe = recipe.replace(epochs=5)
    whole = trained(tiny_model("bert"), problem, recipe)
    checkpoint, heard = Checkpoint(tmp_path / "run.pt"), []

    def stop(epoch):
        if epoch.number == after:
            raise Stopped

    with pytest.raises(Stopped):
        trained(tiny_model("bert"), problem, recipe, checkpoint=checkpoint, heard=stop)
    out = trained(tiny_model("bert"), problem, recipe, checkpoint=checkpoint, heard=heard.append)
    assert [epoch.number for epoch in heard] == list(range(after + 1, 6))
    assert [epoch.number for epoch in out.epochs] == [1, 2, 3, 4, 5]
    assert [epoch.loss for epoch in out.epochs] == pytest.approx([epoch.loss for epoch in whole.epochs])
    assert [epoch.f1 for epoch in out.epochs] == pytest.approx([epoch.f1 for epoch in whole.epochs])
    for name, array in weights_of(whole).items():
        np.testing.assert_allclose(weights_of(out)[name], array, atol=1e-6)
    # Taken up when it is over, it is that again.
    again = trained(tiny_model("bert"), problem, recipe, checkpoint=checkpoint, heard=heard.clear)
    assert told(again.epochs) == told(out.epochs)


def test_checkpoints_are_as_far_apart_as_is_said(tiny_model, tmp_path):
    problem, recipe = RECIPES["paper"]
    for apart, there in ((3600.0, False), (0.0, True)):
        trained(tiny_model("bert"), problem, recipe, checkpoint=Checkpoint(tmp_path / "run.pt", apart))
        assert (tmp_path / "run.pt").exists() == there


def test_an_epoch_is_the_same_after_json():
    score = DevScore(0.5, 0.7, 0.8, 0.75)
    epoch = Epoch(
        3, 0.25, {"one": {"sure": score, "possible": score}, "two": {"sure": score._replace(f1=0.3)}}, 1.5
    )
    assert Epoch.from_dict(epoch.to_dict()) == epoch
    assert epoch.f1 == pytest.approx(0.6)


def test_training_stops_when_nothing_gets_better(tiny_model):
    recipe = QUICK_PAPER.replace(learning_rate=1e-9, patience=2)
    out = trained(tiny_model("bert"), Unbalanced(0.5), recipe)
    assert len(out.epochs) == 3
    assert len(trained(tiny_model("bert"), Unbalanced(0.5), recipe.replace(patience=None)).epochs) == 12


def scored(*f1: float) -> list[Epoch]:
    return [Epoch(k + 1, 0.0, {"dev": {"sure": DevScore(0.5, x, x, x)}}, 0.0) for k, x in enumerate(f1)]


@pytest.mark.parametrize(
    ("f1", "over"),
    [
        ((0.5,), False),
        ((0.5, 0.4), False),
        ((0.5, 0.4, 0.4), True),
        ((0.5, 0.4, 0.6), False),
        ((0.5, 0.50005, 0.5001), True),  # not better by as much as counts
        ((0.1, 0.2, 0.3, 0.4, 0.5, 0.6), True),  # the last epoch
    ],
)
def test_patience_counts_the_epochs_without_a_better_one(tiny_model, f1, over):
    run = a_run(tiny_model("bert"), recipe=QUICK.replace(epochs=6, patience=2, delta=1e-3))
    run.epochs = scored(*f1)
    assert run.over == over


def test_the_best_epoch_is_kept(tiny_model, monkeypatch):
    run = a_run(tiny_model("bert"), recipe=QUICK.replace(epochs=4, average=0.0))
    states, results = [], iter(scored(0.3, 0.8, 0.4, 0.8))
    real = TrainingLoop._epoch

    def epoch(self, number):
        real(self, number)
        states.append(copy.deepcopy(self.model.state_dict()))
        return next(results)

    monkeypatch.setattr(TrainingLoop, "_epoch", epoch)
    run()
    for name, value in run.model.state_dict().items():
        torch.testing.assert_close(value, states[1][name])
    assert not torch.allclose(states[3]["arrays.map"], states[1]["arrays.map"])


def test_weights_are_averaged_once_the_learning_rate_has_risen(tiny_model):
    run = a_run(tiny_model("bert"), recipe=QUICK.replace(epochs=40))  # it rises for four epochs
    for number in range(1, 5):
        run._epoch(number)
        assert run.kept is run.model
    run._epoch(5)
    assert run.kept is not run.model
    assert not torch.allclose(run.kept.arrays["map"], run.model.arrays["map"])


def test_the_average_is_of_the_same_share_of_the_steps_however_many_there_are(tiny_model):
    """What the weights were so many steps ago counts e times less than what they are now."""
    for epochs in (10, 100):
        run = a_run(tiny_model("bert"), recipe=QUICK.replace(epochs=epochs))
        assert run.average
        run.model.arrays["gamma"].data.fill_(1.0)
        run.average.update_parameters(run.model)
        run.model.arrays["gamma"].data.fill_(0.0)
        for _ in range(round(QUICK.average * run.steps)):
            run.average.update_parameters(run.model)
        assert run.kept.arrays["gamma"].detach().numpy() == pytest.approx(np.exp(-1), rel=0.06)


def test_few_pairs_are_read_more_often_but_not_without_end(tiny_model):
    recipe = QUICK.replace(epochs=6, steps=60)
    assert [recipe.epochs_of(steps) for steps in (100, 10, 6, 4, 1)] == [6, 6, 10, 15, 30]
    assert QUICK.replace(epochs=50, steps=60).epochs_of(1) == 50
    run = a_run(tiny_model("bert"), recipe=recipe)  # of 14 pairs, 4 a step
    assert (run.most, run.steps) == (15, 60)


def without_dropout(run: TrainingLoop) -> None:
    for module in run.model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0


@pytest.mark.parametrize("problem", [Learned(), Unbalanced(0.5)], ids=repr)
@pytest.mark.parametrize("parts", [2, 3, 6])
def test_a_batch_in_parts_makes_the_step_of_the_whole(tiny_model, problem, parts):
    """Of pairs of one size: a part counts for as much as another, however many cells it has."""
    words = ("he", "bought", "cars"), ("she", "sold", "it"), ("rain", "fell", "today")
    golds = [Gold(x, y, frozenset({(0, 0), (1, 2)})) for x in words for y in words if x != y]
    recipe = QUICK if isinstance(problem, Learned) else QUICK_PAPER
    slopes = []
    for accumulate in (1, parts):
        run = a_run(tiny_model("bert"), golds, recipe, problem=problem, accumulate=accumulate)
        without_dropout(run)
        run.module.train()
        run.optimiser.zero_grad = lambda: None  # so that they can be looked at
        made = [run.train.batch(part) for part in Split(accumulate=accumulate).parts(np.arange(6))]
        assert len(made) == accumulate
        loss = run._step(made)
        slopes.append({k: x.grad for k, x in run.model.named_parameters() if x.grad is not None})
        slopes[-1]["loss"] = loss
    for name, slope in slopes[0].items():
        torch.testing.assert_close(slopes[1][name], slope, atol=1e-5, rtol=1e-3)


def test_more_parts_than_pairs_leave_none_empty():
    assert [len(part) for part in Split(accumulate=8).parts(np.arange(3))] == [1, 1, 1]


def test_processes_read_every_example_of_a_batch_once():
    parts = [part for process in range(3) for part in Split(process, 3, 2).parts(np.arange(11))]
    assert sorted(np.concatenate(parts).tolist()) == list(range(11))


def test_a_loss_that_is_no_number_is_an_error(tiny_model):
    new = TransportHead.initialize(16, np.random.default_rng(0)).arrays()
    broken = TransportHead(**(new | {"gamma": np.full(2, np.nan, np.float32)}))
    with pytest.raises(ValueError, match="the loss is nan in epoch 1; try a lower learning rate"):
        a_run(tiny_model("bert"), head=broken)()


def test_a_projection_that_is_no_number_is_an_error(tiny_model):
    broken = ProjectionHead(np.full((16, 16), np.nan, np.float32), np.zeros(16, np.float32))
    with pytest.raises(ValueError, match="must be finite"):
        a_run(tiny_model("bert"), head=broken, problem=Unbalanced(0.5), recipe=QUICK_PAPER)()


@pytest.mark.parametrize("problem", [Learned(), Unbalanced(0.5)], ids=repr)
def test_pairs_without_words_do_no_harm(tiny_model, problem):
    recipe = (QUICK if isinstance(problem, Learned) else QUICK_PAPER).replace(epochs=1, batch_size=1)
    out = trained(
        tiny_model("bert"), problem, recipe, {"odd": CorpusSplits([*EMPTY, *GOLDS], [*GOLDS, *EMPTY])}
    )
    assert math.isfinite(out.epochs[0].loss)


def test_what_is_left_out_of_a_transport_stays_out(tiny_model):
    for without, absent in (
        ((), set()),
        (("competition",), {"beta", "price"}),  # where nothing competes, no price is learned
        (("prices",), {"price"}),
        (("neighbours",), {"seen"}),
    ):
        out = trained(tiny_model("bert"), recipe=QUICK.replace(epochs=1, without=without))
        assert out.aligner.head
        arrays = out.aligner.head.arrays()
        assert {name for name in ("beta", "price", "seen") if not arrays[name].any()} == absent


@pytest.mark.parametrize("count", range(6))
def test_what_is_made_ahead_comes_in_order_and_whole(count):
    with ThreadPoolExecutor(1) as thread:
        made = in_order(lambda k: thread.submit(lambda: 2 * k), range(count), 2)
        assert list(made) == [2 * k for k in range(count)]


def test_progress_is_told(tiny_model):
    heard = []
    trained(
        tiny_model("bert"),
        recipe=QUICK.replace(epochs=2),
        progress=lambda what, done, of: heard.append((what, done, of)),
    )
    steps = math.ceil(len(GOLDS) / 4)
    assert heard == [(f"epoch {k}", done, steps) for k in (1, 2) for done in range(1, steps + 1)]
