"""Training runs: they learn, are reproducible, and continue from a checkpoint."""

import copy
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from accelerate import Accelerator

from otalign.alignment import LEVELS
from otalign.gold import Gold
from otalign.ot import Balanced, Partial, Unbalanced
from otalign.scoring.heads import ProjectionHead, TransportHead
from otalign.settings import Learned
from otalign.training import Checkpoint, CorpusSplits, DevScore, Epoch, RunOptions
from otalign.training.batches import PairSet
from otalign.training.dev import DevSet
from otalign.training.model import Model
from otalign.training.objectives import make_objective
from otalign.training.reading import Split, prefetch
from otalign.training.run import TrainingRun
from tests.training.examples import EMPTY, GOLDS
from tests.training.test_batches import load_encoder
from tests.training.tiny_runs import PROBLEMS, QUICK, QUICK_PAPER, drop_seconds, get_weights, train_tiny


def make_run(folder, golds=GOLDS, recipe=QUICK, head=None, problem=Learned(), **options) -> TrainingRun:
    encoder, objective = load_encoder(folder), make_objective(problem)
    head = head or objective.head_type.initialize(16, np.random.default_rng(0))
    settings = objective.make_settings("", 3, "joint", "")
    model = Model(encoder, head, objective, settings, recipe)
    levels = (objective.level,) if objective.level else LEVELS
    dev = {"dev": DevSet.build(PairSet(golds, encoder), levels)}
    pairs = PairSet(golds, encoder, both_directions=recipe.both_directions)
    return TrainingRun(model, pairs, dev, recipe, RunOptions(**options), accelerator=Accelerator(cpu=True))


@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        (Learned(), "bert"),
        (Unbalanced(0.5), "mpnet"),
        (Partial(0.8), "bert"),
        (Balanced(), "bert"),
    ],
    ids=repr,
)
def test_what_is_seen_is_learned(tiny_model, problem, kind):
    recipe = (QUICK if isinstance(problem, Learned) else QUICK_PAPER).replace(epochs=8, batch_size=4)
    folder = tiny_model(kind)
    (before,) = train_tiny(folder, problem, recipe.replace(learning_rate=1e-9, epochs=1)).epochs
    out = train_tiny(folder, problem, recipe)
    assert max(epoch.f1 for epoch in out.epochs) > before.f1 + 0.15
    assert out.epochs[-1].loss < 0.8 * out.epochs[0].loss
    assert out.dev["examples"]["sure"].f1 > before.f1 + 0.15


@pytest.mark.parametrize("how", PROBLEMS)
def test_the_same_seed_gives_the_same_weights_and_another_gives_others(tiny_model, how):
    problem, recipe = PROBLEMS[how]
    recipe = recipe.replace(epochs=2)
    one, again, other = (
        train_tiny(tiny_model("bert"), problem, recipe.replace(seed=seed)) for seed in (1, 1, 2)
    )
    assert drop_seconds(one.epochs) == drop_seconds(again.epochs)
    for name, array in get_weights(one).items():
        np.testing.assert_array_equal(get_weights(again)[name], array)
    assert one.aligner.settings == again.aligner.settings
    assert not np.allclose(get_weights(one)["map"], get_weights(other)["map"])


class Stopped(Exception):
    pass


@pytest.fixture(scope="module", params=PROBLEMS)
def whole_run(request, tiny_model):
    """A problem, a recipe of three epochs, and the result of a run that was not interrupted."""
    problem, recipe = PROBLEMS[request.param]
    recipe = recipe.replace(epochs=3)
    return problem, recipe, train_tiny(tiny_model("bert"), problem, recipe)


@pytest.mark.parametrize("after", [1, 2])
def test_a_run_that_was_interrupted_and_continued_ends_like_one_that_was_not(
    tiny_model, tmp_path, whole_run, after
):
    problem, recipe, whole = whole_run
    checkpoint, reported = Checkpoint(tmp_path / "run.pt"), []

    def stop(epoch):
        if epoch.number == after:
            raise Stopped

    with pytest.raises(Stopped):
        train_tiny(tiny_model("bert"), problem, recipe, checkpoint=checkpoint, on_epoch=stop)
    out = train_tiny(tiny_model("bert"), problem, recipe, checkpoint=checkpoint, on_epoch=reported.append)
    assert [epoch.number for epoch in reported] == list(range(after + 1, 4))
    assert [epoch.number for epoch in out.epochs] == [1, 2, 3]
    assert [epoch.loss for epoch in out.epochs] == pytest.approx([epoch.loss for epoch in whole.epochs])
    assert [epoch.f1 for epoch in out.epochs] == pytest.approx([epoch.f1 for epoch in whole.epochs])
    for name, array in get_weights(whole).items():
        np.testing.assert_allclose(get_weights(out)[name], array, atol=1e-6)
    # Continued after its end, it is the same again.
    again = train_tiny(tiny_model("bert"), problem, recipe, checkpoint=checkpoint, on_epoch=reported.append)
    assert drop_seconds(again.epochs) == drop_seconds(out.epochs)
    assert len(reported) == 3 - after


