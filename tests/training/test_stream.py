"""The stream of training examples: the contents of an epoch, independent of the number of workers."""

import subprocess
import sys
from collections import Counter
from dataclasses import fields

import numpy as np
import pytest

from otalign.training import NO_AUGMENTATION, Augmentation, PairTexts
from otalign.training.augmentation import COPIES
from otalign.training.batches import TrainingBatch
from otalign.training.reading import Split
from otalign.training.store import LEVELS, PairStore, Targets, build_store
from otalign.training.stream import AS_IS, ExampleStream
from tests.training.examples import EMPTY, GOLDS, LONG
from tests.training.test_batches import WITH_ODD_ONES, load_encoder, make_stream

EVERYTHING = Augmentation(**dict.fromkeys(Augmentation().to_dict(), 0.5))
PAIRS = [(gold.source, gold.target) for gold in WITH_ODD_ONES]


def read(stream: ExampleStream, epoch: int = 1, split: Split = Split()) -> list[list[TrainingBatch]]:  # noqa: B008
    with stream:
        return list(stream.read(4, (7, epoch), np.random.default_rng([7, epoch]), split))


def assert_same(one: list[list[TrainingBatch]], other: list[list[TrainingBatch]]) -> None:
    for parts, others in zip(one, other, strict=True):
        for a, b in zip(parts, others, strict=True):
            for field in fields(TrainingBatch):
                np.testing.assert_array_equal(getattr(a, field.name), getattr(b, field.name))


def test_the_words_of_pairs_are_the_same_from_a_store():
    odd = [(("a b", "", "é😀", "\0"), ()), ((), ("",)), (("\udc80",), ("x",))]
    texts = PairTexts.build([*PAIRS, *odd])
    assert list(texts) == [*PAIRS, *odd]
    assert texts.lengths.tolist() == [[len(source), len(target)] for source, target in [*PAIRS, *odd]]
    assert len(PairTexts.build([])) == 0
    with pytest.raises(IndexError):
        texts[len(texts)]


def test_a_store_is_the_same_from_disk(tmp_path):
    known = np.ones((len(WITH_ODD_ONES), len(LEVELS)), dtype=bool)
    store = build_store(WITH_ODD_ONES, known, PairTexts.build(PAIRS))
    store.save(tmp_path)
    again = PairStore.open(tmp_path)
    assert (len(again), again.gold) == (len(store), store.gold)
    for k, gold in enumerate(WITH_ODD_ONES):
        assert (again[k].source, again[k].target) == (gold.source, gold.target)
        for level, name in enumerate(LEVELS):
            found = {(i, j) for i, j in np.argwhere(again[k].targets[level]).tolist()}
            assert found == gold.pairs(name)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("size", [1, 4, 100])
def test_every_pair_with_words_on_both_sides_comes_once_an_epoch(tiny_model, both, size):
    stream = make_stream(WITH_ODD_ONES, load_encoder(tiny_model("bert")), both_directions=both)
    seen = []
    for epoch in range(1, 6):
        batches = [batch for (batch,) in stream.read(size, (1, epoch), np.random.default_rng(epoch))]
        assert max(len(batch.pairs) for batch in batches) <= size
        drawn = np.concatenate([batch.pairs for batch in batches])
        assert len(drawn) == len(stream) == len(GOLDS) + 1
        assert Counter(drawn.tolist()) == Counter(k for k, one in enumerate(WITH_ODD_ONES) if all(one.shape))
        lengths = np.concatenate([batch.lengths for batch in batches])
        seen.append(
            sum(tuple(n) != WITH_ODD_ONES[k].shape for n, k in zip(lengths.tolist(), drawn, strict=True))
        )
    assert bool(sum(seen)) == both


def test_an_epoch_has_every_pair_and_the_share_of_each_kind(tiny_model):
    shares = NO_AUGMENTATION.to_dict() | {"exchange": 0.5, "typos": 0.2}
    stream = make_stream(GOLDS, load_encoder(tiny_model("bert")), augmentation=Augmentation(**shares))
    assert len(stream) == len(GOLDS) + 7 + 3
    pairs, kinds = stream.plan(np.random.default_rng(0))
    assert Counter(kinds.tolist()) == {AS_IS: 14, COPIES.index("exchange"): 7, COPIES.index("typos"): 3}
    assert sorted(pairs[kinds == AS_IS].tolist()) == list(range(14))


@pytest.mark.parametrize(("share", "repeats"), [(0.0, 1), (0.2, 1), (0.5, 3), (0.75, 8)])
def test_gold_is_repeated_until_it_has_its_share(tiny_model, share, repeats):
    golds, more = GOLDS[:4], [(gold.source, gold.target) for gold in GOLDS[4:]] + [((), ("a",))]
    texts = PairTexts.build([*((gold.source, gold.target) for gold in golds), *more])
    predicted = Targets.build(np.full((2, *map(len, pair)), 0.25, np.float32) for pair in texts)
    store = build_store(golds, np.ones((4, 2), bool), texts, predicted, 0.5, 0.7)
    reader = load_encoder(tiny_model("bert")).reader
    stream = ExampleStream(store, reader, augmentation=NO_AUGMENTATION, gold_share=share)
    assert len(stream) == 4 * repeats + 10
    np.testing.assert_allclose(store.weights, [[1, 1]] * 4 + [[0.7, 0.7]] * 11)
    np.testing.assert_allclose(store[5].targets, 0.25)


def test_the_number_of_workers_changes_nothing(tiny_model):
    encoder = load_encoder(tiny_model("bert"))
    options = {"augmentation": EVERYTHING, "both_directions": True}
    alone, helped = (make_stream(WITH_ODD_ONES, encoder, **options, workers=workers) for workers in (0, 2))
    assert_same(read(alone), read(helped))


def test_what_an_epoch_draws_depends_on_the_seed_and_its_number_alone(tiny_model):
    stream = make_stream(
        GOLDS, load_encoder(tiny_model("bert")), augmentation=EVERYTHING, both_directions=True
    )
    first, second = read(stream), read(stream, 2)
    assert_same(first, read(stream))
    assert any((a.ids.shape != b.ids.shape) for (a,), (b,) in zip(first, second, strict=True))


def test_processes_share_the_examples_of_every_batch(tiny_model):
    stream = make_stream(GOLDS, load_encoder(tiny_model("bert")), augmentation=EVERYTHING)
    whole = read(stream)
    halves = [read(stream, split=Split(process, 2, 2)) for process in (0, 1)]
    for (batch,), *parts in zip(whole, *halves, strict=True):
        if len(batch.pairs) < 2:  # which each process reads
            continue
        shares = [part for of in parts for part in of]
        assert sum(part.links.sum() for part in shares) == pytest.approx(batch.links.sum(), rel=1e-5)
        assert sorted(k for part in shares for k in part.pairs) == sorted(batch.pairs)


def test_pairs_without_words_make_no_example(tiny_model):
    stream = make_stream(EMPTY, load_encoder(tiny_model("bert")))
    assert len(stream) == 0
    assert read(stream) == []


def test_a_pair_that_is_longer_than_the_encoder_reads_is_trained_in_windows(tiny_model):
    stream = make_stream([LONG], load_encoder(tiny_model("bert")))
    (((batch,),),) = (read(stream),)
    assert len(batch.ids) > 1
    assert batch.links.shape[2:] == LONG.shape


def test_workers_load_no_model_library():
    code = "import otalign.training.stream, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"torch", "transformers", "accelerate"} & set(loaded.stdout.split())
