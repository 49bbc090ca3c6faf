"""Training of the supervised peers: they learn, are saved and loaded, and align as before."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from experiments.peers.aligner import TrainedPeer
from experiments.peers.models import MODELS, QuerySet, make_examples
from experiments.peers.settings import PEERS
from experiments.peers.training import RECIPES, PeerTraining, train_peer
from otalign.metrics import compute_scores, count
from otalign.training import Checkpoint, CorpusSplits, Recipe, RunOptions
from otalign.training.dev import DevSet
from tests.training.examples import EMPTY, GOLDS, LONG, SOURCES
from tests.training.test_batches import load_encoder

FEW = GOLDS[:4]
PAIRS = [(gold.source, gold.target) for gold in FEW]
QUICK = {
    "semi-crf": RECIPES["semi-crf"].replace(
        learning_rate=3e-3, head_lr_multiplier=1.0, batch_size=4, epochs=12, patience=None
    ),
    "span-prediction": RECIPES["span-prediction"].replace(
        learning_rate=6e-3, batch_size=8, epochs=24, patience=None, ema_share=0.2
    ),
}


def train_quickly(folder, peer, **options) -> PeerTraining:
    recipe = options.pop("recipe", QUICK[peer])
    sources, level = options.pop("sources", SOURCES), options.pop("level", "sure")
    run = RunOptions(device="cpu", **options)
    return train_peer(str(folder), sources, peer, recipe, level=level, options=run)


@pytest.fixture(scope="module")
def steady(tiny_model, tmp_path_factory) -> Path:
    """A tiny model without dropout, which would drop too much of 16 dimensions."""
    folder = tmp_path_factory.mktemp("steady") / "bert"
    shutil.copytree(tiny_model("bert"), folder)
    config = json.loads((folder / "config.json").read_text())
    config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.fixture(scope="module", params=PEERS)
def training(request, steady) -> PeerTraining:
    return train_quickly(steady, request.param, sources={"examples": CorpusSplits(FEW, FEW)})


def test_it_learns_what_it_is_given(training):
    first, best = training.epochs[0], max(training.epochs, key=lambda epoch: epoch.f1)
    assert best.f1 > first.f1
    assert training.f1 == pytest.approx(best.f1)
    assert training.f1 > 0.8
    assert set(training.dev) == {"examples"}
    assert set(training.dev["examples"]) == {"sure"}


def test_it_aligns_as_well_as_its_dev_set_says(training):
    found = list(training.aligner.align_many(PAIRS))
    assert compute_scores(count(found, FEW, "sure"), ["f1"])["f1"] == pytest.approx(training.f1, abs=1e-6)


def test_a_saved_peer_that_was_spoiled_is_refused(training, tmp_path):
    from safetensors.torch import load_file, save_file

    training.aligner.save(tmp_path)
    weights = load_file(tmp_path / "peer.safetensors")
    name = next(iter(weights))
    for wrong, message in (
        ({name: torch.full_like(weights[name], torch.nan)}, "numbers that are not finite"),
        ({name: torch.ones(3, 1, 4)}, "is not what was trained: .*"),
        ({"other": torch.ones(1)}, "is not what was trained: .*"),
    ):
        save_file(weights | wrong, tmp_path / "peer.safetensors")
        with pytest.raises(ValueError, match=rf"peer\.safetensors .*{message}") as raised:
            TrainedPeer.load(tmp_path, device="cpu")
        assert "\n" not in str(raised.value)
    data = json.loads((tmp_path / "peer.json").read_text())
    for text in ('{"a":' * 100_000, "[]", json.dumps(data | {"layer": "1"})):
        (tmp_path / "peer.json").write_text(text)
        with pytest.raises(ValueError, match=r"peer\.json is not what TrainedPeer\.save writes"):
            TrainedPeer.load(tmp_path, device="cpu")


def test_saved_and_loaded_it_aligns_as_before(training, tmp_path):
    training.aligner.save(tmp_path / "peer")
    again = TrainedPeer.load(tmp_path / "peer", device="cpu")
    assert again.signature == training.aligner.signature
    pairs = [*PAIRS, *((gold.source, gold.target) for gold in [*EMPTY, LONG])]
    found, expected = list(again.align_many(pairs)), list(training.aligner.align_many(pairs))
    assert [one.pairs for one in found] == [one.pairs for one in expected]
    assert again.align(*PAIRS[0]).pairs == found[0].pairs
    assert not any(one.links for one in found[len(PAIRS) : len(PAIRS) + len(EMPTY)])
    assert TrainedPeer.load(tmp_path / "peer", device="cpu", threshold=1.0).align(*PAIRS[0]).links == ()


@pytest.mark.parametrize("peer", PEERS)
def test_it_comes_out_the_same_again_and_can_be_taken_up(tiny_model, tmp_path, peer):
    short = QUICK[peer].replace(epochs=2)
    expected = train_quickly(tiny_model("bert"), peer, recipe=short)

    def stop(epoch):
        raise KeyboardInterrupt

    checkpoint = Checkpoint(tmp_path / "run.pt")
    with pytest.raises(KeyboardInterrupt):
        train_quickly(tiny_model("bert"), peer, recipe=short, checkpoint=checkpoint, on_epoch=stop)
    again = train_quickly(tiny_model("bert"), peer, recipe=short, checkpoint=checkpoint)
    assert [epoch.loss for epoch in again.epochs] == [epoch.loss for epoch in expected.epochs]
    assert again.dev == expected.dev


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("kind", ["roberta", "modernbert"])
def test_other_encoders_do_as_well(tiny_model, peer, kind):
    sources = {"examples": CorpusSplits([*GOLDS, *EMPTY], [*GOLDS, *EMPTY])}
    training = train_quickly(
        tiny_model(kind), peer, sources=sources, recipe=QUICK[peer].replace(epochs=1), level="possible"
    )
    assert np.isfinite(training.epochs[0].loss)
    assert training.level == "possible"


@pytest.mark.parametrize("peer", PEERS)
def test_half_precision_gives_about_the_same_loss(tiny_model, peer):
    model = MODELS[peer](load_encoder(tiny_model("bert")), "sure").eval()
    set_ = make_examples(peer, GOLDS, load_encoder(tiny_model("bert")), "sure")
    batch = model.to_tensors(set_.make_batch(np.arange(4)), "cpu")
    exact = model(batch)
    with torch.autocast("cpu", torch.bfloat16):
        rough = model(batch)
    assert rough.item() == pytest.approx(exact.item(), rel=0.05)


def test_every_query_comes_once_an_epoch_and_pairs_come_whole_on_dev_sets(tiny_model):
    set_ = QuerySet([*GOLDS, *EMPTY], load_encoder(tiny_model("bert")), "sure")
    assert len(set_) == sum(sum(gold.shape) for gold in GOLDS)
    for size in (3, 16):
        batches = set_.shuffle(size, np.random.default_rng(0))
        assert sorted(np.concatenate(batches).tolist()) == list(range(len(set_)))
        assert max(map(len, batches)) == size
    parts = [batch.pairs.tolist() for batch in set_.batch_by_length(2000)]
    assert len(parts) > 1
    assert sorted(pair for part in parts for pair in part) == list(range(len(GOLDS)))
    assert len(DevSet.build(set_, ("sure",)).golds) == len(GOLDS) + len(EMPTY)


@pytest.mark.parametrize("peer", PEERS)
def test_what_a_peer_cannot_do_is_an_error(tiny_model, peer):
    model = tiny_model("bert")
    with pytest.raises(ValueError, match=f"layers must be 1 for {peer}, got 4"):
        train_quickly(model, peer, recipe=Recipe())