@pytest.mark.parametrize("how", PROBLEMS)
def test_a_checkpoint_of_another_train_or_dev_set_is_refused(tiny_model, tmp_path, how):
    problem, recipe = PROBLEMS[how]
    recipe, checkpoint = recipe.replace(epochs=1), Checkpoint(tmp_path / "run.pt")

    def resume(train, dev):
        sources = {"examples": CorpusSplits(train, dev)}
        return train_tiny(tiny_model("bert"), problem, recipe, sources, checkpoint=checkpoint)

    first = resume(GOLDS, GOLDS[:4])
    for train, dev, difference in (
        (GOLDS, GOLDS[:5], "dev set"),
        (GOLDS[:-1], GOLDS[:4], "train set"),
        (GOLDS[::-1], GOLDS[1:], "train set and another dev set"),
    ):
        message = rf"run\.pt is the checkpoint of a training with another {difference}; use the same"
        with pytest.raises(ValueError, match=message):
            resume(train, dev)
    assert drop_seconds(resume(GOLDS, GOLDS[:4]).epochs) == drop_seconds(first.epochs)


def test_a_checkpoint_of_an_older_version_is_refused(tiny_model, tmp_path):
    checkpoint = Checkpoint(tmp_path / "run.pt")
    torch.save({"about": "", "best": {}, "epochs": []}, checkpoint.file)
    with pytest.raises(ValueError, match=r"run\.pt was written by another version of otalign"):
        make_run(tiny_model("bert"), checkpoint=checkpoint).fit()


def test_checkpoints_keep_their_interval(tiny_model, tmp_path):
    problem, recipe = PROBLEMS["uot"]
    for interval, exists in ((3600.0, False), (0.0, True)):
        train_tiny(
            tiny_model("bert"),
            problem,
            recipe.replace(epochs=1),
            checkpoint=Checkpoint(tmp_path / "run.pt", interval),
        )
        assert (tmp_path / "run.pt").exists() == exists


def test_an_epoch_is_the_same_after_json():
    score = DevScore(0.5, 0.7, 0.8, 0.75)
    epoch = Epoch(
        3, 0.25, {"one": {"sure": score, "possible": score}, "two": {"sure": score._replace(f1=0.3)}}, 1.5
    )
    assert Epoch.from_dict(epoch.to_dict()) == epoch
    assert epoch.f1 == pytest.approx(0.6)


def test_training_stops_when_nothing_gets_better(tiny_model):
    recipe = QUICK_PAPER.replace(learning_rate=1e-9, patience=2, epochs=4)
    out = train_tiny(tiny_model("bert"), Unbalanced(0.5), recipe)
    assert len(out.epochs) == 3
    assert len(train_tiny(tiny_model("bert"), Unbalanced(0.5), recipe.replace(patience=None)).epochs) == 4


def make_epochs(*f1: float) -> list[Epoch]:
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
    run = make_run(tiny_model("bert"), recipe=QUICK.replace(epochs=6, patience=2, delta=1e-3))
    run.epochs = make_epochs(*f1)
    assert run.is_finished == over


def test_the_best_epoch_is_kept(tiny_model, monkeypatch):
    run = make_run(tiny_model("bert"), recipe=QUICK.replace(epochs=4, ema_share=0.0))
    states, results = [], iter(make_epochs(0.3, 0.8, 0.4, 0.8))
    real = TrainingRun._train_epoch

    def epoch(self, number):
        real(self, number)
        states.append(copy.deepcopy(self.model.state_dict()))
        return next(results)

    monkeypatch.setattr(TrainingRun, "_train_epoch", epoch)
    run.fit()
    for name, value in run.model.state_dict().items():
        torch.testing.assert_close(value, states[1][name])
    assert not torch.allclose(states[3]["arrays.map"], states[1]["arrays.map"])


def test_weights_are_averaged_once_the_learning_rate_has_risen(tiny_model):
    run = make_run(tiny_model("bert"), recipe=QUICK.replace(epochs=40))  # it rises for four epochs
    for number in range(1, 5):
        run._train_epoch(number)
        assert run.scored_model is run.model
    run._train_epoch(5)
    assert run.scored_model is not run.model
    assert not torch.allclose(run.scored_model.arrays["map"], run.model.arrays["map"])


def test_the_average_is_of_the_same_share_of_the_steps_however_many_there_are(tiny_model):
    """The weights of that many steps ago count e times less than the current ones."""
    for epochs in (10, 100):
        run = make_run(tiny_model("bert"), recipe=QUICK.replace(epochs=epochs, batch_size=4))
        assert run.ema
        run.model.arrays["gamma"].data.fill_(1.0)
        run.ema.update_parameters(run.model)
        run.model.arrays["gamma"].data.fill_(0.0)
        for _ in range(round(QUICK.ema_share * run.total_steps)):
            run.ema.update_parameters(run.model)
        assert run.scored_model.arrays["gamma"].detach().numpy() == pytest.approx(np.exp(-1), rel=0.06)


def test_few_pairs_are_read_more_often_but_not_without_end(tiny_model):
    recipe = QUICK.replace(epochs=6, steps=60, batch_size=4)
    assert [recipe.count_epochs(steps) for steps in (100, 10, 6, 4, 1)] == [6, 6, 10, 15, 30]
    assert QUICK.replace(epochs=50, steps=60).count_epochs(1) == 50
    run = make_run(tiny_model("bert"), recipe=recipe)  # of 14 pairs, 4 a step
    assert (run.max_epochs, run.total_steps) == (15, 60)


def remove_dropout(run: TrainingRun) -> None:
    for module in run.model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0


@pytest.mark.parametrize("problem", [Learned(), Unbalanced(0.5)], ids=repr)
@pytest.mark.parametrize("parts", [2, 3, 6])
def test_a_batch_in_parts_makes_the_step_of_the_whole(tiny_model, problem, parts):
    """With pairs of one size, since all parts have equal weight, however many cells they have."""
    words = ("he", "bought", "cars"), ("she", "sold", "it"), ("rain", "fell", "today")
    golds = [Gold(x, y, frozenset({(0, 0), (1, 2)})) for x in words for y in words if x != y]
    recipe = QUICK if isinstance(problem, Learned) else QUICK_PAPER
    slopes = []
    for accumulate in (1, parts):
        run = make_run(tiny_model("bert"), golds, recipe, problem=problem, accumulate=accumulate)
        remove_dropout(run)
        run.module.train()
        run.optimizer.zero_grad = lambda: None  # to inspect them
        made = [run.pairs.make_batch(part) for part in Split(accumulate=accumulate).get_parts(np.arange(6))]
        assert len(made) == accumulate
        loss = run._step(made)
        slopes.append({k: x.grad for k, x in run.model.named_parameters() if x.grad is not None})
        slopes[-1]["loss"] = loss
    for name, slope in slopes[0].items():
        torch.testing.assert_close(slopes[1][name], slope, atol=1e-5, rtol=1e-3)


def test_more_parts_than_pairs_leave_none_empty():
    assert [len(part) for part in Split(accumulate=8).get_parts(np.arange(3))] == [1, 1, 1]


def test_processes_read_every_example_of_a_batch_once():
    parts = [part for process in range(3) for part in Split(process, 3, 2).get_parts(np.arange(11))]
    assert sorted(np.concatenate(parts).tolist()) == list(range(11))


def test_a_loss_that_is_no_number_is_an_error(tiny_model):
    new = TransportHead.initialize(16, np.random.default_rng(0)).arrays()
    broken = TransportHead(**(new | {"gamma": np.full(2, np.nan, np.float32)}))
    with pytest.raises(ValueError, match="the loss is nan in epoch 1; try a lower learning rate"):
        make_run(tiny_model("bert"), head=broken).fit()


def test_a_projection_that_is_no_number_is_an_error(tiny_model):
    broken = ProjectionHead(np.full((16, 16), np.nan, np.float32), np.zeros(16, np.float32))
    with pytest.raises(ValueError, match="must be finite"):
        make_run(tiny_model("bert"), head=broken, problem=Unbalanced(0.5), recipe=QUICK_PAPER).fit()


@pytest.mark.parametrize("problem", [Learned(), Unbalanced(0.5)], ids=repr)
def test_pairs_without_words_do_no_harm(tiny_model, problem):
    recipe = (QUICK if isinstance(problem, Learned) else QUICK_PAPER).replace(epochs=1, batch_size=1)
    out = train_tiny(
        tiny_model("bert"), problem, recipe, {"odd": CorpusSplits([*EMPTY, *GOLDS], [*GOLDS, *EMPTY])}
    )
    assert math.isfinite(out.epochs[0].loss)


def test_what_is_left_out_of_a_transport_stays_out(tiny_model):
    for ablate, absent in (
        ((), set()),
        (("competition",), {"beta", "price"}),  # where nothing competes, no price is learned
        (("prices",), {"price"}),
        (("neighbours",), {"seen"}),
    ):
        out = train_tiny(tiny_model("bert"), recipe=QUICK.replace(epochs=1, ablate=ablate))
        assert out.aligner.head
        arrays = out.aligner.head.arrays()
        assert {name for name in ("beta", "price", "seen") if not arrays[name].any()} == absent


@pytest.mark.parametrize("count", range(6))
def test_prefetched_results_come_in_order_and_completely(count):
    with ThreadPoolExecutor(1) as thread:
        made = prefetch(lambda k: thread.submit(lambda: 2 * k), range(count), 2)
        assert list(made) == [2 * k for k in range(count)]


def test_progress_is_reported(tiny_model):
    reported = []
    train_tiny(
        tiny_model("bert"),
        recipe=QUICK.replace(epochs=2),
        progress=lambda what, done, of: reported.append((what, done, of)),
    )
    steps = math.ceil(len(GOLDS) / QUICK.batch_size)
    assert reported == [(f"epoch {k}", done, steps) for k in (1, 2) for done in range(1, steps + 1)]
